package jsonschema

import (
	"strconv"
	"strings"

	"purser/internal/document"
)

// isRef reads the node's $ref if it has one. A null is none, as in Python.
func (g *graph) isRef(n *node) bool {
	v := n.raw.member("$ref")
	if v == nil || v.kind == null {
		return false
	}
	if v.kind != text {
		g.refuse(n, "$ref", new(message).repr(v).add(" is not of type 'string'").String())
		return true
	}
	fragment, local := strings.CutPrefix(v.text, "#")
	if !local && v.text != "" {
		g.refuse(n, "$ref", new(message).quote(v.text).
			add(" points outside the schema: a DataSchema may only refer to itself, with a $ref that starts with #").String())
		return true
	}
	n.ref = &ref{fragment: strings.TrimLeft(fragment, "/")}
	return true
}

// resolved is the schema that the node's references lead to; itself if it has none.
func (n *node) resolved() *node {
	for n.ref != nil && n.ref.to != nil {
		n = n.ref.to
	}
	return n
}

// resolve finds what each reference points to. A target that is no schema by its place becomes one, which can bring
// more references.
func (g *graph) resolve() {
	for i := 0; i < len(g.nodes); i++ { //nolint:intrange // target adds nodes
		if n := g.nodes[i]; n.ref != nil {
			n.ref.to = g.target(n.ref.fragment)
		}
	}
}

// target returns the schema that a fragment points to, or nil.
func (g *graph) target(fragment string) *node {
	g.spend(lookupSteps*(1+strings.Count(fragment, "/")) + len(fragment)*describeByte)
	steps, ok := document.PointerSteps(fragment)
	if !ok {
		return nil
	}
	at := g.document
	for _, step := range steps {
		if at = at.step(step); at == nil {
			return nil
		}
	}
	if n, ok := g.byValue[at]; ok {
		return n
	}
	if found := g.meta.checkSchema(g.work, at, steps); len(found) > 0 {
		g.findings = append(g.findings, found...)
		return nil
	}
	return g.node(at, nil, steps...)
}

// step returns the member or the item at one step of a path, or nil.
func (v *value) step(step string) *value {
	switch v.kind { //nolint:exhaustive // the others have no steps
	case object:
		return v.member(step)
	case array:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.items) {
			return v.items[i]
		}
	}
	return nil
}
