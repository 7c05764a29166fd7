package revisions

import (
	"slices"

	"purser/internal/authz"
)

// Summary counts what a change does, as far as its viewer may see it.
type Summary struct {
	Added, Modified, Deleted int // documents
	// Unchanged are the other documents of the buckets that were filled, or of the whole site after a rollback.
	Unchanged int
	// Failing are the documents that fail the schema validation, and the messages of the server's other validations. It
	// costs a change nothing, as the number of its findings would.
	Failing int
}

// summarize counts what a change does. For viewers who may not see encrypted documents it needs what summaryNeed names.
func summarize(snapshot Snapshot, diff Diff, judgement Judgement, viewer authz.Viewer) Summary {
	added, removed := Visible(viewer, diff.Added), Visible(viewer, diff.Removed)
	s := Summary{Deleted: len(deleted(removed, added))}
	s.Modified = len(removed) - s.Deleted
	s.Added = len(added) - s.Modified
	switch {
	case diff.Result != nil:
		s.Unchanged = len(Visible(viewer, diff.Result)) - len(added)
	case viewer.Encrypted:
		s.Unchanged = snapshot.Live - len(removed)
	default:
		s.Unchanged = len(Visible(viewer, snapshot.Documents)) - len(removed)
	}
	var about map[int64]*Stored
	if !viewer.Encrypted && len(judgement.Failures) > 0 {
		about = subjects(snapshot, diff)
	}
	for _, failure := range judgement.Failures {
		doc := about[failure.Document]
		if !failure.Rule.IsZero() && (viewer.Encrypted || doc != nil && !doc.Traits().Encrypted) {
			s.Failing++
		}
	}
	for _, result := range judgement.Results {
		s.Failing += len(viewer.Messages(result.Messages))
	}
	return s
}

// summaryNeed returns what tells encrypted documents from others in the summary of a diff.
func summaryNeed(diff Diff, viewer authz.Viewer) Need {
	if viewer.Encrypted || !diff.Changes {
		return Need{}
	}
	return Need{Preview: true, Documents: diff.Result == nil}
}

// subjects returns the documents that failures of the new revision are about, as far as a snapshot has them, by id.
func subjects(snapshot Snapshot, diff Diff) map[int64]*Stored {
	return byID(slices.Concat(snapshot.Failing, snapshot.Governed, diff.Result, diff.Added))
}
