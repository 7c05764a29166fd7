package findings

import (
	"cmp"
	"context"
	"strings"

	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
)

// Locate sets the positions of findings in the body of the change that they are about. It leaves out findings about
// documents that are not in the body, and parses each of the others once. Errors are those of the budget.
func Locate(ctx context.Context, findings []Finding, written changes.Written) error {
	if len(written.Items) == 0 {
		return nil
	}
	type spot struct {
		path []string
		at   *document.Position
	}
	meter, of := budget.NewMeter(ctx), map[document.Identity][]spot{}
	for i := range findings {
		f := &findings[i]
		path := f.Place()
		of[f.Document] = append(of[f.Document], spot{path, &f.At})
		for j := range f.Others {
			other := &f.Others[j]
			of[other.Identity] = append(of[other.Identity], spot{path, &other.At})
		}
	}
	for i, doc := range written.Documents {
		spots := of[doc.Identity]
		if len(spots) == 0 {
			continue
		}
		paths := make([][]string, len(spots))
		for i, s := range spots {
			paths[i] = s.path
		}
		positions, err := document.Positions(meter, *written.Items[i].Segment, paths)
		if err != nil {
			return err
		}
		for i, s := range spots {
			*s.at = positions[i]
		}
	}
	return nil
}

// LocatePreview sets the positions of the findings of a preview in the body of the change, as far as the budget lasts.
func LocatePreview(ctx context.Context, written changes.Written) {
	var all []Finding
	var at []*document.Position
	preview := written.Preview
	for i := range preview.Findings {
		of := &preview.Findings[i]
		of.At = make([]document.Position, len(of.Errors))
		for j, e := range of.Errors {
			all = append(all, Finding{Document: of.About.Identity, Path: e.Path, Rule: e.SchemaPath, Message: e.Message})
			at = append(at, &of.At[j])
		}
	}
	for i := range preview.Results {
		of := &preview.Results[i]
		errs := posted(Finding{}, errorsOf(of.Result))
		of.At = make([]document.Position, len(errs))
		for j := range errs {
			at = append(at, &of.At[j])
		}
		all = append(all, errs...)
	}
	_ = Locate(ctx, all, written)
	for i, f := range all {
		*at[i] = f.At
	}
}

// Place returns the path of the value to correct: the property itself if it is not allowed.
func (f *Finding) Place() []string {
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

// metadataOf returns the path in a document's metadata that a rendering error is about, "" if it is about another
// document.
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
