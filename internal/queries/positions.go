package queries

import (
	"cmp"
	"context"
	"strings"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/revisions"
)

// Locate sets the positions of findings in the body of the change that they were found with, those of documents that
// are in it. It parses each of these once. Errors are those of the budget.
func Locate(ctx context.Context, findings []Finding, written revisions.Written) error {
	meter := budget.NewMeter(ctx)
	segments := make(map[document.Identity]*document.Segment, len(written.Items))
	for i, doc := range written.Documents {
		segments[doc.Identity] = written.Items[i].Segment
	}
	for from := 0; from < len(findings); {
		to := from + 1
		for to < len(findings) && findings[to].Document == findings[from].Document {
			to++
		}
		if segment, inBody := segments[findings[from].Document]; inBody {
			if err := locate(meter, findings[from:to], *segment); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// locate sets the positions of findings about one document.
func locate(meter *budget.Meter, findings []Finding, segment document.Segment) error {
	paths := make([][]string, len(findings))
	for i, f := range findings {
		paths[i] = placeOf(f)
	}
	positions, err := document.Positions(meter, segment, paths)
	if err != nil {
		return err
	}
	for i := range findings {
		findings[i].At = positions[i]
	}
	return nil
}

// placeOf returns the path of what is to be corrected: of a property that should not be there its own.
func placeOf(f Finding) []string {
	path := strings.TrimPrefix(cmp.Or(f.Path, metadataOf(f.Rule)), ".")
	if path == "" {
		return nil
	}
	parts := strings.Split(path, ".")
	if strings.HasSuffix(f.Rule, ".additionalProperties") {
		if _, after, found := strings.Cut(f.Message, "'"); found {
			name, _, _ := strings.Cut(after, "'")
			parts = append(parts, strings.Split(name, ".")...)
		}
	}
	return parts
}

// metadataOf returns the part of a document's metadata that an error of rendering is about, "" if it is about another.
func metadataOf(errorType string) string {
	const layering = ".metadata.layeringDefinition"
	switch errorType {
	case "InvalidDocumentLayer":
		return layering + ".layer"
	case "DocumentParentNotFound", "InvalidDocumentParent", "IndeterminateDocumentParent":
		return layering + ".parentSelector"
	case "MissingDocumentKey", "UnsupportedActionMethod":
		return layering + ".actions"
	case "SubstitutionSourceNotFound", "SubstitutionSourceDataNotFound", "MissingDocumentPattern",
		"SubstitutionDependencyCycle":
		return ".metadata.substitutions"
	case "InvalidDocumentReplacement":
		return ".metadata.replacement"
	}
	return ""
}
