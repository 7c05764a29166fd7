package jsonschema

import (
	"purser/internal/budget"
	"purser/internal/document"
)

// Outline says how checks read the schemas of a document, for programs that describe it. The document can be any
// mapping, also one that nothing can be checked with.
type Outline struct {
	graph *graph
	draft *draft
	nodes map[*document.Member]*node // by the first member of the schema
	// IsUnknown says that $schema names an unknown draft. The document is then read as Draft 4.
	IsUnknown bool
	Bytes     int // that it takes in memory, roughly
}

// Target is where a reference leads.
type Target struct {
	Where  Where
	Path   []string // within the document, if it is Here
	Schema any      // the same
}

// Where is the target of a reference.
type Where uint8

// The zero value is that of references in a document that is too large or too deep to be checked with.
const (
	Unread  Where = iota
	Here          // to a part of the document
	Nowhere       // to a part that it does not have
	Known         // to a metaschema, or another DataSchema by its name
	Outside       // to another document, or the reference is no text
)

// NewOutline reads the schemas of a document, with the options' AssertFormats alone, and counts what that takes. The
// error is the meter's, as it came.
func NewOutline(meter *budget.Meter, schema document.Mapping, options Options) (o *Outline, err error) {
	defer stopped(&err)
	w := work{meter}
	o = &Outline{draft: dialectOf(schema), nodes: make(map[*document.Member]*node)}
	if o.draft == nil {
		o.draft, o.IsUnknown = draft4, true
	}
	options = Options{AssertFormats: options.AssertFormats, outline: true}
	if tooDeep(w, schema, 0) || size(schema) > maxNodes {
		o.graph = &graph{work: w, options: options}
		return o, nil
	}
	o.graph = newGraph(w, &source{uri: base, root: schema}, o.draft, options)
	const nodeBytes = 700
	for at := range o.graph.byPlace {
		o.Bytes += nodeBytes + len(at.pointer)
	}
	for _, n := range o.graph.nodes {
		if len(n.members) > 0 {
			o.nodes[&n.members[0]] = n
		}
	}
	return o, nil
}

// draftOf returns the draft of a schema of the document.
func (o *Outline) draftOf(schema document.Mapping) *draft {
	if n := o.node(schema); n != nil {
		return n.draft()
	}
	return o.draft
}

func (o *Outline) node(schema document.Mapping) *node {
	if len(schema) == 0 {
		return nil
	}
	return o.nodes[&schema[0]]
}

// IsDraft4 reports whether a schema of the document is one of Draft 4: booleans are no schemas, and exclusiveMinimum
// and exclusiveMaximum are flags.
func (o *Outline) IsDraft4(schema document.Mapping) bool { return o.draftOf(schema) == draft4 }

// Keywords returns the members of a schema that count, and those that no draft knows: without the keywords of other
// drafts, and those that a $ref hides.
func (o *Outline) Keywords(schema document.Mapping) document.Mapping {
	d, kept := o.draftOf(schema), make(document.Mapping, 0, len(schema))
	for i, member := range schema {
		switch {
		case member.Key == "$ref" && member.Value == nil:
		case member.Key == "$ref" && d.hidesSiblings():
			return schema[i : i+1]
		case d.reads(member.Key):
			kept = append(kept, member)
		}
	}
	return kept
}

// reads reports whether a keyword is not one of other drafts alone.
func (d *draft) reads(keyword string) bool {
	switch keyword {
	case "const":
		return d.since >= since6
	case "dependentRequired", "minContains", "maxContains":
		return d.since >= since2019
	case "$recursiveRef":
		return d == draft2019
	case "$dynamicRef":
		return d == draft2020
	}
	_, isRead := d.applicators[keyword]
	for _, other := range drafts {
		if _, ok := other.applicators[keyword]; ok {
			return isRead
		}
	}
	return true
}

// Asserts reports whether checks with a schema of the document compare texts with a format.
func (o *Outline) Asserts(schema document.Mapping, format string) bool {
	return o.graph.asserts(o.draftOf(schema)) && formatOf(format) != nil
}

// Target returns where a keyword of a schema leads: $ref, or $dynamicRef or $recursiveRef, which in checks can lead
// elsewhere.
func (o *Outline) Target(schema document.Mapping, keyword string) Target {
	n := o.node(schema)
	if n == nil {
		return Target{}
	}
	r := n.ref
	if keyword != "$ref" {
		r = n.dynamic
	}
	if r == nil {
		return Target{Where: Outside}
	}
	switch uri, _ := join(n.resource.uri, r.written); {
	case r.other != "", r.to != nil && r.to.resource.source != o.graph.own:
		return Target{Where: Known}
	case r.to == nil && o.graph.resources[uri] == nil:
		return Target{Where: Outside}
	case r.to == nil:
		return Target{Where: Nowhere}
	}
	path := r.to.place()
	found, _ := at(o.graph.own.root, path)
	return Target{Here, path, found}
}
