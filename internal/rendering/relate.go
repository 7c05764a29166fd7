package rendering

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// readAll reads the metadata of documents. Of those with one identity only the first counts.
func (r *run) readAll(documents []*document.Document) error {
	if r.hold(nodeSize * len(documents)); r.err != nil {
		return fmt.Errorf("read documents: %w", r.err)
	}
	r.nodes, r.sources = make([]*node, 0, len(documents)), make(sources, len(documents))
	all := make([]node, len(documents)) // beside each other in memory
	groups := make([]namesakes, 0, len(documents))
	for i, d := range documents {
		n := &all[i]
		n.Identity, n.document, n.index = d.Identity, d, i
		same := r.sources[n.nameKey()]
		if same == nil {
			groups = append(groups, namesakes{})
			same = &groups[len(groups)-1]
			r.sources[n.nameKey()] = same
		}
		if r.charge(4 * lookupCost); !same.add(n) {
			continue
		}
		var err error
		if n.metadata, err = r.metadataOf(n); err != nil {
			return err
		}
		if err := r.stopped(n, ""); err != nil {
			return err
		}
		r.nodes = append(r.nodes, n)
	}
	return nil
}

// order relates the documents, and returns them sorted so that dependencies come first. Documents that cannot be
// related have a cause. Checks are made in Deckhand's order. With examine it also returns the problems that Examine
// reports.
func (r *run) order(examine bool) (order []*node, problems []*fault.Fault, err error) {
	if err := r.relate(); err != nil {
		return nil, nil, err
	}
	related := r.faults.mark()
	if order, err = r.sorted(); err == nil && examine {
		problems, err = r.findProblems(related)
	}
	for _, n := range order {
		r.taint(n)
	}
	return order, problems, err
}

// relate finds the layers, parents, replacements and sources.
func (r *run) relate() error {
	r.unlink()
	if err := r.selectParents(r.newFamily(r.rankAll())); err != nil {
		return err
	}
	r.markReplaced()
	chooseSources(r.nodes)
	return nil
}

// unlink forgets all relations and faults.
func (r *run) unlink() {
	r.faults = faults{most: maxFaults}
	for _, n := range r.nodes {
		n.links = links{rank: -1, place: notFound, secret: n.encrypted}
	}
}

// taint marks the document as secret if it takes values from a secret document. Its dependencies must be marked before.
// The mark does not depend on the data of any document.
func (r *run) taint(n *node) {
	for source := range r.takenFrom(n) {
		n.secret = n.secret || source.secret
	}
}
