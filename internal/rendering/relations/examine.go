package relations

import (
	"errors"
	"slices"

	"purser/internal/fault"
	"purser/internal/rendering/declared"
)

// maxProblems is how many problems an examination reports.
const maxProblems = 200

// Examine reports why the documents are inconsistent: no LayeringPolicy, unknown layers, parents that are not found or
// cannot be parents, replacements of nothing, substitution sources that do not exist, and cycles (spec/api.md §0 D3).
// Order stops at the first; here all are reported that can be found while the others remain.
func (s *Set) Examine() ([]*fault.Fault, error) {
	x := &examination{Set: s}
	s.unlink()
	layers, nodes, err := x.rankable(slices.Clone(s.Nodes))
	if err != nil || nodes == nil {
		return x.problems, err
	}
	if err := x.note(x.families(layers, nodes)); err != nil {
		return nil, err
	}
	chooseSources(nodes)
	x.missingSources(nodes)
	_, cycle := newNeeds(s.Meter, nodes, s.sources).order(nodes)
	if err := x.note(cycle); err != nil {
		return nil, err
	}
	return x.problems, nil
}

// examination collects problems.
type examination struct {
	*Set

	problems []*fault.Fault
}

// note records an error that the documents cause; any other error ends the examination.
func (x *examination) note(err error) error {
	var problem *fault.Fault
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &problem):
		return err
	case len(x.problems) < maxProblems:
		x.problems = append(x.problems, problem)
	}
	return nil
}

// rankable leaves out documents with unknown layers, and notes them. Without a LayeringPolicy none remain.
func (x *examination) rankable(nodes []*Node) (layers, []*Node, error) {
	for {
		layers, err := x.layersOf(nodes)
		if err == nil {
			return layers, nodes, nil
		}
		if err := x.note(err); err != nil {
			return nil, nil, err
		}
		before := len(nodes)
		last := x.problems[len(x.problems)-1]
		if last.Type == "InvalidDocumentLayer" && len(x.problems) < maxProblems {
			nodes = slices.DeleteFunc(nodes, func(n *Node) bool {
				return slices.Contains(last.Messages[0].Documents, n.named())
			})
		}
		if len(nodes) == before {
			return nil, nil, nil
		}
	}
}

// families finds the parents and their replacements.
func (x *examination) families(layers layers, nodes []*Node) error {
	if err := newFamily(x.Meter, layers, nodes).selectParents(); err != nil {
		return err
	}
	for _, n := range nodes {
		if n.IsOrphan() {
			if err := x.note(Orphan(n)); err != nil {
				return err
			}
		}
	}
	return markReplaced(nodes)
}

func (x *examination) missingSources(nodes []*Node) {
	for _, n := range nodes {
		noted := map[declared.Key]bool{}
		for i := range n.Substitutions {
			s := &n.Substitutions[i]
			if x.sources.of(s.Source) == nil && !n.Control && !noted[s.Source] {
				noted[s.Source] = true
				_ = x.note(x.NoSource(n, i)) // a fault
			}
		}
	}
}
