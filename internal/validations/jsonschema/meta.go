package jsonschema

import (
	_ "embed"
	"slices"
	"sync"
)

// The metaschema of Draft 4 as python-jsonschema has it: unlike the published one it lets enum be empty or repeat
// itself. $schema may be anything here, since it is ignored.
//
//go:embed draft4.json
var draft4 []byte

// metaschema is the schema of schemas. It is a Schema like any other, so that what it finds is worded like anything
// else.
var metaschema = sync.OnceValue(func() *Schema {
	document, err := parse(draft4, maxNodes)
	if err != nil {
		panic("jsonschema: the embedded metaschema: " + err.Error())
	}
	s, err := compile(document, nil, Options{})
	if err != nil {
		panic("jsonschema: the embedded metaschema: " + err.Error())
	}
	return s
})

// checkSchema returns what is wrong with raw as a schema; at is its place in the document. Nothing is wrong for the
// metaschema of the metaschema, which is nil.
func (s *Schema) checkSchema(raw *value, at []string) []Finding {
	if s == nil {
		return nil
	}
	plain := raw.plain()
	var w weight
	if _, err := w.add(plain, 0); err != nil {
		return unusable("the schema cannot be read: " + err.Error()).Findings
	}
	findings := s.check(plain, &w, func() (*value, error) { return raw, nil })
	for i := range findings {
		findings[i].Instance = append([]string{}, slices.Concat(at, findings[i].Instance)...)
	}
	return findings
}
