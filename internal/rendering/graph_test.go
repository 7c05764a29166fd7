package rendering

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
)

// linked returns a graph of vertices that are named by letters, with an edge for each pair of them.
func linked(vertices string, edges ...string) *Graph {
	g := &Graph{}
	at := map[byte]int{}
	for i := range len(vertices) {
		at[vertices[i]] = i
		g.Vertices = append(g.Vertices, Vertex{Identity: document.Identity{Schema: "s", Name: vertices[i : i+1]}, ReplacedBy: -1})
	}
	for _, e := range edges {
		g.Edges = append(g.Edges, Edge{From: at[e[0]], To: at[e[1]]})
	}
	return g
}

func TestGraph_MarkCycles(t *testing.T) {
	t.Parallel()
	g := linked("abcdefg", "ab", "bc", "ca", "cd", "de", "ed", "ff", "fg")
	if err := g.markCycles(budget.NewMeter(t.Context())); err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, e := range g.Edges {
		got = append(got, e.Cyclic)
	}
	if diff := cmp.Diff([]bool{true, true, true, false, true, true, true, false}, got); diff != "" {
		t.Errorf("cyclic (-want +got):\n%s", diff)
	}
}

// The edges of a part lead to its own vertices.
func TestGraph_Focus_depth(t *testing.T) {
	t.Parallel()
	g := linked("abcdx", "ab", "bc", "cd", "xb")
	g.Vertices[0].ReplacedBy, g.Vertices[1].ReplacedBy = 1, 0
	part, err := g.Focus("s/b", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := linked("abcx", "ab", "bc", "xb")
	want.Vertices[0].ReplacedBy, want.Vertices[1].ReplacedBy, want.Vertices[1].Focused = 1, 0, true
	if diff := cmp.Diff(want, part); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if part, err := g.Focus("s/d", 0); err != nil || len(part.Vertices) != 1 || len(part.Edges) != 0 {
		t.Errorf("alone: %v, %v", part, err)
	}
}
