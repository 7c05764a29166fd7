package rendering

import (
	"fmt"

	"purser/internal/document"
)

// dataNode is a document with its data so far.
type dataNode struct {
	*node

	made

	history  *history // nil unless a document is explained
	data     any      // its own data, later the rendered data
	read     bool     // data is set
	computed bool
	done     bool            // it was computed to the end, or refused
	digest   document.Digest // see digestOf; zero until it is needed
	key      document.Digest // see setKey
	takenBy  *dataNode       // the last one whose allowance it was counted in
}

// made is the outcome of computing a document.
type made struct {
	text         []byte     // the data as JSON text where a cache had it, nil otherwise
	destinations [][]string // places that substitutions wrote to, those of its ancestors too
	sizes
	notes
	cost int64 // of computing it alone, in steps
}

// sizes are the sizes of a document's data, as counted for the limit on all data.
type sizes struct{ size, peak int64 } // in the end, and at most

// of returns the data of a document, nil for none.
func (r *run) of(n *node) *dataNode {
	if n == nil {
		return nil
	}
	return &r.nodes[n.index]
}

// source returns the document that a substitution reads, nil if there is none.
func (r *run) source(s *substitution) *dataNode { return r.of(r.set.sourceOf(s.source)) }

// ancestor returns the document whose data a layered one inherits.
func (r *run) ancestor(n *dataNode) *dataNode { return r.of(n.ancestor()) }

// value is the data of a document: the rendered one if it was computed, else its own.
func (r *run) value(n *dataNode) (any, error) {
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
