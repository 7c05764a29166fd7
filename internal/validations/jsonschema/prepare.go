package jsonschema

import (
	"fmt"

	"purser/internal/budget"
)

// Schema is a schema that data can be checked against. It is safe for concurrent use.
type Schema struct {
	nodes []*node // the root is the first
	// versions are those of client plugins, for the keywords that others add.
	versions      map[string]string
	namesVersions bool

	prepared []byte // what the library gets
	pool     *pool
}

// Compile prepares a Draft 4 schema given as JSON text, and counts what that takes. A schema that cannot be used gives
// a *Unusable error; any other error is the meter's, as it came. Extensions add keywords, which are judged with the
// versions of client plugins: see For.
func Compile(meter *budget.Meter, schema []byte, extensions ...Extension) (s *Schema, err error) {
	defer stopped(&err)
	w := work{meter}
	document, err := parse(w, schema, maxNodes)
	if err != nil {
		return nil, unusable("the schema cannot be read: " + err.Error())
	}
	return compile(w, document, metaschema(), extensions)
}

func unusable(said string) *Unusable {
	m := new(message)
	m.add(said)
	return &Unusable{Findings: []Finding{{Message: m.String(), Instance: []string{}, SchemaPath: "."}}}
}

func compile(w work, document *value, meta *Schema, extensions []Extension) (*Schema, error) {
	if found := meta.checkSchema(w, document, nil); len(found) > 0 {
		return nil, &Unusable{Findings: found}
	}
	g := read(w, document, meta)
	g.extend(extensions)
	if len(g.findings) == 0 {
		g.findLoops()
	}
	if len(g.findings) > 0 {
		return nil, &Unusable{Findings: atMost(g.findings, len(g.findings))}
	}
	s := &Schema{nodes: g.nodes, namesVersions: g.namesVersions, pool: new(pool)}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	first, err := s.instantiate(w)
	if err != nil {
		return nil, unusable(fmt.Sprintf("the schema cannot be compiled: %v", err))
	}
	s.put(first)
	return s, nil
}

// For returns the schema for client versions; Compile's is for none. What was compiled is shared.
func (s *Schema) For(versions map[string]string) *Schema {
	of := *s
	of.versions = versions
	return &of
}
