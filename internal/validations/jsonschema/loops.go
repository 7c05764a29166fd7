package jsonschema

import "fmt"

// States of node.rank before it is known.
const (
	unranked = -1
	ranking  = -2
)

// rankAll orders the schemas by what they evaluate at the same place of the data, and refuses those that come back to
// themselves there, those nested too deep and those that multiply: 17 doublings keep the library busy for seconds.
func (g *graph) rankAll(options Options) {
	next := 0
	for _, n := range g.nodes {
		g.rank(n, &next)
	}
	if len(g.findings) > 0 {
		return
	}
	for _, n := range g.nodes { // parents come first, so the outermost is named
		if g.tooDeep(n) {
			return
		}
		if n.visits > float64(options.Visits) {
			g.refuseCost(n, options)
			return
		}
	}
}

// rank gives n its rank and adds up what it costs at one place of the data.
func (g *graph) rank(n *node, next *int) {
	if n.rank != unranked {
		return
	}
	n.rank, n.visits = ranking, 1
	n.eachInPlace(func(to *node, combinator bool) {
		if to.rank == ranking {
			g.refuseLoop(n)
			return
		}
		g.rank(to, next)
		n.visits += to.visits
		n.levels = max(n.levels, to.levels+btoi(combinator))
		n.length = max(n.length, to.length+1)
	})
	n.rank = *next
	*next++
}

// eachInPlace calls f for every schema that n evaluates against the same value as itself.
func (n *node) eachInPlace(f func(to *node, combinator bool)) {
	if n.ref != nil && n.ref.to != nil {
		f(n.ref.to, false)
	}
	for i := range n.edges {
		if n.edges[i].inPlace() {
			f(n.edges[i].to, true)
		}
	}
}

// refuseLoop refuses n, which leads to a schema that is still being evaluated. If the reference is further up, n's own
// place is as good a hint.
func (g *graph) refuseLoop(n *node) {
	if n.ref == nil {
		g.refuse(n, "$ref", "the schema is a loop: it leads back to itself at the same place of the data")
		return
	}
	m := new(message).add("$ref ").repr(n.raw.member("$ref")).
		add(" is a loop: it leads back to itself at the same place of the data")
	g.refuse(n, "$ref", m.String())
}

func (g *graph) tooDeep(n *node) bool {
	var said string
	switch {
	case n.levels > maxLevels:
		said = fmt.Sprintf("its combinators (allOf, anyOf, oneOf, not, dependencies) are nested %d deep at one place of the"+
			" data, and %d is the most: simplify them", n.levels, maxLevels)
	case n.length > maxSteps:
		said = fmt.Sprintf("its combinators and references lead through %d schemas at one place of the data, and %d is the"+
			" most: simplify them", n.length, maxSteps)
	default:
		return false
	}
	g.findings = append(g.findings, Finding{Message: said, Instance: n.place(), SchemaPath: "."})
	return true
}

func (g *graph) refuseCost(n *node, options Options) {
	g.findings = append(g.findings, Finding{
		Message: fmt.Sprintf("its combinators (allOf, anyOf, oneOf, not, dependencies and $ref) multiply to more than %d"+
			" evaluations: simplify them", options.Visits),
		Instance: n.place(), SchemaPath: ".",
	})
}
