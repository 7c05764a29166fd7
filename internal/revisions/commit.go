package revisions

import (
	"slices"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/validations"
)

// Commit is a planned and judged change, ready to be stored.
type Commit struct {
	Base     Head // the head that its numbers are relative to
	Revision Revision
	Diff     Diff

	// Packed holds contents in their stored form. The store packs any that are missing while holding up other changes.
	Packed map[document.Digest][]byte

	// Archives holds package archives by the digest of the document's content; nil for an archive already stored.
	Archives map[document.Digest][]byte

	Checks   []Check
	Failures []Failure // about documents of the payload; a rollback has no payload, and failures about all documents
	// Outside is the number of further entries, one for each other document that violates a rule: by ID, at the end those
	// that depend on secrets.
	Outside int
	Results []validations.Result

	Begun, Ended []Violation // those that begin have no Since

	Against []Bucket // the buckets that the change was planned against
	Exact   bool     // the commit is valid only for its base
	// SiteDocuments is the number of documents above which the commit may not make the site larger; 0 is no limit.
	SiteDocuments int
	Settles       bool // changes planned before it must be planned again
	// Status is the revision's initial verdict.
	Status validations.Status
	Audit  *AuditEvent
}

// Event returns the event for the commit, which must have its final numbers. encrypted is the number of encrypted
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

// On returns the commit renumbered for a head. stamp is the stamp of its base revision there, and changed is the last
// revision that changed one of its buckets. It returns ErrMoved if something that the commit depends on has changed
// since its base, or if the head does not descend from the base. It does not check for new identities: the store
// refuses a second live document with the same identity.
func (c Commit) On(head Head, stamp Stamp, changed int64) (Commit, error) {
	base := c.Base
	switch {
	case head.Stamp != base.Stamp && stamp != base.Stamp,
		head.Epoch != base.Epoch || head.Prunes != base.Prunes,
		max(changed, head.Settled) > base.Revision,
		c.Exact && head.Revision != base.Revision,
		!c.Diff.Fits(head.Live, c.SiteDocuments):
		return c, ErrMoved
	}
	c.Base, c.Diff, c.Revision.ID = head, c.Diff.Rebased(base, head), head.Revision+1
	if shift := head.LastDocument - base.LastDocument; shift != 0 {
		c.Failures, c.Begun = slices.Clone(c.Failures), slices.Clone(c.Begun)
		move := func(id *int64) {
			if *id > base.LastDocument {
				*id += shift
			}
		}
		for i := range c.Failures {
			move(&c.Failures[i].Document)
		}
		for i := range c.Begun {
			move(&c.Begun[i].Document)
		}
	}
	return c, nil
}
