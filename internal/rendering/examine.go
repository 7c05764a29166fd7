package rendering

import (
	"context"
	"errors"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
)

// maxProblems is how many problems an examination reports.
const maxProblems = 200

// Examine reports why documents are inconsistent: no LayeringPolicy, unknown layers, parents
// that are not found or cannot be parents, replacements of nothing, substitution sources that do not exist, and cycles
// (spec/api.md §0 D3). Rendering stops at the first; here all are reported that can be found while the others remain.
func Examine(ctx context.Context, documents []*document.Document, options Options) ([]*fault.Fault, error) {
	x := &examination{run: newRun(ctx, documents, options)}
	defer x.end()
	nodes, err := x.readAll(documents)
	if err != nil {
		return nil, err
	}
	if err := x.examine(nodes); err != nil {
		return nil, err
	}
	return x.problems, nil
}

// examine notes the problems of documents whose metadata is read.
func (x *examination) examine(nodes []*node) error {
	layers, nodes, err := x.rankable(nodes)
	if err != nil || nodes == nil {
		return err
	}
	if err := x.note(x.families(layers, nodes)); err != nil {
		return err
	}
	chooseSources(nodes)
	x.missingSources(nodes)
	_, cycle := newGraph(x.meter, nodes, x.sources).order(nodes)
	return x.note(cycle)
}

// examination collects problems.
type examination struct {
	*run

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
func (x *examination) rankable(nodes []*node) (layers, []*node, error) {
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
			nodes = slices.DeleteFunc(nodes, func(n *node) bool {
				return slices.Contains(last.Messages[0].Documents, n.named())
			})
		}
		if len(nodes) == before {
			return nil, nil, nil
		}
	}
}

// families finds the parents and their replacements.
func (x *examination) families(layers layers, nodes []*node) error {
	if err := newFamily(x.meter, layers, nodes).selectParents(); err != nil {
		return err
	}
	for _, n := range nodes {
		if n.isOrphan() {
			if err := x.note(orphan(n)); err != nil {
				return err
			}
		}
	}
	return markReplaced(nodes)
}

func (x *examination) missingSources(nodes []*node) {
	for _, n := range nodes {
		noted := map[key]bool{}
		for i := range n.substitutions {
			s := &n.substitutions[i]
			if x.sources.of(s.source) == nil && !n.control && !noted[s.source] {
				noted[s.source] = true
				_ = x.note(x.noSource(n, i)) // a fault
			}
		}
	}
}
