package jsonschema

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"
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
			return fmt.Errorf("read %s: %w", path, err)
		}
		root, err := parse(counter{}, written, maxNodes)
		if err != nil {
			return err
		}
		m, _ := root.(mapping)
		uri, _ := join("", cmp.Or(Text(m.At("$id")), Text(m.At("id"))))
		sources[bareURI(uri)] = &source{uri: uri, root: root}
		return nil
	})
	if err != nil {
		panic("jsonschema: an embedded metaschema: " + err.Error())
	}
	return sources
})

// metaSource returns the embedded document with a URI, nil if there is none.
func metaSource(uri string) *source { return metaSources()[bareURI(uri)] }

// metaschema returns the metaschema of a draft. It is a Schema like any other, so its findings have the usual messages.
func metaschema(d *draft) *Schema {
	m := metaschemas[d]
	m.once.Do(func() {
		var err error
		if m.schema, err = compile(counter{}, metaSource(d.uri), d, Options{}); err != nil {
			panic("jsonschema: an embedded metaschema: " + err.Error())
		}
	})
	return m.schema
}

// metaschemas are compiled on first use.
var metaschemas = map[*draft]*struct {
	once   sync.Once
	schema *Schema
}{draft4: {}, draft6: {}, draft7: {}, draft2019: {}, draft2020: {}}

// checkSchema returns the violations of a metaschema by a value; at is the path of the value in its document. A
// metaschema itself is not checked.
func (s *Schema) checkSchema(w counter, raw any, at []string) []Finding {
	if s == nil {
		return nil
	}
	findings := s.check(w, raw)
	for i := range findings {
		findings[i].Instance = append([]string{}, slices.Concat(at, findings[i].Instance)...)
	}
	return findings
}
