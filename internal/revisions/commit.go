package revisions

import (
	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/validations"
)

// Commit is a planned and judged change, ready to be stored.
type Commit struct {
	Base     Head // the head of its snapshot; the commit is appended only to this one
	Revision Revision
	Diff     Diff

	// Packed holds contents in their stored form. The store packs any that are missing while holding up other changes.
	Packed map[document.Digest][]byte

	// Texts has the texts of the diff in their stored form.
	Texts []TextBlock

	// Archives holds package archives by the digest of the document's content; nil for an archive already stored.
	Archives map[document.Digest][]byte

	Checks   []Check
	Failures []Failure // about documents of the payload; a rollback has no payload, and failures about all documents
	// Outside is the number of further entries, one for each other document that violates a rule: by ID, at the end those
	// that depend on secrets.
	Outside int
	Results []validations.Result

	// Holds ask for results of earlier revisions, and Held are those successes among them that the revision takes over.
	Holds []Hold
	Held  []HeldResult

	Begun, Ended []Violation // those that begin have no Since

	// Promotion is a condition; nil for none.
	Promotion *Promotion

	// Status is the revision's initial verdict.
	Status validations.Status
	Audit  *AuditEvent
}

// Event returns the event for the commit, which must have its stamp. encrypted is the number of encrypted
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
		Source: string(r.Source), Sources: r.Upstreams, Chain: r.Chain.String(),
		Added: len(c.Diff.Added), Removed: len(c.Diff.Removed), Modified: new(c.Diff.modified()), Status: c.Status.String(),
	}.Event(secret)
}
