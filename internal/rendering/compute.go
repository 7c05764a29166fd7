package rendering

import (
	"errors"
	"slices"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

func (r *run) computeAll(order []*node) error {
	for _, n := range order {
		if err := r.compute(n); err != nil {
			return err
		}
	}
	return nil
}

// compute computes the final data of a document after its dependencies, if it renders.
func (r *run) compute(n *node) error {
	if err := r.stopped(n, ""); err != nil {
		return err
	}
	if n.cause == nil {
		n.cause = r.blocked(n)
	}
	switch {
	case n.cause != nil, n.secret && r.options.Withhold:
		return nil //nolint:nilerr // a fault does not end the rendering
	case !n.changes() && !r.mayBeReference(n):
		return r.reserve(n, int64(len(n.document.Data)))
	}
	r.setKey(n)
	if !r.useCached(n) {
		if err := r.make(n); err != nil {
			return err
		}
	}
	r.reportNotes(n)
	r.countWork(n)
	if n.cause != nil {
		return nil //nolint:nilerr // as above
	}
	return r.reserve(n, n.size)
}

// blocked returns why a document that the data of another one depends on does not render, nil if all do.
func (r *run) blocked(n *node) *fault.Fault {
	for source := range r.takenFrom(n) {
		if source.cause != nil {
			return source.cause
		}
	}
	return nil
}

// change applies a document's actions and substitutions. After a refusal it looks only whether the sources have what
// the other substitutions take.
func (r *run) change(n *node) error {
	base, err := r.base(n)
	if err != nil {
		return r.refuse(n, err)
	}
	t := newTree(r.memo, base, r.room, n.history)
	err = r.refuse(n, r.applyActions(t, n))
	if n.peak = t.peak; err != nil {
		return err
	}
	if n.layered() {
		n.destinations = slices.Clip(n.ancestor().destinations)
		if n.ancestor().encrypted && !r.options.Compat {
			n.destinations = r.appendPlace(n.destinations, &dataPath{}) // all of it
		}
	}
	missed := map[Key]bool{} // sources
	for i := range n.substitutions {
		if source := n.substitutions[i].source; r.sources.of(source) == nil {
			if missed[source] {
				continue
			}
			missed[source] = true
		}
		err := r.refuse(n, r.substitute(t, n, i))
		if n.peak = t.peak; err != nil {
			return err
		}
	}
	if err := r.stopped(n, ""); err != nil || len(n.refusals) > 0 {
		return err
	}
	data := t.freeze()
	if err := r.stopped(n, ""); err != nil {
		return err
	}
	n.data, n.read, n.computed, n.size = data, true, true, t.size
	return nil
}

// base is the data that a document's actions and substitutions begin with.
func (r *run) base(n *node) (any, error) {
	if n.layered() {
		return r.value(n.ancestor())
	}
	return r.value(n)
}

// appendPlace appends the place that a path leads to.
func (r *run) appendPlace(places [][]string, p *dataPath) [][]string {
	if len(places) == cap(places) { // append copies it
		r.charge(copyCost * len(places))
		r.hold(listSize * (2*len(places) + 1))
	}
	r.charge(visitCost * len(p.steps))
	r.hold(wordSize * len(p.steps))
	return append(places, p.common())
}

// reserve reserves the room for a document's data.
func (r *run) reserve(n *node, size int64) error {
	if r.room -= size; r.room < 0 {
		return r.tooLarge(n)
	}
	return nil
}

// tooLarge ends the rendering.
func (r *run) tooLarge(n *node) error {
	r.room = -1
	return about(document.TooLarge("With document %s %w, more than %d bytes, the limit for all documents of a "+
		"revision together", n.Identity, ErrTooLarge, r.options.Limit), n)
}

// mayBeReference reports whether a document's data may be a reference that is resolved.
func (r *run) mayBeReference(n *node) bool {
	return n.encrypted && !n.control && r.options.Resolve != nil && len(n.document.Data) > 0 && n.document.Data[0] == '"'
}

// make computes a document that the cache does not have, and notes why it does not render. A document that takes more
// work than its allowance is refused alone.
func (r *run) make(n *node) error {
	r.readSources(n)
	if n.history != nil {
		return r.derive(n)
	}
	allowed, held := r.allowance(n), r.held
	own := r.meterFor(n, allowed)
	exceeded, err := r.confine(own, func() error { return r.derive(n) })
	if exceeded {
		r.hold(min(0, held-r.held))
		err = r.refuse(n, err)
	}
	if err != nil {
		return err
	}
	n.done, n.cost = true, min(own.Steps(), allowed)
	if len(n.refusals) > 0 && r.mayKeep(n) {
		n.destinations = nil
		r.options.Cache.keepMade(n.key, n.made)
	}
	return nil
}

// derive computes a document from what it takes from.
func (r *run) derive(n *node) error {
	if n.changes() {
		return r.change(n)
	}
	value, err := r.value(n)
	if err != nil {
		return r.refuse(n, err)
	}
	if n.size = int64(len(n.document.Data)); n.computed {
		n.size = r.sizeOf(value)
	}
	return r.stopped(n, "")
}

// readSources reads and measures what a document is computed from, and compiles its patterns. Documents share this
// work, so it does not count as the work of one of them. Errors are found again where it is used.
func (r *run) readSources(n *node) {
	read := func(from *node) {
		if value, err := r.value(from); err == nil {
			r.sizeOf(value)
		}
	}
	read(n)
	for source := range r.takenFrom(n) {
		read(source)
	}
	for i := range n.substitutions {
		s := &n.substitutions[i]
		if s.pattern != "" {
			_, _ = r.compile(s.pattern)
		}
		for j := range s.destinations {
			if s.destinations[j].pattern != "" {
				_, _ = r.compile(s.destinations[j].pattern)
			}
		}
	}
}

// alone is what every document may cost, in addition to its share for its size, in steps.
const alone = budget.Second / 10

// allowance returns the number of steps that a document may take: a fixed one, and more in proportion to the sizes of
// it and of the documents that it takes from.
func (r *run) allowance(n *node) int64 {
	size := int64(len(n.document.Metadata) + len(n.document.Data))
	for source := range r.takenFrom(n) {
		if source.takenBy != n {
			source.takenBy = n
			size += max(source.size, int64(len(source.document.Data)))
		}
	}
	return alone + size*budget.StepsPerByte
}

// maxExcess bounds the work on all documents of a revision together, in addition to the share for their size, so that
// they can be computed anew at any time, in steps.
const maxExcess = 2 * budget.Second

// ordinary is the work that a document may take beside all others, in steps: a fixed part, and a share for its size.
func (n *node) ordinary() int64 {
	return alone/10 + int64(len(n.document.Metadata)+len(n.document.Data))*budget.StepsPerByte
}

// countWork counts the work on a document, also on one that is in the cache.
func (r *run) countWork(n *node) {
	if r.total += n.cost; n.cost > n.ordinary() && r.isOwn(n) {
		r.excessive = n
	}
}

// checkTotal returns an error if the work on all documents is too much, and the change brings one that takes more than
// ordinary documents. Other changes are not refused for it.
func (r *run) checkTotal() error {
	if r.excessive == nil || r.total <= maxExcess+r.size*budget.StepsPerByte {
		return nil
	}
	err := budget.About(budget.Exceeding(maxExcess), "render document %s, with all documents of the site that take more "+
		"than their size allows", r.excessive.Identity)
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return about(f, r.excessive)
	}
	return err
}

// isOwn reports whether the change brings a document.
func (r *run) isOwn(n *node) bool {
	return r.options.Changed != nil && r.options.Changed(n.document)
}

// meterFor returns the meter of the work on a document within a number of steps. The request pays for the documents
// that it brings, and for all if their outcomes are not kept.
func (r *run) meterFor(n *node, allowed int64) *budget.Meter {
	size := len(n.document.Metadata) + len(n.document.Data)
	if r.isOwn(n) || r.options.Cache == nil {
		r.request.Grant(size)
		return r.paid.Within(allowed)
	}
	r.request.GrantMemory(size)
	return r.paid.ForOthers(size).Within(allowed)
}
