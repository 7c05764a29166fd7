package changes

import (
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/judging"
	"purser/internal/revisions"
)

// Summary counts what a change does, as far as its viewer may see it.
type Summary struct {
	Added, Modified, Deleted int // documents
	// Unchanged are the other documents of the buckets that were filled, or of the whole site after a rollback.
	Unchanged int
	// Failing are the documents that fail the server's own validations, and what these say about no document. Counting
	// them costs a change nothing, as counting findings would.
	Failing int
}

// summarize counts what a change does. For viewers who may not see encrypted documents it needs what summaryNeed names.
func summarize(snapshot revisions.Snapshot, diff revisions.Diff, judgement judging.Judgement,
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
	s.Failing = failed(snapshot, diff, judgement, viewer)
	return s
}

// failed counts the documents that fail the server's own validations, and what these say about no document.
func failed(snapshot revisions.Snapshot, diff revisions.Diff, judgement judging.Judgement, viewer authz.Viewer) (
	count int,
) {
	var messages []fault.Message
	for _, result := range judgement.Results {
		messages = append(messages, viewer.Messages(result.Messages)...)
	}
	var about map[int64]*revisions.Stored
	switch {
	case len(messages) > 0: // then the snapshot has all documents
		about = byID(diff.After(snapshot.Documents))
	case !viewer.Encrypted && len(judgement.Failures) > 0:
		about = subjects(snapshot, diff)
	}
	counted := map[document.Identity]bool{}
	for _, failure := range judgement.Failures {
		doc := about[failure.Document]
		if failure.Rule.IsZero() || !viewer.Encrypted && (doc == nil || doc.Traits().Encrypted) {
			continue
		}
		if count++; doc != nil {
			counted[doc.Identity] = true
		}
	}
	return count + failedBesides(counted, messages)
}

// failedBesides counts the documents that messages say fail, besides those that are counted, and messages about none.
func failedBesides(counted map[document.Identity]bool, messages []fault.Message) (count int) {
	for _, message := range messages {
		documents := message.Documents
		if !message.Secret { // a secret one names all that fail, others the one to correct first
			documents = documents[:min(1, len(documents))]
		}
		if len(documents) == 0 {
			count++
		}
		for _, named := range documents {
			identity := document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
			if !counted[identity] {
				counted[identity] = true
				count++
			}
		}
	}
	return count
}

// summaryNeed returns the parts of the site that the summary of a diff needs to recognize encrypted documents.
func summaryNeed(diff revisions.Diff, viewer authz.Viewer) revisions.Need {
	if viewer.Encrypted || !diff.Changes {
		return revisions.Need{}
	}
	return revisions.Need{Preview: true, Documents: diff.Result == nil}
}

// subjects returns the documents that failures of the new revision are about, as far as a snapshot has them, by id.
func subjects(snapshot revisions.Snapshot, diff revisions.Diff) map[int64]*revisions.Stored {
	return byID(slices.Concat(snapshot.Failing, snapshot.Governed, diff.Result, diff.Added))
}
