package rendering

import (
	"fmt"
	"iter"

	"purser/internal/document"
	"purser/internal/fault"
)

// node is a document with its relations to others and its data so far.
type node struct {
	document.Identity
	*metadata
	links
	made

	document  *document.Document
	index     int // in the input
	namesakes *namesakes
	twin      *node // another one of its schema and name

	data     any  // its own data, later the rendered data
	read     bool // data is set
	computed bool
	done     bool            // it was computed to the end, or refused
	digest   document.Digest // see digestOf; zero until it is needed
	key      document.Digest // see setKey
	takenBy  *node           // the last one in whose allowance it was counted
	history  *history        // nil unless a document is explained
}

// nodeSize is the memory of a node and its entries in maps, in bytes.
const nodeSize = 704

// links are the relations of a document to others.
type links struct {
	// secret reports whether the document is encrypted, or takes something from one that is.
	secret bool
	// cause is why the document does not render, nil if it does: a fault of its own (failed), or of another document that
	// decides what it is rendered from.
	cause  *fault.Fault
	failed bool
	// orphan reports whether the document has a layer and selects a parent, and there is none.
	orphan bool

	rank       int   // of its layer, from the top; -1 without a layer, the number of layers in an unknown one
	position   int   // among all with a layer: from the top layer down, then as in the input
	parent     *node // the document it inherits from
	replacedBy *node
	place      int   // in the graph; notFound until it is mentioned
	neededBy   *node // the last one that got an edge to it
	named      *node // see origin; nil until it is needed
	lacking    bool  // a substitution has no source; unknown of nodes that have a cause
}

// made is the outcome of computing a document.
type made struct {
	text         []byte     // the data as JSON text where a cache had it, nil otherwise
	destinations [][]string // places that substitutions wrote to, those of its ancestors too
	size, peak   int64      // of the data as counted for the limit on all data: in the end, and at most
	cost         int64      // of computing it alone, in steps
	notes
}

// nameKey returns the key of substitutions from the document.
func (n *node) nameKey() Key { return Key{Schema: n.Schema, Name: n.Name} }

// brief names a document without its layer, as some of Deckhand's messages do.
func (n *node) brief() string { return fmt.Sprintf("[%s] %s", n.Schema, n.Name) }

// layered reports whether the document inherits its parent's data.
func (n *node) layered() bool { return n.parent != nil && len(n.actions) > 0 && !n.control }

// changes reports whether the document's data is computed.
func (n *node) changes() bool { return n.layered() || len(n.substitutions) > 0 && !n.control }

// returned reports whether services read the document.
func (n *node) returned() bool { return !n.abstract && n.replacedBy == nil }

// replaces reports whether the document replaces its parent.
func (n *node) replaces() bool { return n.replacement && n.isNamesake() }

// isNamesake reports whether the document has the schema and name of its parent.
func (n *node) isNamesake() bool { return n.parent != nil && n.parent.nameKey() == n.nameKey() }

// ancestor returns the document whose data is inherited: the parent, or the parent's replacement. There must be a
// parent.
func (n *node) ancestor() *node {
	if by := n.parent.replacedBy; by != nil && by != n {
		return by
	}
	return n.parent
}

// origin returns the document that Deckhand names as the parent: ancestors that only pass on inherited data are
// skipped.
func (n *node) origin() *node {
	if n.named == nil {
		if n.named = n.parent; n.named.layered() && len(n.named.substitutions) == 0 {
			n.named = n.named.origin()
		}
	}
	return n.named
}

// takenFrom yields the documents that the data of another one depends on: its ancestor, and the source of each
// substitution.
func (r *run) takenFrom(n *node) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if !n.changes() || n.layered() && !yield(n.ancestor()) {
			return
		}
		r.charge(lookupCost * len(n.substitutions))
		for i := range n.substitutions {
			if source := r.source(n, i); source != nil && !yield(source) {
				return
			}
		}
	}
}

// source returns the document that a substitution reads, nil if there is none.
func (r *run) source(n *node, number int) *node { return r.sources.of(n.substitutions[number].source) }

// value is the data of a document: the rendered one if it was computed, else its own.
func (r *run) value(n *node) (any, error) {
	if n.read {
		return n.data, nil
	}
	written := n.document.Data
	if n.text != nil {
		written = n.text
	}
	data, _, err := r.parseJSON(written)
	if err != nil {
		return nil, fmt.Errorf("read data of document %s: %w", n.Identity, err)
	}
	if n.encrypted && !n.control && r.options.Resolve != nil {
		if data, err = r.decrypt(n, data); err != nil {
			return nil, err
		}
	}
	n.data, n.read = data, true
	return n.data, nil
}
