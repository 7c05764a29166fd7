package jsonschema

import (
	"purser/internal/budget"
	"purser/internal/document"
)

// mapping is a schema or an object of the data.
type mapping = document.Mapping

// Schema is a schema that data can be checked against. It is safe for concurrent use.
type Schema struct {
	root          *node
	versions      map[string]string // of client plugins, for the keywords of extensions
	namesVersions bool              // of client plugins
	dangling      bool              // a reference has no target
	patternBytes  int
	unresolved    []Finding
	otherBytes    int // of the other DataSchemas that were read
}

// Compile compiles a schema given as JSON text, and counts the work. The error is an *Unusable if the schema cannot be
// used; other errors are those of meter, returned unwrapped.
func Compile(meter *budget.Meter, schema []byte, options Options) (s *Schema, err error) {
	defer catchStop(&err)
	w := counter{meter: meter}
	root, err := parse(w, schema, maxNodes)
	if err != nil {
		return nil, unusable("the schema cannot be read: " + err.Error())
	}
	d := dialectOf(root)
	if d == nil {
		m, _ := root.(mapping)
		return nil, &Unusable{Findings: []Finding{{
			Message: unknownDraft(Text(m.At("$schema"))), Instance: []string{"$schema"}, SchemaPath: ".$schema",
		}}}
	}
	meta := metaschema(d)
	if found := meta.checkSchema(w, root, nil); len(found) > 0 {
		return nil, &Unusable{Findings: found}
	}
	return compile(w, &source{uri: base, root: root, meta: meta}, d, options)
}

// dialectOf returns the draft of a document: Draft 4 by default, nil if the draft is unknown.
func dialectOf(root any) *draft {
	m, _ := root.(mapping)
	if dialect, ok := m.At("$schema").(string); ok {
		return draftNamed(dialect)
	}
	return draft4
}

func unusable(text string) *Unusable {
	m := new(message)
	m.add(text)
	return &Unusable{Findings: []Finding{{Message: m.String(), Instance: []string{}, SchemaPath: "."}}}
}

func compile(w counter, document *source, d *draft, options Options) (*Schema, error) {
	g := newGraph(w, document, d, options)
	g.extend()
	if len(g.findings) == 0 {
		g.findLoops()
	}
	if len(g.findings) > 0 {
		return nil, &Unusable{Findings: atMost(g.findings, len(g.findings))}
	}
	g.unresolved = g.findUnresolved()
	g.forget()
	return g.Schema, nil
}

// PatternBytes returns about the memory that the schema's patterns take. That of all else is in proportion to its text.
func (s *Schema) PatternBytes() int { return s.patternBytes }

// Unresolved returns the first references in the schema that have no target; a check that reaches one has a finding.
// Instance is the path within the schema, and SchemaPath the keyword. Do not modify them.
func (s *Schema) Unresolved() []Finding { return s.unresolved }

// OtherBytes returns the length of the other schemas that references lead to.
func (s *Schema) OtherBytes() int { return s.otherBytes }

// For returns the schema for client versions; the schema that Compile returns has none. Both share the compiled graph.
func (s *Schema) For(versions map[string]string) *Schema {
	of := *s
	of.versions = versions
	return &of
}

// NamesVersions reports whether the outcome of a check may depend on client versions.
func (s *Schema) NamesVersions() bool { return s.namesVersions }
