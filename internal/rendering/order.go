package rendering

import (
	"slices"
)

// needs says which documents need which others first.
type needs struct {
	nodes []*node // with dependencies or dependents, in the order of first mention
	edges []edge  // in the order in which they are found
}

// edge says that one document, by its place, needs another one.
type edge struct{ dependent, dependency int }

// newNeeds finds what documents need. Nothing is known of documents that have a cause.
func (r *run) newNeeds() *needs {
	g := &needs{}
	need := func(dependent, dependency *node) {
		if dependency.neededBy != dependent && dependency.cause == nil { // all edges of a document are found in one go
			dependency.neededBy = dependent
			g.edges = append(g.edges, edge{g.enter(dependent), g.enter(dependency)})
		}
	}
	for _, n := range r.nodes {
		n.place, n.neededBy = notFound, nil
	}
	for _, n := range r.nodes {
		if n.cause != nil {
			continue
		}
		r.charge(lookupCost * (1 + 2*len(n.substitutions)))
		if n.parent != nil {
			need(n, n.ancestor())
		}
		for i := range n.substitutions {
			source := r.source(n, i)
			if n.lacking = n.lacking || source == nil; source != nil {
				need(n, source)
			}
		}
	}
	return g
}

func (g *needs) enter(n *node) int {
	if n.place == notFound {
		n.place = len(g.nodes)
		g.nodes = append(g.nodes, n)
	}
	return n.place
}

// order sorts documents so that each comes after its dependencies: by repeatedly taking the documents without remaining
// dependents, in reverse; then documents outside the graph in the order of the input. It returns nil if there is a
// cycle.
func (g *needs) order(nodes []*node) []*node {
	needs := g.neighbours(func(e edge) (from, to int) { return e.dependent, e.dependency })
	dependents := make([]int, len(g.nodes))
	for _, e := range g.edges {
		dependents[e.dependency]++
	}
	sorted := make([]int, 0, len(g.nodes))
	for at, n := range dependents {
		if n == 0 {
			sorted = append(sorted, at)
		}
	}
	for i := 0; i < len(sorted); i++ {
		for _, needed := range needs[sorted[i]] {
			if dependents[needed]--; dependents[needed] == 0 {
				sorted = append(sorted, needed)
			}
		}
	}
	if len(sorted) < len(g.nodes) {
		return nil
	}
	ordered := make([]*node, 0, len(nodes))
	for _, at := range slices.Backward(sorted) {
		ordered = append(ordered, g.nodes[at])
	}
	for _, n := range nodes {
		if n.place == notFound {
			ordered = append(ordered, n)
		}
	}
	return ordered
}

// sorted brings the documents into the order in which they can be computed. It refuses those in cycles.
func (r *run) sorted() ([]*node, error) {
	g := r.newNeeds()
	order := g.order(r.nodes)
	if order != nil {
		return order, nil
	}
	if err := r.refuseCycles(g); err != nil {
		return nil, err
	}
	return r.newNeeds().order(r.nodes), nil
}

// neighbours lists, for every place, where its edges lead, in the order in which they were found.
func (g *needs) neighbours(direction func(edge) (from, to int)) [][]int {
	lists := make([][]int, len(g.nodes))
	for _, e := range g.edges {
		from, to := direction(e)
		lists[from] = append(lists[from], to)
	}
	return lists
}
