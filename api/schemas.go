package api

import (
	"fmt"
	"net/http"
	"strings"

	"purser/internal/document"
	"purser/internal/document/blockyaml"
	"purser/internal/queries"
	"purser/internal/schemadocs"
	"purser/internal/validations"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions/{revision}/schemas
func (s *server) listSchemas(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	schemas, err := s.questions(r).Schemas(r.Context(), id)
	if err != nil {
		return err
	}
	size := 0
	for _, schema := range schemas {
		size += len(schema.Text)
	}
	view := listView(schemas, func(schema queries.Schema) wire.Schema { return s.links(r).schema(id, schema) })
	return s.answers.writeWithin(w, r, negotiate(r), view, size,
		"GET /revisions/{revision}/documents?schema="+validations.DataSchemaKind+"&limit=1000 lists them in pages")
}

// GET /api/v1.0/revisions/{revision}/schemas/{namespace}/{kind}/{version}
func (s *server) showSchema(w http.ResponseWriter, r *http.Request) error {
	schema, err := s.schema(w, r)
	if err != nil {
		return err
	}
	kind, text := negotiate(r), schema.Text
	if kind == typeJSON {
		text = append(append([]byte(nil), text...), '\n')
	} else {
		text = blockyaml.Append(nil, text)
	}
	s.answers.writeText(w, r, kind, text)
	return nil
}

// GET /api/v1.0/revisions/{revision}/schemas/{namespace}/{kind}/{version}/docs
func (s *server) showSchemaDocs(w http.ResponseWriter, r *http.Request) error {
	schema, err := s.schema(w, r)
	if err != nil {
		return err
	}
	value, err := document.ParseJSON(schema.Text)
	if err != nil {
		return fmt.Errorf("read the schema of %s: %w", schema.Kind, err)
	}
	page := schemadocs.Page{Name: schema.Kind, Source: "built in", AssertFormats: schema.AssertFormats}
	page.Schema, _ = value.(document.Mapping)
	if by := schema.By; by != nil {
		page.Source = fmt.Sprintf("registered in bucket %s, revision %d", by.Bucket, by.Revision)
	}
	kind, write := preferredType(r, typeMarkdown, typeMarkdown, typeHTML), schemadocs.Markdown
	if kind == typeHTML {
		write = schemadocs.HTML
	}
	text, err := write(r.Context(), page)
	if err != nil {
		return err
	}
	s.answers.writeText(w, r, kind, text)
	return nil
}

// schema returns the schema in the path. An answer that may hold secrets is not compressed.
func (s *server) schema(w http.ResponseWriter, r *http.Request) (queries.Schema, error) {
	id, err := s.revision(r)
	if err != nil {
		return queries.Schema{}, err
	}
	parts := []string{revisionName(r, "namespace"), revisionName(r, "kind"), revisionName(r, "version")}
	schema, err := s.questions(r).Schema(r.Context(), id, strings.Join(parts, "/"))
	if schema.By != nil && infoOf(r).viewer.Secrets() && mayHoldSecret(schema.By) {
		w.Header().Set("Cache-Control", noTransform)
	}
	return schema, err
}

// schema returns the view of a schema in a list.
func (l links) schema(revision int64, schema queries.Schema) wire.Schema {
	item := wire.Schema{Name: schema.Kind, Source: "builtin", URL: l.revisionURL(revision) + "/schemas/" + schema.Kind}
	item.Docs = item.URL + "/docs"
	if schema.By != nil {
		item.Source, item.Document = "registered", new(versionView(schema.By))
	}
	return item
}
