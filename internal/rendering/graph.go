package rendering

import (
	"purser/internal/document"
	"purser/internal/fault"
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
