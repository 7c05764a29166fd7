package rendering

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/budget"
	"purser/internal/cycles"
	"purser/internal/document"
	"purser/internal/fault"
)

// ordering says which documents need which others first.
type ordering struct {
	nodes []*node // with dependencies or dependents, in the order of first mention
	edges []edge  // in the order in which they are found
}

// edge says that one document, by its place, needs another one.
type edge struct{ dependent, dependency int }

// newOrdering finds what documents need. Nothing is known of documents that have a cause.
func (r *run) newOrdering() *ordering {
	g := &ordering{}
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

func (g *ordering) enter(n *node) int {
	if n.place == notFound {
		n.place = len(g.nodes)
		g.nodes = append(g.nodes, n)
	}
	return n.place
}

// order sorts documents so that each comes after its dependencies: by repeatedly taking the documents without remaining
// dependents, in reverse; then documents outside the graph in the order of the input. It returns nil if there is a
// cycle.
func (g *ordering) order(nodes []*node) []*node {
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
	g := r.newOrdering()
	order := g.order(r.nodes)
	if order != nil {
		return order, nil
	}
	if err := r.refuseCycles(g); err != nil {
		return nil, err
	}
	return r.newOrdering().order(r.nodes), nil
}

// neighbours lists, for every place, where its edges lead, in the order in which they were found.
func (g *ordering) neighbours(direction func(edge) (from, to int)) [][]int {
	lists := make([][]int, len(g.nodes))
	for _, e := range g.edges {
		from, to := direction(e)
		lists[from] = append(lists[from], to)
	}
	return lists
}

// lineage returns the documents that the data of some documents depends on, and these, in the order of rendering.
func (r *run) lineage(order []*node, of func(*node) bool) (lineage []*node) {
	needed := map[*node]bool{}
	for _, n := range slices.Backward(order) {
		r.charge(lookupCost * (1 + len(n.substitutions)))
		if !needed[n] && !of(n) {
			continue
		}
		needed[n] = true
		for source := range r.takenFrom(n) {
			needed[source] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(order), func(n *node) bool { return !needed[n] })
}

// maxShown is how many edges of a cycle a message lists.
const maxShown = 100

// refuseCycles refuses the documents of the first cycle in each group of documents that need each other. The others of
// the group cannot be rendered because of these. If one of the group is secret, all are.
func (r *run) refuseCycles(g *ordering) error {
	groups, err := g.groups(r.budget())
	if err != nil {
		return fmt.Errorf("find cycles: %w", err)
	}
	group := make([]*[]int32, len(g.nodes)) // of each node in one
	for i, members := range groups {
		secret := false
		for _, at := range members {
			secret = secret || g.nodes[at].secret
		}
		for _, at := range members {
			group[at], g.nodes[at].secret = &groups[i], secret
		}
	}
	g.walk(func(cycle []int) {
		if g.nodes[cycle[0]].cause != nil {
			return // another cycle of the group
		}
		r.charge(faultCost)
		f := r.faults.keep(g.cycleFault(edgesOf(cycle)))
		for _, at := range *group[cycle[0]] {
			g.nodes[at].cause = f
		}
		for _, at := range cycle {
			g.nodes[at].failed = true
		}
	})
	return nil
}

// groups returns the groups of documents that need each other, one that needs itself included.
func (g *ordering) groups(m *budget.Meter) ([][]int32, error) {
	needs := make(cycles.Graph, len(g.nodes))
	var selves [][]int32
	for _, e := range g.edges {
		needs[e.dependent] = append(needs[e.dependent], int32(e.dependency)) //nolint:gosec // there are fewer documents
		if e.dependent == e.dependency {
			selves = append(selves, []int32{int32(e.dependent)}) //nolint:gosec // there are fewer documents
		}
	}
	groups, err := needs.Components(m)
	return slices.Concat(selves, groups), err
}

// cycleFault returns the fault for a cycle.
func (g *ordering) cycleFault(cycle []edge) *fault.Fault {
	var shown []string
	var documents []*node
	for _, e := range cycle[:min(maxShown, len(cycle))] {
		shown = append(shown, fmt.Sprintf("(%s, %s, 'reverse')", triple(g.nodes[e.dependent]), triple(g.nodes[e.dependency])))
		documents = append(documents, g.nodes[e.dependent])
	}
	if more := len(cycle) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	f := invalid("SubstitutionDependencyCycle", documents,
		"Cannot determine substitution order as a dependency cycle exists for the following documents: [%s]",
		strings.Join(shown, ", "))
	f.Messages[0].Message = "Cannot determine substitution order as a dependency cycle exists: " + g.arrows(cycle)
	if slices.ContainsFunc(cycle, func(e edge) bool { return g.nodes[e.dependent].secret }) {
		f.Secret, f.Messages[0].Secret = true, true
	}
	return f
}

// arrows lists the documents of a cycle, each before one that it needs, up to the first again.
func (g *ordering) arrows(cycle []edge) string {
	var b strings.Builder
	for i, e := range slices.Backward(cycle) {
		if len(cycle)-i > maxShown {
			b.WriteString("… → ")
			break
		}
		b.WriteString(g.nodes[e.dependent].String() + " → ")
	}
	return b.String() + g.nodes[cycle[0].dependency].String()
}

func triple(n *node) string {
	return fmt.Sprintf("(%s, %s, %s)", document.Quote(n.Schema), document.Quote(n.Layer), document.Quote(n.Name))
}

// walk calls a function for cycles, at least one of each group. It searches depth first, from each document to its
// dependents, until it reaches a document of the current path again.
func (g *ordering) walk(found func(cycle []int)) {
	neededBy := g.neighbours(func(e edge) (from, to int) { return e.dependency, e.dependent })
	onPath := make([]int, len(g.nodes)) // 1 + the position on the path
	next := make([]int, len(g.nodes))   // the neighbour to go to next; beyond the last one where all have been walked
	for start := range g.nodes {
		if next[start] > 0 {
			continue
		}
		path := []int{start}
		onPath[start] = 1
		for len(path) > 0 {
			at := path[len(path)-1]
			if next[at] == len(neededBy[at]) {
				path, onPath[at] = path[:len(path)-1], 0
				continue
			}
			to := neededBy[at][next[at]]
			next[at]++
			switch {
			case onPath[to] > 0:
				found(path[onPath[to]-1:])
			case next[to] == 0:
				path = append(path, to)
				onPath[to] = len(path)
			}
		}
	}
}

// edgesOf returns the edges of a cycle that was found against their direction.
func edgesOf(cycle []int) (edges []edge) {
	for i := range cycle {
		edges = append(edges, edge{dependent: cycle[(i+1)%len(cycle)], dependency: cycle[i]})
	}
	return edges
}
