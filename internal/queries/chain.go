package queries

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Link is a revision with what its chain value is made from.
type Link struct {
	Revision  revisions.Revision
	Of        []byte   // the text that the value must be the SHA-256 sum of (revisions.ChainText)
	Unchecked []string // its members that are as they were stored, because the revision before was deleted
}

// Intact reports whether the chain value is that of the text.
func (l Link) Intact() bool { return l.Revision.Chain == sha256.Sum256(l.Of) }

// Link returns what the chain value of a revision is made from. It reads all that from the database, past the caches:
// the rows of the revision and of the versions of documents that it begins and ends, the contents of those that it
// begins, whose digests it computes again, and opens encrypted ones. Faults: NotFound, Gone; Forbidden for a viewer who
// may not see encrypted documents, since their number would show; Conflict for a revision without a chain value.
func (v View) Link(ctx context.Context, id int64) (Link, error) {
	if !v.viewer.Encrypted {
		const rule = authz.ListEncryptedDocuments
		return Link{}, fault.New(fault.Forbidden, "HTTPForbidden", "Policy doesn't allow %s to be performed: the chain "+
			"is made from all documents, encrypted ones included", rule).Lacking(rule)
	}
	compared, err := v.store.Compare(ctx, id-1, id)
	if err != nil {
		return Link{}, fmt.Errorf("compare revision %d with the one before: %w", id, err)
	}
	if slices.Contains(compared.Missing, id) {
		return Link{}, revisions.Absent(ctx, v.store, id)
	}
	evidence, err := v.store.Evidence(ctx, []int64{id - 1, id})
	if err != nil {
		return Link{}, fmt.Errorf("read revision %d: %w", id, err)
	}
	link, err := v.link(ctx, id, compared, evidence.Revisions)
	if err != nil {
		return Link{}, v.readError(ctx, id, "what its chain value is made from", err)
	}
	return link, nil
}

// link returns what the chain value of a revision is made from, given the difference from the one before, and those of
// the two that exist.
func (v View) link(ctx context.Context, id int64, compared revisions.Comparison, found []revisions.Revision) (
	l Link, err error,
) {
	last := len(found) - 1
	switch {
	case last < 0 || found[last].ID != id || found[last].Stamp != compared.Stamps[id]:
		return l, fault.New(fault.Gone, "RevisionPruned", "The revision was deleted while it was being read")
	case found[last].Chain.IsZero():
		return l, withoutChain(id)
	}
	l.Revision = found[last]
	parts := l.Revision.ChainParts
	if parts.Added, err = v.addedNow(ctx, l.Revision, compared.Added); err != nil {
		return l, err
	}
	switch {
	case slices.Contains(compared.Missing, id-1), id > 1 && last == 0:
		l.Unchecked = []string{"previous", "removed"}
	case id == 1:
		parts.Previous, parts.Removed = document.Digest{}, revisions.DigestOfAll(compared.Removed)
	default:
		parts.Previous, parts.Removed = found[0].Chain, revisions.DigestOfAll(compared.Removed)
		if parts.Previous.IsZero() {
			parts.Previous, err = v.store.VersionsDigest(ctx, id-1)
		}
	}
	l.Of = l.Revision.ChainText(parts)
	return l, err
}

// withoutChain is the fault of a revision that has no chain value, which an attestation names its history by.
func withoutChain(id int64) error {
	return fault.New(fault.Conflict, "RevisionWithoutChain", "Revision %d has no chain value: an earlier version of "+
		"Purser made it. The next revision has one", id)
}

// addedNow returns the digest of the versions of documents that a revision begins, with the digests of their contents
// as these are stored now.
func (v View) addedNow(ctx context.Context, of revisions.Revision, added []*revisions.Stored) (document.Digest, error) {
	const together = 64
	meter, held := budget.NewMeter(ctx), 0
	defer func() { meter.Release(held) }()
	now := make([]*revisions.Stored, 0, len(added))
	for some := range slices.Chunk(added, together) {
		ids := make([]int64, len(some))
		for i, doc := range some {
			ids[i] = doc.ID
		}
		selected := Selected{Revision: of.ID, Stamp: of.Stamp}
		found, err := v.store.Versions(ctx, selected, ids, func(doc *revisions.Stored) error {
			if err := meter.Spend(len(doc.Data)); err != nil {
				return budget.About(err, "compute digests of revision %s", strconv.FormatInt(of.ID, 10))
			}
			text := document.Document{Identity: doc.Identity, Metadata: doc.Metadata}
			size := revisions.Size(&text)
			held += size
			if err := meter.Hold(size); err != nil {
				return budget.About(err, "compute digests of revision %s", strconv.FormatInt(of.ID, 10))
			}
			var err error
			text.Digest, err = v.renderer.ContentDigest(ctx, doc)
			now = append(now, &revisions.Stored{Document: &text, Bucket: doc.Bucket})
			return err
		})
		if err == nil && found < len(ids) { // contents were deleted, or the revision
			var stamp revisions.Stamp
			if stamp, err = v.Stamp(ctx, of.ID); err == nil && stamp != of.Stamp {
				err = revisions.UnknownRevision(strconv.FormatInt(of.ID, 10))
			}
		}
		if err != nil {
			return document.Digest{}, fmt.Errorf("read contents: %w", err)
		}
	}
	return revisions.DigestOfAll(now), nil
}
