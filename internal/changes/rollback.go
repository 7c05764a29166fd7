package changes

import (
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// planRollback returns the diff that restores the target of a comparison. It removes versions that only the newest
// revision has, and adds those that only the target has, in their old places. A version with equal contents in the same
// place stays, except for encrypted ones if the caller is blind. It always makes a revision.
func planRollback(snapshot revisions.Snapshot, blind bool) revisions.Diff {
	found := snapshot.Comparison
	diff := revisions.Diff{
		Changes: true,
		Opened:  missingIn(found.Before, found.After), Emptied: missingIn(found.After, found.Before),
	}
	restored := make(map[document.Identity]*revisions.Stored, len(found.Come))
	for _, doc := range found.Come {
		restored[doc.Identity] = doc
	}
	for _, doc := range found.Gone {
		guessed := blind && doc.Traits().Encrypted
		if old := restored[doc.Identity]; old != nil && old.Place == doc.Place && revisions.SameVersion(old,
			doc) && !guessed {
			delete(restored, doc.Identity)
			continue
		}
		diff.Removed = append(diff.Removed, doc)
	}
	for _, doc := range found.Come {
		if restored[doc.Identity] == nil {
			continue
		}
		added := revisions.Numbered(snapshot.Head, len(diff.Added), revisions.Stored{
			Document: doc.Document,
			Bucket:   doc.Bucket,
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
	for _, doc := range snapshot.Comparison.Gone {
		if doc.Traits().Encrypted && !compat {
			return revisions.MayNotDelete(doc.Identity, 0)
		}
	}
	documents := slices.Concat(snapshot.Comparison.Come, snapshot.Documents)
	if slices.ContainsFunc(documents, func(doc *revisions.Stored) bool { return doc.Traits().Encrypted }) {
		return mayNotEncrypt()
	}
	return nil
}

// mayNotEncrypt returns the reference's fault for a caller who may not store encrypted documents.
func mayNotEncrypt() error {
	return fault.New(fault.Forbidden, "HTTPForbidden",
		"Policy doesn't allow deckhand:create_encrypted_documents to be performed")
}
