package relations

import (
	"purser/internal/fault"
	"purser/internal/rendering/declared"
)

// Examine reports why the documents are inconsistent: no LayeringPolicy, unknown layers, parents that are not found or
// cannot be parents, replacements of nothing, cycles, and substitution sources that do not exist (spec/api.md §0 D3).
func (s *Set) Examine() ([]*fault.Fault, error) {
	if err := s.relate(); err != nil {
		return nil, err
	}
	for _, n := range s.Nodes {
		if n.Orphan {
			_ = s.note(Orphan(n))
		}
	}
	if _, err := s.sort(); err != nil {
		return nil, err
	}
	for _, n := range s.Nodes {
		if err := Stopped(s.Meter, n, ""); err != nil {
			return nil, err
		}
		noted := map[declared.Key]bool{}
		for i := range n.Substitutions {
			source := n.Substitutions[i].Source
			if s.sources.of(source) == nil && !n.Control && !noted[source] {
				noted[source] = true
				_ = s.note(s.NoSource(n, i))
			}
		}
	}
	return s.Faults.All(), nil
}
