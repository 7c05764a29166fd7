package jsonschema

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"
	"sync"

	"purser/internal/validations/jsonschema/draft"
	"purser/internal/validations/jsonschema/values"
	"purser/internal/validations/jsonschema/work"
)

// The metaschemas as published by json-schema.org, except for Draft 4, which is python-jsonschema's: there, an enum may
// be empty or repeat values.
//
//go:embed metaschemas
var metaFiles embed.FS

// metaSources returns the embedded documents by URI.
var metaSources = sync.OnceValue(func() map[string]*source {
	sources := make(map[string]*source)
	err := fs.WalkDir(metaFiles, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		written, err := metaFiles.ReadFile(path)
		if err != nil {
			return err //nolint:wrapcheck // it leads to a panic
		}
		root, err := values.Parse(work.Counter{}, written, maxNodes)
		if err != nil {
			return err
		}
		m, _ := root.(mapping)
		uri, _ := join("", cmp.Or(values.Text(m.At("$id")), values.Text(m.At("id"))))
		sources[draft.Bare(uri)] = &source{uri: uri, root: root}
		return nil
	})
	if err != nil {
		panic("jsonschema: an embedded metaschema: " + err.Error())
	}
	return sources
})

// metaSource returns the embedded document with a URI, nil if there is none.
func metaSource(uri string) *source { return metaSources()[draft.Bare(uri)] }

// metaschema returns the metaschema of a draft. It is a Schema like any other, so its findings have the usual messages.
func metaschema(d *draft.Draft) *Schema {
	m := metaschemas[d]
	m.once.Do(func() {
		var err error
		if m.schema, err = compile(work.Counter{}, metaSource(d.URI), d, Options{}); err != nil {
			panic("jsonschema: an embedded metaschema: " + err.Error())
		}
	})
	return m.schema
}

// metaschemas are compiled on first use.
var metaschemas = map[*draft.Draft]*struct {
	once   sync.Once
	schema *Schema
}{draft.V4: {}, draft.V6: {}, draft.V7: {}, draft.V2019: {}, draft.V2020: {}}

// checkSchema returns the violations of a metaschema by a value; at is the path of the value in its document. A
// metaschema itself is not checked.
func (s *Schema) checkSchema(w work.Counter, raw any, at []string) []Finding {
	if s == nil {
		return nil
	}
	findings := s.check(w, raw)
	for i := range findings {
		findings[i].Instance = append([]string{}, slices.Concat(at, findings[i].Instance)...)
	}
	return findings
}
