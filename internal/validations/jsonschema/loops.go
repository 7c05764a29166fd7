package jsonschema

import (
	"fmt"
	"slices"
)

// searchState is the state of a schema in the search for loops.
type searchState uint8

const (
	unseen searchState = iota
	open               // the search has not left it yet
	done
)

// findLoops refuses schemas that lead back to themselves at the same place of the data, and those that are nested so
// deeply there that a check would exhaust the stack.
func (g *graph) findLoops() {
	for _, n := range g.nodes {
		g.search(n)
	}
	if len(g.findings) > 0 {
		return
	}
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return n.isTooDeep() && n.resource.source == g.own })
	if i >= 0 { // parents come first, so this is the outermost
		g.refuseDepth(g.nodes[i])
	}
}

// search determines the depth of the schemas to which n leads at the same place of the data.
func (g *graph) search(n *node) {
	if n.state != unseen {
		return
	}
	n.state = open
	n.eachInPlace(func(to *node, combinator bool) {
		if to.state == open {
			g.refuseLoop(n)
			return
		}
		g.search(to)
		if combinator {
			n.levels = max(n.levels, to.levels+1)
		} else {
			n.levels = max(n.levels, to.levels)
		}
		n.length = max(n.length, to.length+1)
	})
	n.state = done
}

// eachInPlace calls f for every schema that n applies to its own value. A dynamic reference may have another target in
// a check, for which run.eval counts the levels.
func (n *node) eachInPlace(f func(to *node, combinator bool)) {
	for _, r := range [...]*reference{n.ref, n.dynamic} {
		if r != nil && r.to != nil && r.anchor == "" {
			f(r.to, false)
		}
	}
	for _, to := range n.inPlaceNodes {
		f(to, true)
	}
}

// refuseLoop refuses n, which leads to a schema that is still being searched. Its own place is reported, even if the
// reference is further up.
func (g *graph) refuseLoop(n *node) {
	if n.ref == nil {
		g.refuse(n, "$ref", "the schema is a loop: it leads back to itself at the same place of the data")
		return
	}
	m := new(message).add("$ref ").quote(n.ref.written).
		add(" is a loop: it leads back to itself at the same place of the data")
	g.refuse(n, "$ref", m.String())
}

func (n *node) isTooDeep() bool { return n.levels > maxLevels || n.length > maxSteps }

func (g *graph) refuseDepth(n *node) {
	text := fmt.Sprintf("its combinators and references lead through %d schemas at one place of the data, and %d is the"+
		" most: simplify them", n.length, maxSteps)
	if n.levels > maxLevels {
		text = fmt.Sprintf("its combinators (allOf, anyOf, oneOf, not, dependencies) are nested %d deep at one place of"+
			" the data, and %d is the most: simplify them", n.levels, maxLevels)
	}
	g.findings = append(g.findings, Finding{Message: text, Instance: n.place(), SchemaPath: "."})
}
