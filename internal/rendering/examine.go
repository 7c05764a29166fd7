package rendering

import (
	"purser/internal/fault"
)

// examine reports why the documents are inconsistent: no LayeringPolicy, unknown layers, parents that are not found or
// cannot be parents, replacements of nothing, cycles, and substitution sources that do not exist.
func (s *relationSet) examine() ([]*fault.Fault, error) {
	_, problems, err := s.order(true)
	return problems, err
}

// findProblems returns what Examine reports. Some faults are found already: those up to a mark before the orphans count,
// and the others after these.
func (s *relationSet) findProblems(related mark) ([]*fault.Fault, error) {
	all, found := &faults{}, s.faults.mark()
	all.appendOf(s.faults, mark{}, related)
	s.charge(visitCost * len(s.nodes))
	for _, n := range s.nodes {
		if n.orphan {
			s.addOne(all, n.encrypted, func() *fault.Fault { return orphanFault(n) })
		}
	}
	all.appendOf(s.faults, related, found)
	for _, n := range s.nodes {
		if !n.lacking && n.cause == nil || n.control {
			continue
		}
		if err := stoppedAt(s.meter, n, ""); err != nil {
			return nil, err
		}
		s.addMissing(all, n)
	}
	return all.all(), nil
}

// addMissing adds the faults of substitutions whose sources do not exist.
func (s *relationSet) addMissing(all *faults, n *node) {
	noted := map[Key]bool{}
	s.charge(lookupCost * len(n.substitutions))
	for i := range n.substitutions {
		source := n.substitutions[i].source
		if s.sources.of(source) == nil && !noted[source] {
			noted[source] = true
			s.addOne(all, n.secret, func() *fault.Fault { return s.noSource(n, i) })
		}
	}
}

// addOne adds a fault, which it words only if it is kept.
func (s *relationSet) addOne(all *faults, secret bool, word func() *fault.Fault) {
	if s.charge(visitCost); all.full(secret) {
		_ = all.count(secret, 1)
		return
	}
	s.charge(faultCost)
	_ = all.keep(word())
}
