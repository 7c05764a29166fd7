package rendering

import (
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/words"
)

// Graph describes how documents depend on each other. Unlike a rendering it exists for inconsistent documents, too:
// missing documents have vertices, and ambiguous parents all have edges.
type Graph struct {
	Layers    []string // that have documents, from the most general to the most specific
	Unordered []string // layers that no LayeringPolicy puts in an order
	Vertices  []Vertex // the documents in the order of the input, then missing ones
	Edges     []Edge   // by the documents that depend on others
	Problems  []*fault.Fault
}

// Vertex is a document, or a missing one that others refer to.
type Vertex struct {
	document.Identity // of a missing parent only the schema

	Index       int // of the document in the input; -1 if it is missing
	Rank        int // of its layer, from the top, in Layers and then Unordered; -1 without a layer
	Abstract    bool
	Control     bool
	Replacement bool
	Encrypted   bool
	Replaced    bool
	ReplacedBy  int  // a vertex; -1 if there is none, or it is in another part of the graph
	Focused     bool // the graph is about this document
	Missing     Absence
	Selector    []Label // of a missing parent
}

// Label is a label with its value. In a Graph the value is JSON text unless it is a string.
type Label struct{ Key, Value string }

// Absence is the role of a missing document.
type Absence uint8

// The absences.
const (
	Present       Absence = iota
	MissingSource         // no concrete document has the schema and name that a substitution reads
	MissingParent         // a parentSelector selects no document
)

func (a Absence) String() string { return [...]string{"", "source", "parent"}[a] }

// Edge leads from a document to one that it depends on. There is one for each kind at most.
type Edge struct {
	From, To int // vertices
	Kind     Relation
	Cyclic   bool     // it is part of a cycle
	Doubtful bool     // of a parent: one of several that are selected, or one that cannot be it
	Copies   []Copied // of substitutions: the copied values, in the order of the metadata
}

// Relation is the kind of a dependency.
type Relation uint8

// The relations between documents.
const (
	Parent       Relation = iota // starts with the data of To, which is the parent or the parent's replacement
	Replacement                  // that too, and stands in for To
	Substitution                 // takes values out of To
)

func (r Relation) String() string { return [...]string{"parent", "replacement", "substitution"}[r] }

// Copied is the source path and the destination paths of a substitution.
type Copied struct {
	From string
	To   []string
}

// Focus returns the part of a graph around a document: its direct and indirect dependencies and dependents up to depth
// edges away, and the edges between these. The document is named by its name, as schema/name, both of
// which several documents may have, or as schema/name/layer; a missing one can be named too. Fault: NotFound.
//
// It does not change direction on the way, so documents that only share a source are left out.
func (g *Graph) Focus(name string, depth int) (*Graph, error) {
	var at []int
	for i, v := range g.Vertices {
		if full := v.Schema + "/" + v.Name; name == v.Name || name == full || name == full+"/"+v.Layer {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil, fault.New(fault.NotFound, "DocumentNotFound", "There is no document %q that could be in focus; name it "+
			"by its name, or as in example/Kind/v1/name, with its layer behind that if there are several",
			words.Excerpt(name))
	}
	kept := make([]bool, len(g.Vertices))
	g.reach(kept, at, depth, func(e Edge) (from, to int) { return e.From, e.To })
	g.reach(kept, at, depth, func(e Edge) (from, to int) { return e.To, e.From })
	part, moved := g.part(kept)
	for _, i := range at {
		part.Vertices[moved[i]].Focused = true
	}
	return part, nil
}

// reach marks vertices within a number of edges.
func (g *Graph) reach(kept []bool, from []int, depth int, direction func(Edge) (from, to int)) {
	neighbours := make([][]int, len(g.Vertices))
	for _, e := range g.Edges {
		from, to := direction(e)
		neighbours[from] = append(neighbours[from], to)
	}
	seen := make([]bool, len(g.Vertices))
	for _, v := range from {
		seen[v], kept[v] = true, true
	}
	for ; depth > 0 && len(from) > 0; depth-- {
		var next []int
		for _, v := range from {
			for _, to := range neighbours[v] {
				if !seen[to] {
					seen[to], kept[to] = true, true
					next = append(next, to)
				}
			}
		}
		from = next
	}
}

// part is the graph of some vertices, with where each vertex is in it. Its problems are those of the whole.
func (g *Graph) part(kept []bool) (part *Graph, moved []int) {
	part = &Graph{Layers: g.Layers, Unordered: g.Unordered, Problems: g.Problems}
	moved = make([]int, len(g.Vertices))
	for i, v := range g.Vertices {
		if moved[i] = -1; kept[i] {
			moved[i] = len(part.Vertices)
			part.Vertices = append(part.Vertices, v)
		}
	}
	for i := range part.Vertices {
		if by := part.Vertices[i].ReplacedBy; by >= 0 {
			part.Vertices[i].ReplacedBy = moved[by]
		}
	}
	for _, e := range g.Edges {
		if kept[e.From] && kept[e.To] {
			e.From, e.To = moved[e.From], moved[e.To]
			part.Edges = append(part.Edges, e)
		}
	}
	return part, moved
}
