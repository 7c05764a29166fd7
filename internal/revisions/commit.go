package revisions

import (
	"slices"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/validations"
)

// Commit is a change that was planned and judged, as it is stored.
type Commit struct {
	Base     Head // from which its numbers count
	Revision Revision
	Diff     Diff

	// Packed are contents in their stored form. The store packs those that are missing, while other changes wait.
	Packed map[document.Digest][]byte

	// Archives are those of packages, by the digest of the document's content; nil for one that is already stored.
	Archives map[document.Digest][]byte

	Checks   []Check
	Failures []Failure
	Results  []validations.Result

	Against []Bucket // the buckets that it was planned against
	Exact   bool     // it holds for the base only
	Settles bool     // changes that were planned before it must be planned again
	// Status is the verdict with which the revision begins.
	Status validations.Status
	Audit  *AuditEvent
}

// Event returns the event about the commit, which must have its final numbers. encrypted is the number of encrypted
// document versions that it removes.
func (c Commit) Event(encrypted int) events.Event {
	secret := events.Counts{Removed: encrypted}
	for _, doc := range c.Diff.Added {
		if doc.Traits().Encrypted {
			secret.Added++
		}
	}
	r := c.Revision
	return events.Created{
		Revision: r.ID, Stamp: r.Stamp.String(), Kind: r.Kind.String(), Buckets: r.Buckets, User: r.User, Message: r.Message,
		Added: len(c.Diff.Added), Removed: len(c.Diff.Removed), Status: c.Status.String(),
	}.Event(secret)
}

// On returns the commit with the numbers that it gets on a head; stamp is that of its base revision there, and
// changed is the last revision that changed one of its buckets. ErrMoved if something that the commit depends on has
// changed since its base, or the base is not where the head came from. New identities are not among that: the store
// refuses a second live document of one.
func (c Commit) On(head Head, stamp Stamp, changed int64) (Commit, error) {
	base := c.Base
	switch {
	case head.Stamp != base.Stamp && stamp != base.Stamp,
		head.Epoch != base.Epoch || head.Prunes != base.Prunes,
		max(changed, head.Settled) > base.Revision,
		c.Exact && head.Revision != base.Revision:
		return c, ErrMoved
	}
	c.Base, c.Diff, c.Revision.ID = head, c.Diff.Rebased(base, head), head.Revision+1
	if shift := head.LastDocument - base.LastDocument; shift != 0 {
		c.Failures = slices.Clone(c.Failures)
		for i := range c.Failures {
			if c.Failures[i].Document > base.LastDocument {
				c.Failures[i].Document += shift
			}
		}
	}
	return c, nil
}
