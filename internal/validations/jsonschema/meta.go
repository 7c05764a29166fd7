package jsonschema

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"
	"sync"
)

// The metaschemas as json-schema.org publishes them, but for Draft 4: that is as python-jsonschema has it, and unlike
// the published one it lets enum be empty or repeat itself.
//
//go:embed metaschemas
var metaFiles embed.FS

// metaSources are the embedded documents by their URIs.
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
		root, err := parse(work{}, written, maxNodes)
		if err != nil {
			return err
		}
		m, _ := root.(mapping)
		uri, _ := join("", cmp.Or(text(m.At("$id")), text(m.At("id"))))
		sources[bare(uri)] = &source{uri: uri, root: root}
		return nil
	})
	if err != nil {
		panic("jsonschema: an embedded metaschema: " + err.Error())
	}
	return sources
})

// metaSource returns the embedded document with a URI, nil if there is none.
func metaSource(uri string) *source { return metaSources()[bare(uri)] }

// metaschema returns the schema of a draft's schemas. It is a Schema like any other, so that what it finds is worded
// like anything else.
func metaschema(d *draft) *Schema {
	m := &metaschemas[d.since]
	m.once.Do(func() {
		var err error
		if m.schema, err = compile(work{}, metaSource(d.uri), d, Options{}); err != nil {
			panic("jsonschema: an embedded metaschema: " + err.Error())
		}
	})
	return m.schema
}

// metaschemas are compiled when they are first asked for.
var metaschemas [since2020 + 1]struct { //nolint:gochecknoglobals // each is the same whoever asks first
	once   sync.Once
	schema *Schema
}

// checkSchema returns what is wrong with a value as a schema; at is its place in the document. A metaschema is taken
// as it is: it has none itself.
func (s *Schema) checkSchema(w work, raw any, at []string) []Finding {
	if s == nil {
		return nil
	}
	findings := s.check(w, raw)
	for i := range findings {
		findings[i].Instance = append([]string{}, slices.Concat(at, findings[i].Instance)...)
	}
	return findings
}
