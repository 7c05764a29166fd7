package rendering

import (
	"errors"

	"purser/internal/budget"
	"purser/internal/fault"
)

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
