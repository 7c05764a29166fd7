package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Schema is a schema in force for documents of a kind.
type Schema struct {
	Kind string            // the schema that the documents name
	By   *revisions.Stored // the DataSchema that registers it, nil if it is built in
	Text []byte            // JSON
	// AssertFormats reports whether checks assert formats in all drafts except Draft 4.
	AssertFormats bool
}

// Schemas returns the schemas in force in a revision, built-in and registered, by kind, except those with contents that
// the viewer may not see. Faults: NotFound, Gone; those of rendering if a DataSchema has to be rendered.
func (v View) Schemas(ctx context.Context, id int64) ([]Schema, error) {
	schemas, _, err := v.schemas(ctx, id)
	return schemas, err
}

// schemas is Schemas that also returns the DataSchemas with contents that the viewer may not see.
func (v View) schemas(ctx context.Context, id int64) (schemas []Schema, withheld []*revisions.Stored, err error) {
	found, err := v.dataSchemas(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("find DataSchemas of revision %d: %w", id, err)
	}
	for kind, text := range validations.BuiltIn() {
		schemas = append(schemas, Schema{Kind: kind, Text: text})
	}
	for _, doc := range changes.SchemasInForce(found.Documents) {
		hidden := func(other *revisions.Stored) bool { return other.Name == doc.Name }
		if !slices.ContainsFunc(found.Withheld, hidden) {
			schemas = append(schemas, Schema{Kind: doc.Name, By: doc, Text: doc.Data})
		}
	}
	for kind, text := range validations.Provided() {
		registers := func(doc *revisions.Stored) bool { return doc.Name == kind }
		if !v.renderer.Compat && !slices.ContainsFunc(slices.Concat(found.Documents, found.Withheld), registers) {
			schemas = append(schemas, Schema{Kind: kind, Text: text})
		}
	}
	slices.SortFunc(schemas, func(a, b Schema) int { return cmp.Compare(a.Kind, b.Kind) })
	return schemas, found.Withheld, nil
}

// dataSchemas returns the DataSchemas of a revision after rendering.
func (v View) dataSchemas(ctx context.Context, id int64) (changes.Computed, error) {
	selection := Selection{Schemas: []string{validations.DataSchemaKind}, Page: Page{Limit: -1}}
	found, err := v.store.Documents(ctx, id, selection)
	if err != nil {
		return changes.Computed{}, v.readError(ctx, id, "DataSchemas", err)
	}
	if !slices.ContainsFunc(found.Documents, func(doc *revisions.Stored) bool { return !doc.Traits().Final() }) {
		return changes.Computed{Documents: found.Documents}, nil // an encrypted one has only a reference as its data
	}
	documents, err := v.unrendered(ctx, changes.RenderKey{Site: v.renderer.Site, Revision: id, Stamp: found.Stamp})
	if err != nil {
		return changes.Computed{}, err
	}
	renderer := v.renderer
	renderer.Withhold = !v.viewer.Secrets()
	return renderer.RenderOnly(ctx, documents, func(doc *document.Document) bool {
		return doc.Schema == validations.DataSchemaKind
	})
}

// unseen returns the reason why encrypted documents are left out, as the end of a message.
func (v View) unseen() string {
	if v.viewer.Encrypted {
		return "are left out, as was asked for: ask with cleartext-secrets=true, or choose \"Show secrets\" on the page of " +
			"the DataSchema, as it is rendered"
	}
	return "the caller may not see"
}

// Schema returns the schema in force for a kind. Faults: those of Schemas; NotFound; Forbidden if it has contents that
// the viewer may not see.
func (v View) Schema(ctx context.Context, id int64, kind string) (Schema, error) {
	if text, ok := validations.BuiltIn()[kind]; ok {
		_, err := v.Stamp(ctx, id) // check that the revision exists
		return Schema{Kind: kind, Text: text}, err
	}
	schemas, withheld, err := v.schemas(ctx, id)
	if err != nil {
		return Schema{}, err
	}
	for _, doc := range withheld {
		if doc.Name == kind && !doc.Traits().Encrypted {
			return Schema{}, fault.New(fault.Forbidden, "HTTPForbidden",
				"The schema for %s takes something from encrypted documents, which %s", kind, v.unseen())
		}
	}
	name, _, _ := strings.Cut(kind, "/")
	var similar []string
	for _, schema := range schemas {
		if schema.Kind == kind {
			schema.AssertFormats = v.renderer.Engine.AssertFormats
			return schema, nil
		}
		if strings.HasPrefix(schema.Kind, name+"/") {
			similar = append(similar, schema.Kind)
		}
	}
	if similar == nil {
		similar = []string{"none"}
	}
	return Schema{}, fault.New(fault.NotFound, "SchemaNotFound",
		"Revision %d has no schema for %s; of that namespace it has: %s", id, kind, strings.Join(similar, ", "))
}
