package relations

import (
	"slices"
	"strings"

	"purser/internal/document/repr"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/graph"
	"purser/internal/rendering/meter"
)

// Graph returns how the documents depend on each other, with the problems that Examine reports.
func (s *Set) Graph() (*graph.Graph, error) {
	problems, err := s.Examine()
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
	return l.graph, l.graph.MarkCycles(l.Budget())
}

// linking builds a Graph. It resolves references as rendering does, and continues where rendering fails.
type linking struct {
	*Set

	graph    *graph.Graph    // with a vertex for each node
	selected map[*Node]found // by the children with ambiguous parents
	missing  map[string]int  // vertices of missing documents
}

// Memory of vertices and edges, in bytes.
const (
	vertexSize = 160
	edgeSize   = 96
)

// found are the first documents that a selector finds.
type found []*Node

// maxShownParents is how many of the documents that one selector finds are shown.
const maxShownParents = 10

func newLinking(s *Set) *linking {
	s.unlink()
	l := &linking{Set: s, graph: &graph.Graph{}, selected: map[*Node]found{}, missing: map[string]int{}}
	l.rank()
	return l
}

// rank also ranks documents in layers that no policy lists, after all others.
func (l *linking) rank() {
	inhabited := map[string]bool{}
	var appearing []string
	for _, n := range l.Nodes {
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
	for _, n := range l.Nodes {
		n.rank = ranks[n.Layer]
	}
}

func (l *linking) declaredLayers() layers {
	for _, n := range l.Nodes {
		if strings.HasPrefix(n.Schema, "deckhand/LayeringPolicy/") {
			return n.Layers
		}
	}
	return nil
}

// parents sets the parents of all documents, and then the replacements of parents.
func (l *linking) parents() error {
	f := newFamily(l.Meter, nil, l.Nodes, nil, false)
	for _, child := range f.children {
		if err := Stopped(l.Meter, child, ""); err != nil {
			return err
		}
		l.parent(f, child)
	}
	for _, n := range l.Nodes {
		if p := n.parent; l.replaces(n) && (p.replacedBy == nil || p.replacedBy.rank < n.rank) {
			p.replacedBy = n
		}
	}
	return nil
}

// replaces reports whether a document replaces its parent.
func (*linking) replaces(n *Node) bool {
	return n.Replacement && n.parent != nil && n.parent.Key() == n.Key()
}

// parent returns the candidate in the nearest layer above, or all candidates if it is ambiguous.
func (l *linking) parent(f *family, child *Node) {
	var all found
	var nearest *Node
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

func (l *linking) unordered(n *Node) bool { return n.rank >= len(l.graph.Layers) }

// dependencies creates the vertices and edges.
func (l *linking) dependencies() error {
	l.Hold(vertexSize * len(l.Nodes))
	for at, n := range l.Nodes {
		n.place = at
		l.graph.Vertices = append(l.graph.Vertices, vertexOf(n))
	}
	chooseSources(l.Nodes)
	for at, n := range l.Nodes {
		if n.replacedBy != nil {
			v := &l.graph.Vertices[at]
			v.Replaced, v.ReplacedBy = true, n.replacedBy.place
		}
		if err := Stopped(l.Meter, n, ""); err != nil {
			return err
		}
		l.descends(n)
		l.substitutes(n)
	}
	return nil
}

func vertexOf(n *Node) graph.Vertex {
	return graph.Vertex{
		Identity: n.Identity, Index: n.Index, Rank: n.rank,
		Abstract: n.Abstract, Control: n.Control, Replacement: n.Replacement, Encrypted: n.Encrypted, ReplacedBy: -1,
	}
}

// descends links a document with its parent.
func (l *linking) descends(n *Node) {
	edge := graph.Edge{From: n.place, Kind: graph.Parent}
	switch {
	case n.parent != nil:
		if edge.To = n.Ancestor().place; l.replaces(n) {
			edge.Kind = graph.Replacement
		}
	case len(l.selected[n]) > 0:
		edge.Doubtful = true
		for _, candidate := range l.selected[n] {
			edge.To = candidate.place
			l.graph.Edges = append(l.graph.Edges, edge)
		}
		return
	case len(n.Selector) > 0 && n.Layer != "":
		edge.To = l.absentParent(n)
	default:
		return
	}
	l.graph.Edges = append(l.graph.Edges, edge)
}

// substitutes links a document with the sources of its substitutions.
func (l *linking) substitutes(n *Node) {
	edges := map[int]int{} // by source
	for i := range n.Substitutions {
		s := &n.Substitutions[i]
		to := -1
		if source := l.sources.of(s.Source); source != nil {
			to = source.place
		} else if !n.Control { // into which nothing is substituted
			to = l.absent(graph.Vertex{Missing: graph.MissingSource}, s.Source, "")
		}
		if to < 0 {
			continue
		}
		at, known := edges[to]
		if !known {
			at = len(l.graph.Edges)
			edges[to] = at
			l.graph.Edges = append(l.graph.Edges, graph.Edge{From: n.place, To: to, Kind: graph.Substitution})
		}
		l.graph.Edges[at].Copies = append(l.graph.Edges[at].Copies, copied(s))
		l.Charge(2*meter.Lookup + meter.Copy*len(s.Destinations))
		l.Hold(2 * (edgeSize + meter.Word*len(s.Destinations)))
	}
}

func copied(s *declared.Substitution) graph.Copied {
	c := graph.Copied{From: s.Written}
	for _, d := range s.Destinations {
		c.To = append(c.To, d.Written)
	}
	return c
}

// absentParent is the placeholder of a missing parent; documents that select the same one share it.
func (l *linking) absentParent(child *Node) int {
	v := graph.Vertex{Missing: graph.MissingParent}
	var labels strings.Builder
	for _, wanted := range child.Selector {
		v.Selector = append(v.Selector, graph.Pair{Key: wanted.Key, Value: strings.TrimPrefix(wanted.Value, `"`)})
		labels.WriteString(repr.Quote(wanted.Key) + repr.Quote(wanted.Value))
	}
	l.Charge(meter.Lookup + meter.Rune*labels.Len())
	l.Hold(2*vertexSize + 2*labels.Len() + 4*meter.Word*len(child.Selector))
	return l.absent(v, declared.Key{Schema: child.Schema}, labels.String())
}

func (l *linking) absent(v graph.Vertex, k declared.Key, labels string) int {
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
