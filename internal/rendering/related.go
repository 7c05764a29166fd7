package rendering

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// node is a document with its relations to others.
type node struct {
	document.Identity
	*metadata

	document *document.Document
	index    int // in the input
	// Secret reports whether the document is encrypted, or takes something from one that is.
	secret bool
	// Cause is why the document does not render, nil if it does: a fault of its own (Failed), or of another document that
	// decides what it is rendered from.
	cause  *fault.Fault
	failed bool
	// Orphan reports whether the document has a layer and selects a parent, and there is none.
	orphan bool

	rank         int   // of its layer, from the top; -1 without a layer, the number of layers in an unknown one
	position     int   // among all with a layer: from the top layer down, then as in the input
	parent       *node // the document it inherits from
	replacedBy   *node
	namesakes    *namesakes
	twin         *node // another one of its schema and name
	place        int   // in the graph; notFound until it is mentioned
	neededBy     *node // the last one that got an edge to it
	cachedOrigin *node // see Origin; nil until it is asked for
	lacking      bool  // a substitution has no source; unknown of nodes that have a Cause
}

// unplaced is the place of a node outside of the graph.
const unplaced = -1

// unlink forgets the relations to other documents.
func (n *node) unlink() {
	n.parent, n.replacedBy, n.neededBy, n.cachedOrigin, n.cause = nil, nil, nil, nil, nil
	n.rank, n.place, n.secret, n.failed, n.orphan, n.lacking = -1, unplaced, n.encrypted, false, false, false
}

// sourceKey returns the key of substitutions from the document.
func (n *node) sourceKey() Key { return Key{Schema: n.Schema, Name: n.Name} }

// brief names a document without its layer, as some of the reference's messages do.
func (n *node) brief() string { return fmt.Sprintf("[%s] %s", n.Schema, n.Name) }

// layered reports whether the document inherits its parent's data.
func (n *node) layered() bool { return n.parent != nil && len(n.actions) > 0 && !n.control }

// changes reports whether the document's data is computed.
func (n *node) changes() bool { return n.layered() || len(n.substitutions) > 0 && !n.control }

// returned reports whether services read the document.
func (n *node) returned() bool { return !n.abstract && n.replacedBy == nil }

// ancestor returns the document whose data is inherited: the parent, or the parent's replacement. There must be a
// parent.
func (n *node) ancestor() *node {
	if by := n.parent.replacedBy; by != nil && by != n {
		return by
	}
	return n.parent
}

// origin returns the document that the reference names as the parent: ancestors that only pass on inherited data are
// skipped.
func (n *node) origin() *node {
	if n.cachedOrigin == nil {
		if n.cachedOrigin = n.parent; n.cachedOrigin.layered() && len(n.cachedOrigin.substitutions) == 0 {
			n.cachedOrigin = n.cachedOrigin.origin()
		}
	}
	return n.cachedOrigin
}
