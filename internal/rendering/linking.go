package rendering

import (
	"slices"
	"strings"

	"purser/internal/document/repr"
)

// linkGraph returns how the documents depend on each other, with the problems that Examine reports.
func (s *relationSet) linkGraph() (*Graph, error) {
	problems, err := s.examine()
	if err != nil {
		return nil, err
	}
	l := newLinking(s)
	if err := l.parents(); err != nil {
		return nil, err
	}
	if err := l.dependencies(); err != nil {
		return nil, err
	}
	l.graph.Problems = problems
	return l.graph, l.graph.markCycles(l.budget())
}

// linking builds a Graph. It resolves references as rendering does, and continues where rendering fails.
type linking struct {
	*relationSet

	graph    *Graph          // with a vertex for each node
	selected map[*node]found // by the children with ambiguous parents
	missing  map[string]int  // vertices of missing documents
}

// Memory of vertices and edges, in bytes.
const (
	vertexSize = 160
	edgeSize   = 96
)

// found are the first documents that a selector finds.
type found []*node

// maxShownParents is how many of the documents that one selector finds are shown.
const maxShownParents = 10

func newLinking(s *relationSet) *linking {
	s.unlink()
	l := &linking{relationSet: s, graph: &Graph{}, selected: map[*node]found{}, missing: map[string]int{}}
	l.rank()
	return l
}

// rank also ranks documents in layers that no policy lists, after all others.
func (l *linking) rank() {
	inhabited := map[string]bool{}
	var appearing []string
	for _, n := range l.nodes {
		if n.Layer != "" && !inhabited[n.Layer] {
			inhabited[n.Layer] = true
			appearing = append(appearing, n.Layer)
		}
	}
	isDeclared := map[string]bool{}
	for _, layer := range l.declaredLayers() {
		if inhabited[layer] && !isDeclared[layer] {
			l.graph.Layers = append(l.graph.Layers, layer)
		}
		isDeclared[layer] = true
	}
	l.graph.Unordered = slices.DeleteFunc(appearing, func(layer string) bool { return isDeclared[layer] })
	ranks := map[string]int{"": -1}
	for rank, layer := range slices.Concat(l.graph.Layers, l.graph.Unordered) {
		ranks[layer] = rank
	}
	for _, n := range l.nodes {
		n.rank = ranks[n.Layer]
	}
}

func (l *linking) declaredLayers() layers {
	for _, n := range l.nodes {
		if strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy/") {
			return n.layers
		}
	}
	return nil
}

// parents sets the parents of all documents, and then the replacements of parents.
func (l *linking) parents() error {
	f := newFamily(l.meter, nil, l.nodes, nil, false)
	for _, child := range f.children {
		if err := stoppedAt(l.meter, child, ""); err != nil {
			return err
		}
		l.parent(f, child)
	}
	for _, n := range l.nodes {
		if p := n.parent; l.replaces(n) && (p.replacedBy == nil || p.replacedBy.rank < n.rank) {
			p.replacedBy = n
		}
	}
	return nil
}

// replaces reports whether a document replaces its parent.
func (*linking) replaces(n *node) bool {
	return n.replacement && n.parent != nil && n.parent.sourceKey() == n.sourceKey()
}

// parent returns the candidate in the nearest layer above, or all candidates if it is ambiguous.
func (l *linking) parent(f *family, child *node) {
	var all found
	var nearest *node
	doubt := l.unordered(child)
	for _, candidate := range f.sorted(f.candidates(child)) {
		if !f.matches(child, candidate) {
			continue
		}
		doubt = doubt || l.unordered(candidate) || !fits(child, candidate) ||
			nearest != nil && nearest.rank == candidate.rank
		nearest = candidate
		if len(all) < maxShownParents {
			all = append(all, candidate)
		}
	}
	if doubt {
		l.selected[child] = all
	} else {
		child.parent = nearest
	}
}

func (l *linking) unordered(n *node) bool { return n.rank >= len(l.graph.Layers) }

// dependencies creates the vertices and edges.
func (l *linking) dependencies() error {
	l.hold(vertexSize * len(l.nodes))
	for at, n := range l.nodes {
		n.place = at
		l.graph.Vertices = append(l.graph.Vertices, vertexOf(n))
	}
	chooseSources(l.nodes)
	for at, n := range l.nodes {
		if n.replacedBy != nil {
			v := &l.graph.Vertices[at]
			v.Replaced, v.ReplacedBy = true, n.replacedBy.place
		}
		if err := stoppedAt(l.meter, n, ""); err != nil {
			return err
		}
		l.descends(n)
		l.substitutes(n)
	}
	return nil
}

func vertexOf(n *node) Vertex {
	return Vertex{
		Identity: n.Identity, Index: n.index, Rank: n.rank,
		Abstract: n.abstract, Control: n.control, Replacement: n.replacement, Encrypted: n.encrypted, ReplacedBy: -1,
	}
}

// descends links a document with its parent.
func (l *linking) descends(n *node) {
	edge := Edge{From: n.place, Kind: Parent}
	switch {
	case n.parent != nil:
		if edge.To = n.ancestor().place; l.replaces(n) {
			edge.Kind = Replacement
		}
	case len(l.selected[n]) > 0:
		edge.Doubtful = true
		for _, candidate := range l.selected[n] {
			edge.To = candidate.place
			l.graph.Edges = append(l.graph.Edges, edge)
		}
		return
	case len(n.selector) > 0 && n.Layer != "":
		edge.To = l.absentParent(n)
	default:
		return
	}
	l.graph.Edges = append(l.graph.Edges, edge)
}

// substitutes links a document with the sources of its substitutions.
func (l *linking) substitutes(n *node) {
	edges := map[int]int{} // by source
	for i := range n.substitutions {
		s := &n.substitutions[i]
		to := -1
		if source := l.sources.of(s.source); source != nil {
			to = source.place
		} else if !n.control { // into which nothing is substituted
			to = l.absent(Vertex{Missing: MissingSource}, s.source, "")
		}
		if to < 0 {
			continue
		}
		at, known := edges[to]
		if !known {
			at = len(l.graph.Edges)
			edges[to] = at
			l.graph.Edges = append(l.graph.Edges, Edge{From: n.place, To: to, Kind: Substitution})
		}
		l.graph.Edges[at].Copies = append(l.graph.Edges[at].Copies, copied(s))
		l.charge(2*lookupCost + copyCost*len(s.destinations))
		l.hold(2 * (edgeSize + wordSize*len(s.destinations)))
	}
}

func copied(s *substitution) Copied {
	c := Copied{From: s.written}
	for _, d := range s.destinations {
		c.To = append(c.To, d.written)
	}
	return c
}

// absentParent is the placeholder of a missing parent; documents that select the same one share it.
func (l *linking) absentParent(child *node) int {
	v := Vertex{Missing: MissingParent}
	var labels strings.Builder
	for _, wanted := range child.selector {
		v.Selector = append(v.Selector, Label{Key: wanted.key, Value: strings.TrimPrefix(wanted.value, `"`)})
		labels.WriteString(repr.Quote(wanted.key) + repr.Quote(wanted.value))
	}
	l.charge(lookupCost + runeCost*labels.Len())
	l.hold(2*vertexSize + 2*labels.Len() + 4*wordSize*len(child.selector))
	return l.absent(v, Key{Schema: child.Schema}, labels.String())
}

func (l *linking) absent(v Vertex, k Key, labels string) int {
	id := strings.Join([]string{k.Schema, k.Name, labels}, "\x00")
	at, known := l.missing[id]
	if !known {
		at = len(l.graph.Vertices)
		l.missing[id] = at
		v.Schema, v.Name, v.Index, v.Rank, v.ReplacedBy = k.Schema, k.Name, -1, -1, -1
		l.graph.Vertices = append(l.graph.Vertices, v)
	}
	return at
}
