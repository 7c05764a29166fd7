package changes

import (
	"slices"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/judging"
	"purser/internal/revisions"
)

// Summary counts the effects of a change that its viewer may see.
type Summary struct {
	Added, Modified, Deleted int // documents
	// Unchanged are the other documents of the buckets that were filled, or of the whole site after a rollback.
	Unchanged int
	// Failing counts the documents that fail the server's own validations, plus their messages about no document. Unlike
	// counting findings, it costs a change nothing.
	Failing int
}

// summarize counts the effects of a change. It may use what summaryNeed asks for.
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

// failed counts the documents that fail the server's own validations, plus their messages about no document.
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

// failedBesides counts the failing documents in messages that are not in counted, and messages without documents.
func failedBesides(counted map[document.Identity]bool, messages []fault.Message) (count int) {
	for _, message := range messages {
		documents := message.Documents
		if !message.Secret { // a secret one names all failing documents, others begin with the one to correct
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

// summaryNeed returns the parts of the site needed to recognize encrypted documents in the summary of a diff.
func summaryNeed(diff revisions.Diff, viewer authz.Viewer) revisions.Need {
	if viewer.Encrypted || !diff.Changes {
		return revisions.Need{}
	}
	return revisions.Need{Preview: true, Documents: diff.Result == nil}
}

// subjects returns the documents in a snapshot or diff that failures of the new revision may be about, by ID.
func subjects(snapshot revisions.Snapshot, diff revisions.Diff) map[int64]*revisions.Stored {
	return byID(slices.Concat(snapshot.Failing, snapshot.Governed, diff.Result, diff.Added))
}
