package queries

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/validations"
)

// Locate returns findings with their positions in the body of the change that they are about: of the value, or of the
// substitution that has written it. Findings about documents
// that are not in the body get none. Each located document is parsed once. Errors are those of the budget.
func Locate(ctx context.Context, findings []Finding, written changes.Written) ([]Finding, error) {
	if len(written.Items) == 0 {
		return findings, nil
	}
	type spot struct {
		path []string
		lost bool // it is about a key that it does not name
		at   *document.Position
	}
	meter, of, all := budget.NewMeter(ctx), map[document.Identity][]spot{}, slices.Clone(findings)
	for i := range all {
		f := &all[i]
		path := f.Place()
		of[f.Document] = append(of[f.Document], spot{path, f.Rule == unknownKey && f.Path == "", &f.At})
		f.Others = slices.Clone(f.Others)
		for j := range f.Others {
			other := &f.Others[j]
			of[other.Identity] = append(of[other.Identity], spot{path, false, &other.At})
		}
	}
	for i, doc := range written.Documents {
		spots := of[doc.Identity]
		if len(spots) == 0 {
			continue
		}
		segment, paths := *written.Items[i].Segment, make([][]string, len(spots))
		var value any // of a document with substitutions
		if doc.Traits().Substituted {
			value = valueOf(ctx, segment)
		}
		for i, s := range spots {
			if paths[i] = s.path; s.lost {
				paths[i] = strayPath(ctx, segment)
			} else if at := substitutionInto(value, s.path); at != nil {
				paths[i] = at
			}
		}
		positions, err := document.Positions(meter, segment, paths)
		if err != nil {
			return findings, err
		}
		for i, s := range spots {
			*s.at = positions[i]
		}
	}
	return all, nil
}

// valueOf returns the document that was decoded from a segment before.
func valueOf(ctx context.Context, s document.Segment) any {
	entry, _ := document.Decode(ctx, s, document.DefaultLimits()) // perhaps with other limits; then it is unknown
	return entry.Value
}

// strayPath returns the path of the first stray key of a document, nil if it has none.
func strayPath(ctx context.Context, s document.Segment) []string {
	root, _ := valueOf(ctx, s).(document.Mapping)
	return validations.StrayPath(root)
}

// LocatePreview returns the preview of a change with the positions of its findings in the body, unless the budget is
// exhausted.
func LocatePreview(ctx context.Context, written changes.Written) *changes.Preview {
	var all []Finding
	preview := *written.Preview
	for _, of := range preview.Findings {
		for _, e := range of.Errors {
			all = append(all, Finding{Document: of.About.Identity, Path: e.Path, Rule: e.SchemaPath, Message: e.Message})
		}
	}
	counts := make([]int, len(preview.Results))
	for i, of := range preview.Results {
		errs := errorFindings(Finding{}, errorsOf(of.Result))
		all, counts[i] = append(all, errs...), len(errs)
	}
	all, _ = Locate(ctx, all, written)
	next := func(n int) []document.Position {
		at := make([]document.Position, n)
		for i := range at {
			at[i] = all[i].At
		}
		all = all[n:]
		return at
	}
	preview.Findings, preview.Results = slices.Clone(preview.Findings), slices.Clone(preview.Results)
	for i := range preview.Findings {
		preview.Findings[i].At = next(len(preview.Findings[i].Errors))
	}
	for i := range preview.Results {
		preview.Results[i].At = next(counts[i])
	}
	return &preview
}

// Place returns the path of the value to correct, which for a disallowed property is the property itself.
func (f *Finding) Place() []string {
	path := cmp.Or(f.Path, metadataOf(f.Rule))
	if path == "" || path == "." && f.Rule != unknownKey { // that of an empty key
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(path, "."), ".")
	if f.Rule == unknownKey {
		return append(parts, document.AtKey)
	}
	if key := validations.Unexpected(f.Message); strings.HasSuffix(f.Rule, ".additionalProperties") && key != "" {
		parts = append(parts, strings.Split(key, ".")...)
	}
	return parts
}

// metadataOf returns the path outside of a document's data that an error is about, "" if it has none.
func metadataOf(errorType string) string {
	const layering = ".metadata.layeringDefinition"
	switch errorType {
	case "SchemaNotFound":
		return ".schema"
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
