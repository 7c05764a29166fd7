package revisions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/validations"
)

// Schema is a schema in force for documents of a kind.
type Schema struct {
	Kind string  // the schema that the documents name
	By   *Stored // the DataSchema that registers it, nil if it is built in
	Text []byte  // JSON
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
	for _, doc := range registering(registered) {
		schemas = append(schemas, Schema{Kind: doc.Name, By: doc, Text: doc.Data})
	}
	slices.SortFunc(schemas, func(a, b Schema) int { return cmp.Compare(a.Kind, b.Kind) })
	return schemas, nil
}

// registering are the DataSchemas in force among documents, in order of place: of several of one name the first one
// registered decides (spec/api.md §2.5).
func registering(documents []*Stored) (deciding []*Stored) {
	decided := map[string]bool{}
	for _, doc := range slices.SortedStableFunc(slices.Values(documents), byPlace) {
		if validations.Registers(doc.Document) && !decided[doc.Name] {
			decided[doc.Name] = true
			deciding = append(deciding, doc)
		}
	}
	return deciding
}

func byPlace(a, b *Stored) int { return cmp.Compare(a.Place, b.Place) }

// dataSchemas are the DataSchemas of a revision as they are rendered.
func (s *Service) dataSchemas(ctx context.Context, id int64) ([]*Stored, error) {
	found, err := s.Documents(ctx, id, Selection{Schemas: []string{validations.DataSchemaKind}, Page: Page{Limit: -1}})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(found.Documents, func(doc *Stored) bool { return !doc.Traits().Final() }) {
		return found.Documents, nil
	}
	documents, _, err := s.unrendered(ctx, id, false)
	if err != nil {
		return nil, err
	}
	return s.renderedKind(ctx, documents, validations.DataSchemaKind)
}

// renderedKind renders those of a revision's documents that have a schema, and what they depend on.
func (s *Service) renderedKind(ctx context.Context, documents []*Stored, schema string) ([]*Stored, error) {
	only := func(doc *document.Document) bool { return doc.Schema == schema }
	return s.computed(ctx, documents, rendering.Options{Only: only}, map[*Stored][][]string{})
}

// Schema returns the schema in force for a kind. Faults: those of Schemas; NotFound.
func (s *Service) Schema(ctx context.Context, id int64, kind string) (Schema, error) {
	if text, ok := validations.BuiltIn()[kind]; ok {
		_, err := s.Epoch(ctx, id) // whether the revision is there
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
