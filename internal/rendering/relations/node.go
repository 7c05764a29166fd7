package relations

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/declared"
)

// Node is a document with its relations to others.
type Node struct {
	document.Identity
	*declared.Metadata

	Document *document.Document
	Index    int // in the input
	// Secret reports whether the document is encrypted, or takes something from one that is.
	Secret bool
	// Cause is why the document does not render, nil if it does: a fault of its own (Failed), or of another document that
	// decides what it is rendered from.
	Cause  *fault.Fault
	Failed bool
	// Orphan reports whether the document has a layer and selects a parent, and there is none.
	Orphan bool

	rank       int   // of its layer, from the top; -1 without a layer, the number of layers in an unknown one
	position   int   // among all with a layer: from the top layer down, then as in the input
	parent     *Node // the document it inherits from
	replacedBy *Node
	namesakes  *namesakes
	twin       *Node // another one of its schema and name
	place      int   // in the graph; notFound until it is mentioned
	neededBy   *Node // the last one that got an edge to it
	origin     *Node // see Origin; nil until it is asked for
	lacking    bool  // a substitution has no source; unknown of nodes that have a Cause
}

// notFound is the place of a node outside of the graph.
const notFound = -1

// unlink forgets the relations to other documents.
func (n *Node) unlink() {
	n.parent, n.replacedBy, n.neededBy, n.origin, n.Cause = nil, nil, nil, nil, nil
	n.rank, n.place, n.Secret, n.Failed, n.Orphan, n.lacking = -1, notFound, n.Encrypted, false, false, false
}

// Key returns the key of substitutions from the document.
func (n *Node) Key() declared.Key { return declared.Key{Schema: n.Schema, Name: n.Name} }

// Brief names a document without its layer, as some of the reference's messages do.
func (n *Node) Brief() string { return fmt.Sprintf("[%s] %s", n.Schema, n.Name) }

// Layered reports whether the document inherits its parent's data.
func (n *Node) Layered() bool { return n.parent != nil && len(n.Actions) > 0 && !n.Control }

// Changes reports whether the document's data is computed.
func (n *Node) Changes() bool { return n.Layered() || len(n.Substitutions) > 0 && !n.Control }

// Returned reports whether services read the document.
func (n *Node) Returned() bool { return !n.Abstract && n.replacedBy == nil }

// Ancestor returns the document whose data is inherited: the parent, or the parent's replacement. There must be a
// parent.
func (n *Node) Ancestor() *Node {
	if by := n.parent.replacedBy; by != nil && by != n {
		return by
	}
	return n.parent
}

// Origin returns the document that the reference names as the parent: ancestors that only pass on inherited data are
// skipped.
func (n *Node) Origin() *Node {
	if n.origin == nil {
		if n.origin = n.parent; n.origin.Layered() && len(n.origin.Substitutions) == 0 {
			n.origin = n.origin.Origin()
		}
	}
	return n.origin
}
