package jsonschema

import (
	"slices"
	"strconv"
)

// node is one schema: an object at a place of the document where Draft 4 expects a schema, or one that a reference
// points to.
type node struct {
	id      int
	raw     *value
	parent  *node
	steps   []string // from the parent, or from the document's root if there is none
	edges   []edge
	index   map[string]int // of many edges: the position by keyword and name
	label   int            // bytes of the longest path that leads to it from a schema that applies it
	price   price
	ref     *ref
	asserts assertions
	added   []Keyword

	hoisted bool // the library gets it as a definition, because something points at it
	wrapped bool // and also gets a reference to that definition, where a schema applies it
	inAllOf bool // it is in the list of an allOf
	below   bool // it is applied to members or items

	// Where the node stands in the graph of schemas that are evaluated at the same place of the data (loops.go).
	state  searchState
	levels int
	length int
}

// edge leads from a schema to one that its keyword applies: properties/a, anyOf/0, additionalProperties.
type edge struct {
	keyword string
	name    string   // of the property, or the index; empty if the keyword holds one schema
	pattern *pattern // of patternProperties
	to      *node
}

// ref is a $ref, which hides everything beside it.
type ref struct {
	fragment string // what follows the #, as written
	to       *node  // nil if it points nowhere
}

// shape is how a keyword holds schemas.
type shape uint8

const (
	single shape = 1 << iota // one schema; a boolean there is none
	list                     // an array of schemas
	named                    // an object of schemas; in dependencies, arrays there are none
)

// applicators are the keywords that hold schemas, in Draft 4.
var applicators = map[string]shape{
	"additionalItems":      single,
	"additionalProperties": single,
	"allOf":                list,
	"anyOf":                list,
	"definitions":          named,
	"dependencies":         named,
	"items":                single | list,
	"not":                  single,
	"oneOf":                list,
	"patternProperties":    named,
	"properties":           named,
}

// inPlace says whether the edge's schema is evaluated against the same value as the schema it comes from.
func (e *edge) inPlace() bool {
	switch e.keyword {
	case "allOf", "anyOf", "oneOf", "not", "dependencies":
		return true
	}
	return false
}

// child returns the edge at keyword and name as the library knows them, or nil.
func (n *node) child(keyword, name string) *edge {
	if n.index != nil {
		if i, ok := n.index[keyword+"/"+name]; ok {
			return &n.edges[i]
		}
		return nil
	}
	for i := range n.edges {
		if e := &n.edges[i]; e.keyword == keyword && e.label() == name {
			return e
		}
	}
	return nil
}

// label is the edge's name as the library knows it.
func (e *edge) label() string {
	if e.pattern != nil {
		return e.pattern.runs
	}
	return e.name
}

// finish notes what is asked of the node again and again.
func (n *node) finish(w work) {
	n.asserts.read(w, n)
	for i := range n.edges {
		e := &n.edges[i]
		e.to.below = e.to.below || !e.inPlace()
		e.to.inAllOf = e.to.inAllOf || e.keyword == "allOf"
		e.to.label = max(e.to.label, len("/")+len(e.keyword)+len("/")+len(escape(e.label())))
	}
	if len(n.edges) <= fewKeys {
		return
	}
	n.index = make(map[string]int, len(n.edges))
	for i := range n.edges {
		n.index[n.edges[i].keyword+"/"+n.edges[i].label()] = i
	}
}

// place is the path to the node within the schema document.
func (n *node) place(more ...string) []string {
	var parts [][]string
	for at := n; at != nil; at = at.parent {
		parts = append(parts, at.steps)
	}
	slices.Reverse(parts)
	return append([]string{}, slices.Concat(slices.Concat(parts...), more)...) // never nil: it is shown
}

// graph is all schemas of a document.
type graph struct {
	work

	document *value
	meta     *Schema // what each schema must satisfy; nil for the metaschema itself
	nodes    []*node // parents before children
	byValue  map[*value]*node
	programs int
	findings []Finding

	namesVersions bool // of client plugins
}

// read makes the graph of a document that satisfies the metaschema. What makes it unusable is in findings.
func read(w work, document *value, meta *Schema) *graph {
	g := &graph{work: w, document: document, meta: meta, byValue: make(map[*value]*node)}
	g.node(document, nil)
	g.resolve()
	return g
}

func (g *graph) refuse(n *node, keyword, message string, more ...string) {
	g.findings = append(g.findings, Finding{
		Message: message, Instance: n.place(append([]string{keyword}, more...)...), SchemaPath: "." + keyword,
	})
}

func (g *graph) node(raw *value, parent *node, steps ...string) *node {
	if n, ok := g.byValue[raw]; ok {
		return n
	}
	g.spend(nodeSteps)
	n := &node{id: len(g.nodes), raw: raw, parent: parent, steps: steps, label: len("/$ref")}
	g.byValue[raw] = n
	g.nodes = append(g.nodes, n)
	defer n.finish(g.work)
	if g.isRef(n) {
		return n
	}
	for i, keyword := range raw.keys {
		if shape, ok := applicators[keyword]; ok {
			g.apply(n, keyword, shape, raw.items[i])
		} else if keyword == "pattern" {
			n.asserts.pattern = g.pattern(n, raw.items[i].text, keyword)
		}
	}
	return n
}

// apply adds the schemas that keyword holds.
func (g *graph) apply(n *node, keyword string, shape shape, held *value) {
	switch {
	case shape&single != 0 && held.kind == object:
		n.edges = append(n.edges, edge{keyword: keyword, to: g.node(held, n, keyword)})
	case shape&list != 0 && held.kind == array:
		for i, item := range held.items {
			name := strconv.Itoa(i)
			n.edges = append(n.edges, edge{keyword: keyword, name: name, to: g.node(item, n, keyword, name)})
		}
	case shape&named != 0:
		g.applyNamed(n, keyword, held)
	}
}

func (g *graph) applyNamed(n *node, keyword string, held *value) {
	taken := make(map[string]bool)
	for i, name := range held.keys {
		e := edge{keyword: keyword, name: name}
		if held.items[i].kind != object {
			continue
		}
		if keyword == "patternProperties" {
			if e.pattern = g.pattern(n, name, keyword, name); e.pattern == nil {
				continue
			}
			for taken[e.pattern.runs] { // two patterns can be one once translated
				e.pattern.runs += "(?:)"
			}
			taken[e.pattern.runs] = true
		}
		e.to = g.node(held.items[i], n, keyword, name)
		n.edges = append(n.edges, e)
	}
}

// pattern reads a pattern, or refuses the schema and returns nil.
func (g *graph) pattern(n *node, written, keyword string, more ...string) *pattern {
	if g.programs > maxPrograms {
		return nil
	}
	p, err := readPattern(g.work, written)
	if err != nil {
		m := new(message).quote(written).add(" is no pattern that can be used here: patterns need RE2 syntax, which has no" +
			" lookarounds and no back-references")
		g.refuse(n, keyword, m.String(), more...)
		return nil
	}
	if g.programs += p.size; g.programs > maxPrograms {
		g.refuse(n, keyword, "the schema's patterns are too large together", more...)
		return nil
	}
	return &p
}
