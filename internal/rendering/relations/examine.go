package relations

import (
	"purser/internal/fault"
	"purser/internal/rendering/declared"
	"purser/internal/rendering/meter"
)

// Examine reports why the documents are inconsistent: no LayeringPolicy, unknown layers, parents that are not found or
// cannot be parents, replacements of nothing, cycles, and substitution sources that do not exist.
func (s *Set) Examine() ([]*fault.Fault, error) {
	_, problems, err := s.Order(true)
	return problems, err
}

// problems returns what Examine reports. Some faults are found already: those up to a mark before the orphans count,
// and the others after these.
func (s *Set) problems(related mark) ([]*fault.Fault, error) {
	all, found := &Faults{}, s.Faults.mark()
	all.appendOf(s.Faults, mark{}, related)
	s.Charge(meter.Visit * len(s.Nodes))
	for _, n := range s.Nodes {
		if n.Orphan {
			s.add(all, n.Encrypted, func() *fault.Fault { return Orphan(n) })
		}
	}
	all.appendOf(s.Faults, related, found)
	for _, n := range s.Nodes {
		if !n.lacking && n.Cause == nil || n.Control {
			continue
		}
		if err := Stopped(s.Meter, n, ""); err != nil {
			return nil, err
		}
		s.addMissing(all, n)
	}
	return all.All(), nil
}

// addMissing adds the faults of substitutions whose sources do not exist.
func (s *Set) addMissing(all *Faults, n *Node) {
	noted := map[declared.Key]bool{}
	s.Charge(meter.Lookup * len(n.Substitutions))
	for i := range n.Substitutions {
		source := n.Substitutions[i].Source
		if s.sources.of(source) == nil && !noted[source] {
			noted[source] = true
			s.add(all, n.Secret, func() *fault.Fault { return s.NoSource(n, i) })
		}
	}
}

// add adds a fault, which it words only if it is kept.
func (s *Set) add(all *Faults, secret bool, word func() *fault.Fault) {
	if s.Charge(meter.Visit); all.full(secret) {
		_ = all.count(secret, 1)
		return
	}
	s.Charge(faultCost)
	_ = all.keep(word())
}
