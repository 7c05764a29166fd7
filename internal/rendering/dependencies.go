package rendering

import (
	"context"
	"strings"

	"purser/internal/budget"
	"purser/internal/cycles"
	"purser/internal/document"
)

// Dependencies returns how the documents of one revision depend on each other, with the problems that Examine reports.
// Of documents with one identity only the first counts.
//
// Fault: TooLarge if a limit is exceeded. If the context ends, the error is its cause.
func Dependencies(ctx context.Context, documents []*document.Document) (*Graph, error) {
	r := newRun(ctx, documents, Options{})
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	_, problems, err := r.order(true)
	if err != nil {
		return nil, err
	}
	r.unlink()
	l := &linking{run: r, graph: &Graph{Problems: problems}, selected: map[*node][]*node{}, missing: map[string]int{}}
	l.rankUnordered()
	if err := l.parents(); err != nil {
		return nil, err
	}
	if err := l.dependencies(); err != nil {
		return nil, err
	}
	return l.graph, l.graph.markCycles(l.budget())
}

// linking builds a Graph. It resolves references as rendering does, and continues where rendering fails.
type linking struct {
	*run

	graph    *Graph            // with a vertex for each node
	selected map[*node][]*node // the first documents that the selectors of children with ambiguous parents find
	missing  map[string]int    // vertices of missing documents
}

// Memory of vertices and edges, in bytes.
const (
	vertexSize = 160
	edgeSize   = 96
)

// maxShownParents is how many of the documents that one selector finds are shown.
const maxShownParents = 10

// rankUnordered ranks documents in layers that the LayeringPolicy does not list after all others.
func (l *linking) rankUnordered() {
	var declared layers
	if policy := l.policy(); policy != nil {
		declared = policy.layers
	}
	l.graph.Layers = l.rank(declared)
	ranks := map[string]int{}
	for _, n := range l.nodes {
		if n.Layer == "" || !l.unordered(n) {
			continue
		}
		rank, known := ranks[n.Layer]
		if !known {
			rank = len(l.graph.Layers) + len(l.graph.Unordered)
			ranks[n.Layer] = rank
			l.graph.Unordered = append(l.graph.Unordered, n.Layer)
		}
		n.rank = rank
	}
}

// parents sets the parents of all documents, and then the replacements of parents.
func (l *linking) parents() error {
	f := l.newFamily(nil)
	for _, child := range f.children {
		if err := l.stopped(child, ""); err != nil {
			return err
		}
		l.parent(f, child)
	}
	for _, n := range l.nodes {
		if n.replaces() {
			n.replaceParent()
		}
	}
	return nil
}

// parent returns the candidate in the nearest layer above, or all candidates if it is ambiguous.
func (l *linking) parent(f *family, child *node) {
	var all []*node
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
		l.graph.Vertices = append(l.graph.Vertices, Vertex{
			Identity: n.Identity, Index: n.index, Rank: n.rank, Abstract: n.abstract, Control: n.control,
			Replacement: n.replacement, Encrypted: n.encrypted, ReplacedBy: -1,
		})
	}
	chooseSources(l.nodes)
	for at, n := range l.nodes {
		if n.replacedBy != nil {
			v := &l.graph.Vertices[at]
			v.Replaced, v.ReplacedBy = true, n.replacedBy.place
		}
		if err := l.stopped(n, ""); err != nil {
			return err
		}
		l.descends(n)
		l.substitutes(n)
	}
	return nil
}

// descends links a document with its parent.
func (l *linking) descends(n *node) {
	edge := Edge{From: n.place, Kind: Parent}
	switch {
	case n.parent != nil:
		if edge.To = n.ancestor().place; n.replaces() {
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
		copied := Copied{From: s.written}
		for _, d := range s.destinations {
			copied.To = append(copied.To, d.written)
		}
		l.graph.Edges[at].Copies = append(l.graph.Edges[at].Copies, copied)
		l.charge(2*lookupCost + copyCost*len(s.destinations))
		l.hold(2 * (edgeSize + wordSize*len(s.destinations)))
	}
}

// absentParent is the placeholder of a missing parent; documents that select the same one share it.
func (l *linking) absentParent(child *node) int {
	v := Vertex{Missing: MissingParent}
	var labels strings.Builder
	for _, wanted := range child.selector {
		v.Selector = append(v.Selector, Label{Key: wanted.key, Value: strings.TrimPrefix(wanted.value, `"`)})
		labels.WriteString(document.Quote(wanted.key) + document.Quote(wanted.value))
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

// Needs describe the documents that decide how others are rendered.
type Needs struct {
	// Keys are the schemas and names of the sources of substitutions, and of documents that replace each other.
	Keys    []Key
	Parents []Selector // each selects the possible parents of a document
}

// Selector selects the documents of a schema that have all of the labels.
type Selector struct {
	Schema string
	Labels []Label
}

// NeedsOf returns what the rendering of documents needs, as their metadata declares it. What is found may have needs in
// turn. If a whole revision renders, then documents with all of these and the LayeringPolicies render in the same way
// without the others. ok is false if a selector has a value that is not a string, which may equal other values.
func NeedsOf(ctx context.Context, documents []*document.Document) (needs Needs, ok bool, err error) {
	r := newRun(ctx, documents, Options{})
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return needs, false, err
	}
	for _, n := range r.nodes {
		r.charge(lookupCost * (1 + len(n.substitutions) + len(n.selector)))
		needs.Keys = append(needs.Keys, n.nameKey())
		for i := range n.substitutions {
			needs.Keys = append(needs.Keys, n.substitutions[i].source)
		}
		if len(n.selector) == 0 {
			continue
		}
		parent := Selector{Schema: n.Schema}
		for _, wanted := range n.selector {
			text, isText := wanted.text()
			if !isText {
				return Needs{}, false, nil
			}
			parent.Labels = append(parent.Labels, Label{wanted.key, text})
		}
		needs.Parents = append(needs.Parents, parent)
	}
	return needs, true, r.check()
}
