package rendering

import (
	"purser/internal/budget"
	"purser/internal/cycles"
)

// markCycles marks the edges between documents that need each other, and those from a document to itself: an edge is
// part of a cycle if both of its ends are strongly connected. Doubtful parents are none yet. The only errors are those
// of meter.
func (g *Graph) markCycles(meter *budget.Meter) error {
	needs := make(cycles.Graph, len(g.Vertices))
	for _, e := range g.Edges {
		if !e.Doubtful {
			needs[e.From] = append(needs[e.From], int32(e.To)) //nolint:gosec // there are fewer documents
		}
	}
	components, err := needs.Components(meter)
	if err != nil {
		return err
	}
	component := make([]int, len(g.Vertices)) // from 1; 0 for a vertex that is alone
	for i, vertices := range components {
		for _, v := range vertices {
			component[v] = i + 1
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		isTogether := component[e.From] > 0 && component[e.From] == component[e.To]
		e.Cyclic = !e.Doubtful && (e.From == e.To || isTogether)
	}
	return nil
}
