package jsonschema

import (
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
)

// Extension adds keywords to the schemas of all drafts. They constrain objects and ignore other values.
type Extension interface {
	// Keywords returns the names of the added keywords.
	Keywords() []string
	// Compile compiles the keywords of one schema object, which is passed whole. It returns nil if the object has none of
	// them. It is not called if Examine has findings.
	Compile(schema document.Mapping) (Keyword, error)
	// Examine returns the errors in the keywords anywhere in a schema, even in parts that are never applied. Instance is
	// the path in the schema.
	Examine(schema any) []Finding
}

// Keyword is a compiled schema object with the extension's keywords. It is safe for concurrent use.
type Keyword interface {
	// Check checks an object and counts the work. The only errors are those of meter, returned unwrapped.
	Check(meter *budget.Meter, object document.Mapping, versions map[string]string) ([]Violation, error)
	// NamesVersions reports whether the outcome may depend on client versions.
	NamesVersions() bool
}

// Violation is one way in which an object violates a Keyword. Its message contains no values but names in the schema.
type Violation struct {
	Instance []string // path from the checked object
	Keyword  []string // path from the schema object
	Message  string
	More     int // number of further violations without messages
}

// extended checks the keywords of extensions.
func (e *evaluation) extended() {
	m, ok := e.value.(mapping)
	if !ok {
		return
	}
	for _, keyword := range e.node.added {
		violations, err := keyword.Check(e.meter, m, e.schema.versions)
		e.must(err)
		for i := range violations {
			e.failAs(failure{added: &violations[i], count: violations[i].More})
		}
	}
}

// extend compiles the keywords of extensions.
func (g *graph) extend() {
	for _, extension := range g.options.Extensions {
		g.weigh(g.own.root, extension.Keywords(), false)
		found := extension.Examine(g.own.root)
		if g.findings = append(g.findings, found...); len(found) > 0 {
			continue
		}
		for _, n := range g.nodes {
			if n.members == nil || n.ref != nil && n.draft().hidesSiblings() {
				continue
			}
			keyword, err := extension.Compile(n.members)
			switch {
			case err != nil && n.resource.source == g.own:
				g.findings = append(g.findings, Finding{Message: err.Error(), Instance: n.place(), SchemaPath: "."})
			case err != nil:
			case keyword != nil:
				n.added = append(n.added, keyword)
				g.namesVersions = g.namesVersions || keyword.NamesVersions()
			}
		}
	}
}

// weigh counts the cost of reading the values of keywords anywhere in a schema. within is set below one of them.
func (g *graph) weigh(v any, keywords []string, within bool) {
	g.spend(lookupSteps)
	switch v := v.(type) {
	case string:
		if within {
			g.spend(describeByte * len(v))
		}
	case []any:
		for _, item := range v {
			g.weigh(item, keywords, within)
		}
	case mapping:
		for _, member := range v {
			isOne := slices.Contains(keywords, member.Key)
			if isOne {
				g.spend(sizeOf(member.Value) * extendSteps)
			}
			g.weigh(member.Value, keywords, within || isOne)
		}
	}
}
