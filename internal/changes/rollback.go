package changes

import (
	"context"
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Rollback makes a new revision with the documents of an earlier one, or without documents for 0, and writes only the
// differences to the newest. It always makes a revision, even without differences, and carries over the results posted
// about the target, which also hold for the new one: the newest of each validation, and each user's if it needs
// approvals. Faults: NotFound, Gone, Stale, Conflict, Forbidden.
func (s *Service) Rollback(ctx context.Context, target int64, options revisions.Options) (Written, error) {
	return s.change(ctx, rollbackSource{s, target, options.CleartextOnly, !options.Viewer.Encrypted}, revisions.Rollback,
		options)
}

// rollbackSource is the target of a rollback as the source of a change.
type rollbackSource struct {
	service       *Service
	target        int64
	cleartextOnly bool
	blind         bool // as in Payload
}

func (r rollbackSource) need() revisions.Need {
	return revisions.Need{Target: &r.target, Evidence: true, Documents: r.cleartextOnly}
}

func (r rollbackSource) decoded(context.Context, revisions.Snapshot) (source, error) { return r, nil }

func (r rollbackSource) plan(ctx context.Context, snapshot revisions.Snapshot) (revisions.Diff, error) {
	if len(snapshot.Comparison.Missing) > 0 {
		return revisions.Diff{}, revisions.Absent(ctx, r.service.Store, r.target)
	}
	if r.cleartextOnly {
		if err := refuseSecrets(snapshot, r.service.Compat); err != nil {
			return revisions.Diff{}, err
		}
	}
	diff := planRollback(snapshot, r.blind)
	diff.Upstreams = snapshot.Comparison.Upstreams
	if !r.service.Compat {
		diff.CarriedFrom, diff.Carried, diff.Carried.Votes = r.target, snapshot.Carried, map[string][]validations.Vote{}
		for ballot, votes := range snapshot.Votes {
			diff.Carried.Votes[ballot.Validation] = votes
		}
	}
	return diff, nil
}

// planRollback returns the diff that restores the target of a comparison. It removes versions that only the newest
// revision has, and adds those that only the target has, in their old places. A version with equal contents in the same
// place stays, except for encrypted ones if the caller is blind. It always makes a revision.
func planRollback(snapshot revisions.Snapshot, blind bool) revisions.Diff {
	found := snapshot.Comparison
	diff := revisions.Diff{
		Changes: true,
		Opened:  missingIn(found.Before, found.After), Emptied: missingIn(found.After, found.Before),
	}
	restored := make(map[document.Identity]*revisions.Stored, len(found.Added))
	for _, doc := range found.Added {
		restored[doc.Identity] = doc
	}
	for _, doc := range found.Removed {
		guessed := blind && doc.Traits().Encrypted
		if old := restored[doc.Identity]; old != nil && old.Place == doc.Place && revisions.SameVersion(old,
			doc) && !guessed {
			delete(restored, doc.Identity)
			continue
		}
		diff.Removed = append(diff.Removed, doc)
	}
	for _, doc := range found.Added {
		if restored[doc.Identity] == nil {
			continue
		}
		added := revisions.Numbered(snapshot.Head, len(diff.Added), revisions.Stored{
			Document: doc.Document,
			Bucket:   doc.Bucket,
			Origin:   doc.Origin,
		})
		added.Place = doc.Place
		diff.Added = append(diff.Added, added)
	}
	diff.Buckets = revisions.TouchedBuckets(diff.Added, diff.Removed)
	return diff
}

// missingIn returns the items of others that are not in a sorted list.
func missingIn(sorted, others []string) (missing []string) {
	for _, other := range others {
		if _, found := slices.BinarySearch(sorted, other); !found {
			missing = append(missing, other)
		}
	}
	return missing
}

// refuseSecrets refuses a rollback if either revision has encrypted documents. Except in compat mode the fault names
// the first one that would be replaced or deleted. Fault: Forbidden.
func refuseSecrets(snapshot revisions.Snapshot, compat bool) error {
	for _, doc := range snapshot.Comparison.Removed {
		if doc.Traits().Encrypted && !compat {
			return revisions.MayNotDelete(doc.Identity, 0)
		}
	}
	documents := slices.Concat(snapshot.Comparison.Added, snapshot.Documents)
	if slices.ContainsFunc(documents, isEncrypted) {
		return mayNotEncrypt()
	}
	return nil
}

// mayNotEncrypt returns Deckhand's fault for a caller who may not store encrypted documents.
func mayNotEncrypt() error {
	return fault.New(fault.Forbidden, "HTTPForbidden",
		"Policy doesn't allow %s to be performed", authz.CreateEncryptedDocuments).Lacking(authz.CreateEncryptedDocuments)
}
