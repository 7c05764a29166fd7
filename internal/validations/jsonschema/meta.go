package jsonschema

import (
	"context"
	_ "embed"
	"slices"
	"sync"

	"purser/internal/budget"
)

// The metaschema of Draft 4 as python-jsonschema has it: unlike the published one it lets enum be empty or repeat
// itself. $schema may be anything here, since it is ignored.
//
//go:embed draft4.json
var draft4 []byte

// metaschema is the schema of schemas. It is a Schema like any other, so that what it finds is worded like anything
// else.
var metaschema = sync.OnceValue(func() *Schema {
	w := work{budget.NewMeter(context.Background())}
	document, err := parse(w, draft4, maxNodes)
	if err != nil {
		panic("jsonschema: the embedded metaschema: " + err.Error())
	}
	s, err := compile(w, document, nil, nil)
	if err != nil {
		panic("jsonschema: the embedded metaschema: " + err.Error())
	}
	return s
})

// checkSchema returns what is wrong with raw as a schema; at is its place in the document. Nothing is wrong for the
// metaschema of the metaschema, which is nil.
func (s *Schema) checkSchema(w work, raw *value, at []string) []Finding {
	if s == nil {
		return nil
	}
	plain := raw.plain()
	extent, err := measure(w, plain)
	if err != nil {
		return unusable("the schema cannot be read: " + err.Error()).Findings
	}
	findings := s.check(w, plain, extent, func() (*value, error) { return raw, nil })
	for i := range findings {
		findings[i].Instance = append([]string{}, slices.Concat(at, findings[i].Instance)...)
	}
	return findings
}
