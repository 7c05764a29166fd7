package cycles

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/budget"
)

func TestGraph_Find(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		graph  Graph
		most   int
		want   [][]int32
		groups int
	}{
		"none":           {Graph{{1, 2}, {2}, {}}, 9, nil, 0},
		"to itself":      {Graph{{0}}, 9, nil, 0},
		"the shortest":   {Graph{{1, 3}, {2}, {0}, {0}}, 9, [][]int32{{0, 3}}, 1},
		"two":            {Graph{{1}, {0, 2}, {3}, {2}}, 9, [][]int32{{2, 3}, {0, 1}}, 2},
		"the first only": {Graph{{1}, {0, 2}, {3}, {2}}, 1, [][]int32{{2, 3}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, groups, err := c.graph.Find(budget.NewMeter(t.Context()), c.most)
			if diff := cmp.Diff(c.want, found); diff != "" || groups != c.groups || err != nil {
				t.Errorf("%d groups, want %d, error %v; cycles (-want +got):\n%s", groups, c.groups, err, diff)
			}
		})
	}
}

// What is found are cycles, and if nothing is found there is an order of the nodes.
func TestGraph_Find_laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(r, "nodes")
		graph := make(Graph, n)
		for range rapid.IntRange(0, 2*n).Draw(r, "edges") {
			from, to := rapid.IntRange(0, n-1).Draw(r, "from"), rapid.Int32Range(0, int32(n)-1).Draw(r, "to")
			if int(to) != from {
				graph[from] = append(graph[from], to)
			}
		}
		found, groups, err := graph.Find(budget.NewMeter(t.Context()), n)
		if err != nil || len(found) != groups {
			r.Fatalf("%d cycles of %d groups, error %v", len(found), groups, err)
		}
		for _, path := range found {
			for i, node := range path {
				next, leads := path[(i+1)%len(path)], false
				for _, to := range graph[node] {
					leads = leads || to == next
				}
				if !leads {
					r.Errorf("%v is no cycle: no edge leads from %d to %d", path, node, next)
				}
			}
		}
		if sorted := sortable(graph); sorted != (groups == 0) {
			r.Errorf("%d groups, but the nodes can be sorted: %v", groups, sorted)
		}
	})
}

// sortable reports whether nodes can be removed one by one, each when no edge leads to it from one that remains.
func sortable(graph Graph) bool {
	into := make([]int, len(graph))
	for _, next := range graph {
		for _, to := range next {
			into[to]++
		}
	}
	removed := 0
	for again := true; again; {
		again = false
		for node := range graph {
			if into[node] != 0 {
				continue
			}
			into[node], again = -1, true
			removed++
			for _, to := range graph[node] {
				into[to]--
			}
		}
	}
	return removed == len(graph)
}
