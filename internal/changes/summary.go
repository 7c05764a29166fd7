package changes

import (
	"slices"

	"purser/internal/authz"
	"purser/internal/revisions"
)

// Summary counts the effects of a change that its viewer may see.
type Summary struct {
	Added, Modified, Deleted int // documents
	// Unchanged are the other documents of the buckets that were filled, or of the whole site after a rollback.
	Unchanged int
	// Failing counts the documents that fail the schema validation; 0 for viewers who may not see encrypted ones.
	Failing int
}

// summarize counts the effects of a change. It may use what summaryNeed asks for.
func summarize(snapshot revisions.Snapshot, diff revisions.Diff, judgement Judgement,
	viewer authz.Viewer,
) Summary {
	added, removed := revisions.Visible(viewer, diff.Added), revisions.Visible(viewer, diff.Removed)
	s := Summary{Deleted: len(deleted(removed, added))}
	s.Modified = len(removed) - s.Deleted
	s.Added = len(added) - s.Modified
	switch {
	case diff.Result != nil:
		s.Unchanged = len(revisions.Visible(viewer, diff.Result)) - len(added)
	case viewer.Encrypted:
		s.Unchanged = snapshot.Live - len(removed)
	default:
		s.Unchanged = len(revisions.Visible(viewer, snapshot.Documents)) - len(removed)
	}
	for _, failure := range judgement.Failures {
		if viewer.Encrypted && !failure.Rule.IsZero() {
			s.Failing++
		}
	}
	return s
}

// summaryNeed returns the parts of the site needed to recognize encrypted documents in the summary of a diff.
func summaryNeed(diff revisions.Diff, viewer authz.Viewer) revisions.Need {
	return revisions.Need{Documents: !viewer.Encrypted && diff.Changes && diff.Result == nil}
}

// subjects returns the documents in a snapshot or diff that failures of the new revision may be about, by ID.
func subjects(snapshot revisions.Snapshot, diff revisions.Diff) map[int64]*revisions.Stored {
	return byID(slices.Concat(snapshot.Failing, snapshot.Governed, diff.Result, diff.Added))
}
