package rendering

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
)

// relationSet is the documents of a revision. Of those with one identity only the first counts.
type relationSet struct {
	*meter

	nodes  []*node // in the order of the input
	faults *faults // found since Order was called

	compat  bool
	kept    choiceKeeper
	sources sources
}

// choiceKeeper keeps what selectors select among many candidates.
type choiceKeeper interface {
	digestOf(n *node) document.Digest // of its document
	choice(key document.Digest) (choice choice, known bool)
	keepChoice(key document.Digest, choice choice, cost int64) // in steps
}

// relationSize is the memory of a node, its data and its entries in maps, in bytes.
const relationSize = 512

// readSet reads the metadata of documents, each by the function, which counts its work in the meter. Compat leaves out
// details of faults that the reference does not have. Choices are kept unless kept is nil.
func readSet(m *meter, documents []*document.Document, compat bool, kept choiceKeeper,
	read func(index int) (*metadata, error),
) (*relationSet, error) {
	s := &relationSet{
		meter: m, nodes: make([]*node, 0, len(documents)),
		compat: compat, kept: kept, sources: make(sources, len(documents)),
	}
	all := make([]node, len(documents)) // beside each other in memory
	kin := make([]namesakes, 0, len(documents))
	if m.hold(relationSize * len(documents)); m.err != nil {
		return nil, fmt.Errorf("read documents: %w", m.err)
	}
	for i, d := range documents {
		n := &all[i]
		n.Identity, n.document, n.index = d.Identity, d, i
		same := s.sources[n.sourceKey()]
		if same == nil {
			kin = append(kin, namesakes{})
			same = &kin[len(kin)-1]
			s.sources[n.sourceKey()] = same
		}
		if m.charge(4 * lookupCost); !same.addOne(n) {
			continue
		}
		var err error
		if n.metadata, err = read(i); err != nil {
			return nil, err
		}
		n.unlink()
		if err := stoppedAt(m, n, ""); err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, n)
	}
	return s, nil
}

// unlink forgets all relations and faults.
func (s *relationSet) unlink() {
	s.faults = &faults{}
	for _, n := range s.nodes {
		n.unlink()
	}
}

// sourceOf returns the document that substitutions read, nil if there is none.
func (s *relationSet) sourceOf(k Key) *node { return s.sources.of(k) }

// order links the documents to their dependencies, and returns them sorted so that dependencies come first. Documents
// that cannot be linked have a Cause. Checks are made in Deckhand's order. With examine it also
// returns what Examine does.
func (s *relationSet) order(examine bool) (order []*node, problems []*fault.Fault, err error) {
	if err := s.relate(); err != nil {
		return nil, nil, err
	}
	related := s.faults.mark()
	if order, err = s.sort(); err == nil && examine {
		problems, err = s.findProblems(related)
	}
	for _, n := range order {
		s.taint(n)
	}
	return order, problems, err
}

// relate finds the layers, parents, replacements and sources.
func (s *relationSet) relate() error {
	s.unlink()
	layers := s.rankAll()
	if err := s.selectParents(newFamily(s.meter, layers, s.nodes, s.kept, s.compat)); err != nil {
		return err
	}
	s.markReplaced()
	chooseSources(s.nodes)
	return nil
}

// taint marks the document as secret if it takes values from a secret document. Its dependencies must be marked
// before. The mark does not depend on the data of any document.
func (s *relationSet) taint(n *node) {
	if !n.changes() {
		return
	}
	if n.layered() && n.ancestor().secret {
		n.secret = true
	}
	for i := range n.substitutions {
		if source := s.sourceOf(n.substitutions[i].source); source != nil && source.secret {
			n.secret = true
		}
	}
}
