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

// maxShown is how many edges of a cycle a message lists.
const maxShown = 100

// refuseCycles refuses the documents of the first cycle in each group of documents that need each other. The others of
// the group cannot be rendered because of these. If one of the group is secret, all are.
func (r *run) refuseCycles(g *needs) error {
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
func (g *needs) groups(m *budget.Meter) ([][]int32, error) {
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
func (g *needs) cycleFault(cycle []edge) *fault.Fault {
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
func (g *needs) arrows(cycle []edge) string {
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
func (g *needs) walk(found func(cycle []int)) {
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
