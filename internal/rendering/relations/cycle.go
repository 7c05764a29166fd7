package relations

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document/repr"
)

// maxShown is how many edges of a cycle a message lists.
const maxShown = 100

// cycleFault returns the fault for one of the cycles of a graph (spec/rendering.md §7.2).
func (g *needs) cycleFault() error {
	cycle := g.cycle()
	var shown []string
	var documents []*Node
	for _, e := range cycle[:min(maxShown, len(cycle))] {
		shown = append(shown, fmt.Sprintf("(%s, %s, 'reverse')", triple(g.nodes[e.dependent]), triple(g.nodes[e.dependency])))
		documents = append(documents, g.nodes[e.dependent])
	}
	if more := len(cycle) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	f := Refuse("SubstitutionDependencyCycle", documents,
		"Cannot determine substitution order as a dependency cycle exists for the following documents: [%s]",
		strings.Join(shown, ", "))
	f.Messages[0].Message = "Cannot determine substitution order as a dependency cycle exists: " + g.arrows(cycle)
	if slices.ContainsFunc(cycle, func(e edge) bool { return g.nodes[e.dependent].Secret }) {
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

func triple(n *Node) string {
	return fmt.Sprintf("(%s, %s, %s)", repr.Quote(n.Schema), repr.Quote(n.Layer), repr.Quote(n.Name))
}

// cycle searches depth first, from each document to its dependents, until it reaches a document of the current path
// again.
func (g *needs) cycle() []edge {
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
				return edgesOf(append(path[onPath[to]-1:], to))
			case next[to] == 0:
				path = append(path, to)
				onPath[to] = len(path)
			}
		}
	}
	return nil
}

// edgesOf returns the edges of a path that was found against their direction.
func edgesOf(path []int) (edges []edge) {
	for i := 1; i < len(path); i++ {
		edges = append(edges, edge{dependent: path[i], dependency: path[i-1]})
	}
	return edges
}
