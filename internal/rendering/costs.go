package rendering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering/meter"
	"purser/internal/rendering/relations"
)

// costs says who pays for the work of one rendering. The request's budget pays for documents that its change brings, as
// far as they have to be computed. The rest is lent to it: reading all documents, and computing others, because they
// depend on a change or no cache has them. So nobody's change is refused for what others have made.
type costs struct {
	request *budget.Budget
	lent    int64 // steps
	left    int64 // steps that the request had left, and those that it is granted for the size of what it brings
	own     int64 // steps that were spent on that
	// excess is what documents take beyond their share for their size, also those in the cache; excessive is one that the
	// change brings, nil for none.
	excess    int64
	excessive *node
}

// newCosts lends the request the work on documents; kept says whether a cache keeps what it computes.
func newCosts(ctx context.Context, documents []*document.Document, kept bool) costs {
	size := 0
	for _, d := range documents {
		size += len(d.Metadata) + len(d.Data)
	}
	request := budget.From(ctx)
	left := request.Left()
	return costs{request: request, left: left, lent: request.Lend(size, kept)}
}

// end returns what the rendering did not need of what was lent; spent is the number of its steps.
func (c *costs) end(spent int64) { c.request.Allow(-max(0, c.lent-(spent-c.own))) }

// grant grants the request the work on a document that is computed now, and on the checks of it, by its size.
func (c *costs) grant(bytes int, own bool) {
	if c.request.Grant(bytes); own {
		c.left += int64(bytes) * budget.StepsPerByte
	}
}

// alone is what every document may cost, in addition to its share for its size, in steps.
const alone = budget.Second / 10

// allowance returns the number of steps that a document may take: a fixed one, and more in proportion to the sizes of
// it and of the documents that it takes from.
func (r *run) allowance(n *node) int64 {
	size := int64(len(n.Document.Metadata) + len(n.Document.Data))
	r.eachSource(n, func(source *node) {
		if source.takenBy != n {
			source.takenBy = n
			size += max(source.size, int64(len(source.Document.Data)))
		}
	})
	return alone + size*budget.StepsPerByte
}

// eachSource calls visit for the documents that another one takes from.
func (r *run) eachSource(n *node, visit func(source *node)) {
	if n.Layered() {
		visit(r.ancestor(n))
	}
	r.Charge(meter.Lookup * len(n.Substitutions))
	for i := range n.Substitutions {
		if source := r.source(&n.Substitutions[i]); source != nil {
			visit(source)
		}
	}
}

// maxExcess bounds the excess of all documents of a revision, so that they can be computed anew at any time, in steps.
const maxExcess = 2 * budget.Second

// exceed counts the excess of a document.
func (r *run) exceed(n *node) {
	if n.excess == 0 {
		return
	}
	r.costs.excess += n.excess
	if r.isOwn(n) {
		r.costs.excessive = n
	}
}

// excessive returns an error if the excess of all documents is too large, and the change brings one that has a part in
// it. Changes of others are not refused for it.
func (r *run) excessive() error {
	if n := r.costs.excessive; n != nil && r.costs.excess > maxExcess {
		return tooMuch(n, maxExcess, "with all documents of the site that take more than their size allows")
	}
	return nil
}

// tooMuch returns the error of a change that brings documents that take too many steps.
func tooMuch(n *node, steps int64, others string) error {
	err := budget.About(budget.Exceeding(steps), "render document %s, %s", n.Identity, others)
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return relations.About(f, n.Node)
	}
	return err
}

// isOwn reports whether the change brings a document.
func (r *run) isOwn(n *node) bool { return r.options.Changed != nil && r.options.Changed(n.Document) }

// pay notes who pays for the steps that a document took, and returns an error if these are too many.
func (r *run) pay(n *node, own bool, steps int64) error {
	c := &r.costs
	if own {
		if c.own += steps; c.own <= c.left {
			return nil
		}
		return tooMuch(n, c.left, "with all others of the change")
	}
	if r.Steps-c.own <= c.lent || r.options.Cache == nil {
		return nil // the budget bounds both together
	}
	busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "Other documents, which depend on the change or are "+
		"not in memory, have to be rendered first, which takes more than %.1f s; nothing was stored, send the request "+
		"again: it goes on from there", float64(c.lent)/budget.Second)
	busy.RetryAfter = time.Second
	return fmt.Errorf("render documents: %w", busy)
}
