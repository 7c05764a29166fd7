package graph

// MarkCycles marks the edges between documents that need each other, and those from a document to itself: an edge is
// part of a cycle if both of its ends are strongly connected (Tarjan's algorithm, without recursion). Doubtful parents
// are none yet.
func (g *Graph) MarkCycles() {
	t := newTarjan(g)
	for v := range g.Vertices {
		if t.found[v] == 0 {
			t.walk(v)
		}
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		e.Cyclic = !e.Doubtful && t.component[e.From] == t.component[e.To]
	}
}

type tarjan struct {
	needs     [][]int // the vertices that each one needs
	found     []int   // when a vertex was found, from 1; 0 if it was not yet
	low       []int   // the earliest that is reached from a vertex
	component []int   // from 1; 0 while it is open
	next      []int   // the neighbour to go to next
	open      []int   // vertices without a component
	clock     int
	closed    int
}

func newTarjan(g *Graph) *tarjan {
	n := len(g.Vertices)
	t := &tarjan{
		needs: make([][]int, n), found: make([]int, n), low: make([]int, n),
		component: make([]int, n), next: make([]int, n),
	}
	for _, e := range g.Edges {
		if !e.Doubtful {
			t.needs[e.From] = append(t.needs[e.From], e.To)
		}
	}
	return t
}

func (t *tarjan) enter(v int) {
	t.clock++
	t.found[v], t.low[v] = t.clock, t.clock
	t.open = append(t.open, v)
}

// walk visits all vertices reachable from a vertex.
func (t *tarjan) walk(start int) {
	t.enter(start)
	for path := []int{start}; len(path) > 0; {
		v := path[len(path)-1]
		if t.next[v] == len(t.needs[v]) {
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				t.low[up] = min(t.low[up], t.low[v])
			}
			if t.low[v] == t.found[v] {
				t.close(v)
			}
			continue
		}
		to := t.needs[v][t.next[v]]
		t.next[v]++
		switch {
		case t.found[to] == 0:
			t.enter(to)
			path = append(path, to)
		case t.component[to] == 0:
			t.low[v] = min(t.low[v], t.found[to])
		}
	}
}

// close makes a component of the vertices found since a vertex.
func (t *tarjan) close(v int) {
	t.closed++
	for {
		last := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.component[last] = t.closed
		if last == v {
			return
		}
	}
}
