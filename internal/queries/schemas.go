package queries

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Schema is a schema in force for documents of a kind.
type Schema struct {
	Kind string            // the schema that the documents name
	By   *revisions.Stored // the DataSchema that registers it, nil if it is built in
	Text []byte            // JSON
}

// Schemas returns the schemas in force in a revision, built-in and registered, by kind. Faults: NotFound, Gone; those
// of rendering if a DataSchema has to be rendered.
func (s *Service) Schemas(ctx context.Context, id int64) ([]Schema, error) {
	registered, err := s.dataSchemas(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("find DataSchemas of revision %d: %w", id, err)
	}
	var schemas []Schema
	for kind, text := range validations.BuiltIn() {
		schemas = append(schemas, Schema{Kind: kind, Text: text})
	}
	for _, doc := range revisions.Registering(registered) {
		schemas = append(schemas, Schema{Kind: doc.Name, By: doc, Text: doc.Data})
	}
	slices.SortFunc(schemas, func(a, b Schema) int { return cmp.Compare(a.Kind, b.Kind) })
	return schemas, nil
}

// dataSchemas returns the DataSchemas of a revision as they are rendered.
func (s *Service) dataSchemas(ctx context.Context, id int64) ([]*revisions.Stored, error) {
	selection := Selection{Schemas: []string{validations.DataSchemaKind}, Page: Page{Limit: -1}}
	found, err := s.Store.Documents(ctx, id, selection)
	if err != nil {
		return nil, fmt.Errorf("read DataSchemas: %w", revisions.Explained(ctx, s.Store, id, err))
	}
	if !slices.ContainsFunc(found.Documents, func(doc *revisions.Stored) bool { return !doc.Traits().Final() }) {
		return found.Documents, nil
	}
	documents, err := s.unrendered(ctx, revisions.RenderKey{Revision: id, Stamp: found.Stamp})
	if err != nil {
		return nil, err
	}
	return revisions.RenderKind(ctx, s.Renderer.Vault, documents, validations.DataSchemaKind)
}

// Schema returns the schema in force for a kind. Faults: those of Schemas; NotFound.
func (s *Service) Schema(ctx context.Context, id int64, kind string) (Schema, error) {
	if text, ok := validations.BuiltIn()[kind]; ok {
		_, err := s.Stamp(ctx, id) // whether the revision is there
		return Schema{Kind: kind, Text: text}, err
	}
	schemas, err := s.Schemas(ctx, id)
	if err != nil {
		return Schema{}, err
	}
	name, _, _ := strings.Cut(kind, "/")
	var similar []string
	for _, schema := range schemas {
		if schema.Kind == kind {
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
