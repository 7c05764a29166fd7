package rendering

import (
	"context"

	"purser/internal/document"
	"purser/internal/fault"
)

// Examine reports why documents are inconsistent, as far as their metadata and the LayeringPolicy show it: no
// LayeringPolicy, unknown layers, parents that are not found or cannot be parents, replacements of nothing, cycles, and
// substitution sources that do not exist.
func Examine(ctx context.Context, documents []*document.Document, options Options) ([]*fault.Fault, error) {
	r := newRun(ctx, documents, options)
	defer r.end()
	if err := r.readAll(documents); err != nil {
		return nil, err
	}
	_, problems, err := r.order(true)
	return problems, err
}

// findProblems returns what Examine reports. Some faults are found already: those up to a mark before the orphans
// count, and the others after these.
func (r *run) findProblems(related mark) ([]*fault.Fault, error) {
	all, found := &faults{most: maxFaults}, r.faults.mark()
	all.appendOf(&r.faults, mark{}, related)
	r.charge(visitCost * len(r.nodes))
	for _, n := range r.nodes {
		if n.orphan {
			_ = r.keep(all, n.encrypted, func() *fault.Fault { return orphanFault(n) })
		}
	}
	all.appendOf(&r.faults, related, found)
	for _, n := range r.nodes {
		if !n.lacking && n.cause == nil || n.control {
			continue
		}
		if err := r.stopped(n, ""); err != nil {
			return nil, err
		}
		r.addMissing(all, n)
	}
	return all.all(), nil
}

// addMissing adds the faults of substitutions whose sources do not exist.
func (r *run) addMissing(all *faults, n *node) {
	noted := map[Key]bool{}
	r.charge(lookupCost * len(n.substitutions))
	for i := range n.substitutions {
		source := n.substitutions[i].source
		if r.sources.of(source) == nil && !noted[source] {
			noted[source] = true
			_ = r.keep(all, n.secret, func() *fault.Fault { return r.noSource(n, i) })
		}
	}
}
