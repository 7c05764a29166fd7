package jsonschema

import (
	"purser/internal/budget"
	"purser/internal/document"
)

// Outline describes how checks read the schemas of a document, for programs that document it. The document can be any
// mapping, even one that cannot be used for checks.
type Outline struct {
	graph *graph
	draft *draft
	nodes map[*document.Member]*node // by the schema's first member
	// IsUnknown means that $schema is an unknown draft. The document is then read as Draft 4.
	IsUnknown bool
	Bytes     int // estimated memory
}

// Target is the target of a reference.
type Target struct {
	Where  Where
	Path   []string // within the document, if it is Here
	Schema any      // the schema there, if it is Here
}

// Where is the kind of a target.
type Where uint8

// The zero value is that of references in a document that is too large or too deep for checks.
const (
	Unread  Where = iota
	Here          // to a part of the document
	Nowhere       // to a missing part of the document
	Known         // to a metaschema, or another DataSchema by its name
	Outside       // to another document, or the reference is not a string
)

// NewOutline reads the schemas of a document and counts the work. The only option that it uses is AssertFormats. The
// only errors are those of meter, returned unwrapped.
func NewOutline(meter *budget.Meter, schema document.Mapping, options Options) (o *Outline, err error) {
	defer catchStop(&err)
	w := counter{meter: meter}
	o = &Outline{draft: dialectOf(schema), nodes: make(map[*document.Member]*node)}
	if o.draft == nil {
		o.draft, o.IsUnknown = draft4, true
	}
	options = Options{AssertFormats: options.AssertFormats, outline: true}
	if isTooDeep(w, schema, 0) || sizeOf(schema) > maxNodes {
		o.graph = &graph{counter: w, options: options}
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

// IsDraft4 reports whether a schema of the document belongs to Draft 4, in which booleans are not schemas, and
// exclusiveMinimum and exclusiveMaximum are flags.
func (o *Outline) IsDraft4(schema document.Mapping) bool { return o.draftOf(schema) == draft4 }

// Keywords returns the members of a schema without keywords that only other drafts have, and without those that a $ref
// hides. It keeps members that no draft knows.
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

// Asserts reports whether checks with a schema of the document assert a format.
func (o *Outline) Asserts(schema document.Mapping, format string) bool {
	return o.graph.assertsFormats(o.draftOf(schema)) && formatOf(format) != nil
}

// Target returns the target of a keyword of a schema: $ref, $dynamicRef or $recursiveRef. The latter two may have other
// targets in checks.
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
	found, _ := valueAt(o.graph.own.root, path)
	return Target{Here, path, found}
}
