// Package relations finds out how the documents of a revision depend on each other: which layer is above which, which
// document is the parent of which, which replaces which, and where substitutions take values from.
//
//	documents ──Read──► Set ──Order──► nodes, each after those that it depends on
//	                        ──Examine, Graph──► what is wrong, how they depend on each other
//
// It knows identities and metadata but no data, except for the layers of the LayeringPolicy, so its faults tell none.
// The methods of a Set begin anew each time. Nodes have the relations that Order found until another method is called.
//
// A fault of one document does not end the search: the document has it as its Cause, as have those whose parent, source
// or replacement cannot be known because of it, and these cause no faults of their own.
package relations

import (
	"fmt"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
)

// Set is the documents of a revision. Of those with one identity only the first counts.
type Set struct {
	*meter.Meter

	Nodes  []*Node // in the order of the input
	Faults *Faults // found since Order was called

	compat  bool
	kept    Choices
	sources sources
}

// Choices keeps what selectors select among many candidates.
type Choices interface {
	DigestOf(n *Node) document.Digest // of its document
	Choice(key document.Digest) (choice Choice, known bool)
	KeepChoice(key document.Digest, choice Choice, cost int64) // in steps
}

// nodeSize is the memory of a node, its data and its entries in maps, in bytes.
const nodeSize = 512

// Read reads the metadata of documents, each by the function, which counts its work in the meter. Compat leaves out
// details of faults that the reference does not have. Choices are kept unless kept is nil.
func Read(m *meter.Meter, documents []*document.Document, compat bool, kept Choices,
	read func(index int) (*declared.Metadata, error),
) (*Set, error) {
	s := &Set{
		Meter: m, Nodes: make([]*Node, 0, len(documents)),
		compat: compat, kept: kept, sources: make(sources, len(documents)),
	}
	all := make([]Node, len(documents)) // beside each other in memory
	kin := make([]namesakes, 0, len(documents))
	if m.Hold(nodeSize * len(documents)); m.Err != nil {
		return nil, fmt.Errorf("read documents: %w", m.Err)
	}
	for i, d := range documents {
		n := &all[i]
		n.Identity, n.Document, n.Index = d.Identity, d, i
		same := s.sources[n.Key()]
		if same == nil {
			kin = append(kin, namesakes{})
			same = &kin[len(kin)-1]
			s.sources[n.Key()] = same
		}
		if m.Charge(4 * meter.Lookup); !same.add(n) {
			continue
		}
		var err error
		if n.Metadata, err = read(i); err != nil {
			return nil, err
		}
		n.unlink()
		if err := Stopped(m, n, ""); err != nil {
			return nil, err
		}
		s.Nodes = append(s.Nodes, n)
	}
	return s, nil
}

// unlink forgets all relations and faults.
func (s *Set) unlink() {
	s.Faults = &Faults{}
	for _, n := range s.Nodes {
		n.unlink()
	}
}

// Source returns the document that substitutions read, nil if there is none.
func (s *Set) Source(k declared.Key) *Node { return s.sources.of(k) }

// Order links the documents to their dependencies, and returns them sorted so that dependencies come first. Documents
// that cannot be linked have a Cause. Checks are made in Deckhand's order. With examine it also
// returns what Examine does.
func (s *Set) Order(examine bool) (order []*Node, problems []*fault.Fault, err error) {
	if err := s.relate(); err != nil {
		return nil, nil, err
	}
	related := s.Faults.mark()
	if order, err = s.sort(); err == nil && examine {
		problems, err = s.problems(related)
	}
	for _, n := range order {
		s.inherit(n)
	}
	return order, problems, err
}

// relate finds the layers, parents, replacements and sources.
func (s *Set) relate() error {
	s.unlink()
	layers := s.rankAll()
	if err := s.selectParents(newFamily(s.Meter, layers, s.Nodes, s.kept, s.compat)); err != nil {
		return err
	}
	s.markReplaced()
	chooseSources(s.Nodes)
	return nil
}

// inherit marks the document as secret if it takes values from a secret document. Its dependencies must be marked
// before. The mark does not depend on the data of any document.
func (s *Set) inherit(n *Node) {
	if !n.Changes() {
		return
	}
	if n.Layered() && n.Ancestor().Secret {
		n.Secret = true
	}
	for i := range n.Substitutions {
		if source := s.Source(n.Substitutions[i].Source); source != nil && source.Secret {
			n.Secret = true
		}
	}
}
