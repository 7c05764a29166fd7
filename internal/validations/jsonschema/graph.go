package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/regex"
)

// node is one schema: a value where its draft expects a schema, or the target of a reference.
type node struct {
	*rules
	*building

	members  mapping // nil for a boolean
	resource *resource
	types    types
	isFalse  bool
}

// rules are the keywords of a schema except type. Schemas without keywords share one.
type rules struct {
	ref     *reference // $ref
	dynamic *reference // $dynamicRef or $recursiveRef
	asserts *assertions
	objects *objectRules
	arrays  *arrayRules
	inPlace *combinators
	added   []Keyword
}

// building is the part of a node that is only needed to compile the schema.
type building struct {
	parent       *node
	steps        []string // from the parent, or from the root of the document if there is no parent
	inPlaceNodes []*node  // that its keywords apply to the same value

	// The node's position in the graph of schemas that are evaluated at the same place of the data (loops.go).
	state          searchState
	levels, length int
}

// edge leads from a schema to one that its keyword contains: properties/a, anyOf/0, additionalProperties.
type edge struct {
	keyword string
	name    string // of the property, or the index; empty if the keyword contains one schema
	pattern *regex.Expression
	to      *node
}

// resource is a document, or a part of one with its own URI.
type resource struct {
	uri    string
	draft  *draft
	root   *node
	source *source

	anchors   map[string]*node
	dynamic   map[string]*node // those of $dynamicAnchor
	recursive bool             // it has $recursiveAnchor: true
}

// source is a document with schemas: the DataSchema itself, another one, or a metaschema.
type source struct {
	uri  string
	root any
	meta *Schema // the metaschema of its schemas; nil for metaschemas
}

// place identifies a node.
type place struct {
	source  *source
	pointer string
}

// graph is the set of schemas that checks can reach.
type graph struct {
	counter

	*Schema // the result

	options   Options
	sources   map[string]*source
	resources map[string]*resource
	nodes     []*node // parents before children
	byPlace   map[place]*node
	programs  int // size of the patterns
	findings  []Finding

	own     *source // the schema itself
	formats bool    // the schema requires format assertions
}

// base is the URI of a DataSchema that has none. No URI is ever opened.
const base = "purser:///"

// formatAssertion is the vocabulary of 2020-12 that makes format an assertion.
const formatAssertion = "https://json-schema.org/draft/2020-12/vocab/format-assertion"

// newGraph returns the graph of a document that is valid for its draft's metaschema. Its findings are the reasons why
// it cannot be used.
func newGraph(w counter, s *source, d *draft, options Options) *graph {
	g := &graph{
		counter: w, Schema: new(Schema), options: options,
		sources: make(map[string]*source), resources: make(map[string]*resource), byPlace: make(map[place]*node),
	}
	g.own = s
	m, _ := s.root.(mapping)
	vocabularies, _ := m.At("$vocabulary").(mapping)
	_, g.formats = vocabularies.Lookup(formatAssertion)
	g.root = g.add(s, d)
	g.resolve()
	return g
}

// add adds the schemas of a document.
func (g *graph) add(s *source, d *draft) *node {
	g.sources[s.uri] = s
	r := &resource{uri: s.uri, draft: d, source: s}
	g.resources[s.uri] = r
	n := g.node(s.root, nil, r)
	if r.root == nil {
		r.root = n
	}
	return n
}

// refuse adds a reason why the schema cannot be used. It does nothing for faults in other documents.
func (g *graph) refuse(n *node, keyword, message string, more ...string) {
	if n.resource.source != g.own {
		return
	}
	g.findings = append(g.findings, Finding{
		Message: message, Instance: n.place(append([]string{keyword}, more...)...), SchemaPath: "." + keyword,
	})
}

// node adds the schema at a path from its parent.
func (g *graph) node(raw any, parent *node, r *resource, steps ...string) *node {
	g.spend(nodeSteps)
	n := &node{rules: new(rules), building: &building{parent: parent, steps: steps}, isFalse: raw == false, resource: r}
	n.members, _ = raw.(mapping)
	at := place{r.source, pointer(n.place())}
	if known, ok := g.byPlace[at]; ok {
		return known
	}
	g.spend(len(at.pointer) * describeByte)
	g.byPlace[at] = n
	g.nodes = append(g.nodes, n)
	g.identify(n)
	if g.refer(n) && n.draft().hidesSiblings() {
		// Schemas in them may have names; in Draft 4 they are not read.
		if n.draft() != draft4 || g.options.outline {
			g.apply(n, "definitions", n.draft().applicators["definitions"], n.members.At("definitions"))
		}
		return n
	}
	for _, member := range n.members {
		if a, ok := n.draft().applicators[member.Key]; ok {
			g.apply(n, member.Key, a, member.Value)
		}
	}
	if !g.options.outline {
		g.assert(n)
		n.close()
	}
	return n
}

func (n *node) draft() *draft { return n.resource.draft }

// forget drops data that checks do not need.
func (g *graph) forget() {
	none := new(rules)
	for _, n := range g.nodes {
		n.building = nil
		if r := n.rules; r.ref == nil && r.dynamic == nil && r.asserts == nil && r.objects == nil && r.arrays == nil &&
			r.inPlace == nil && r.added == nil {
			n.rules = none
		}
	}
	for _, r := range g.resources {
		if r != nil {
			r.source, r.anchors = nil, nil
		}
	}
}

// isSchema reports whether a value can be a schema of the node's draft.
func (n *node) isSchema(v any) bool {
	switch v.(type) {
	case mapping:
		return true
	case bool:
		return n.draft().hasBooleans()
	}
	return false
}

// apply adds the schemas that a keyword contains.
func (g *graph) apply(n *node, keyword string, a applicator, held any) {
	members, isMapping := held.(mapping)
	items, isList := held.([]any)
	_, isBool := held.(bool)
	switch {
	case a.shape&byName != 0 && isMapping:
		g.applyNamed(n, keyword, a, members)
	case a.shape&many != 0 && isList:
		for i, item := range items {
			if n.isSchema(item) {
				name := strconv.Itoa(i)
				g.addEdge(n, a, edge{keyword: keyword, name: name}, item, name)
			}
		}
	case a.shape&one != 0 && n.isSchema(held) && (!isBool || a.shape&noBooleans == 0):
		g.addEdge(n, a, edge{keyword: keyword}, held)
	}
}

func (g *graph) applyNamed(n *node, keyword string, a applicator, held mapping) {
	for _, member := range held {
		if !n.isSchema(member.Value) {
			continue
		}
		e := edge{keyword: keyword, name: member.Key}
		if keyword == "patternProperties" {
			if e.pattern = g.pattern(n, member.Key, keyword, member.Key); e.pattern == nil {
				continue
			}
		}
		g.addEdge(n, a, e, member.Value, member.Key)
	}
}

// addEdge adds a schema that a keyword contains, at the steps from the keyword.
func (g *graph) addEdge(n *node, a applicator, e edge, schema any, steps ...string) {
	e.to = g.node(schema, n, n.resource, slices.Concat([]string{e.keyword}, steps)...)
	if a.inPlace {
		n.inPlaceNodes = append(n.inPlaceNodes, e.to)
	}
	if a.add != nil && !g.options.outline {
		a.add(n.rules, e)
	}
}

// place returns the path of the node within its document.
func (n *node) place(more ...string) []string {
	var parts [][]string
	for at := n; at != nil; at = at.parent {
		parts = append(parts, at.steps)
	}
	slices.Reverse(parts)
	return append([]string{}, slices.Concat(slices.Concat(parts...), more)...) // never nil: it is shown
}

// pointer formats a path as text.
func pointer(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// assert reads the assertions of a schema.
func (g *graph) assert(n *node) {
	var p *regex.Expression
	if written, ok := n.members.At("pattern").(string); ok {
		p = g.pattern(n, written, "pattern")
	}
	n.types, n.asserts = readAssertions(g.counter, n.members, n.draft(), p, g.assertsFormats(n.draft()))
}

// assertsFormats reports whether format is an assertion.
func (g *graph) assertsFormats(d *draft) bool {
	return d != draft4 && (g.options.AssertFormats || d == draft2020 && g.formats)
}

// pattern compiles a pattern. If it is invalid, it refuses the schema and returns nil.
func (g *graph) pattern(n *node, written, keyword string, more ...string) *regex.Expression {
	if g.options.outline {
		return new(regex.Expression)
	}
	if g.programs > maxPatterns {
		return nil
	}
	p, err := compilePattern(g.counter, written, n.draft())
	if err != nil {
		m := new(message).quote(written).add(" cannot be used as a pattern: ", err.Error())
		g.refuse(n, keyword, m.String(), more...)
		return nil
	}
	g.patternBytes += p.Bytes
	if g.programs += p.Size; g.programs > maxPatterns {
		g.refuse(n, keyword, "the schema's patterns are too large together", more...)
		return nil
	}
	return p
}
