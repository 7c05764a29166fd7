package changes

import (
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

// summarize counts the effects of a change. For a rollback, whose viewer may not see encrypted documents, it needs all
// documents.
func summarize(p proposal) Summary {
	viewer, diff := p.options.Viewer, p.diff
	added, removed := revisions.Visible(viewer, diff.Added), revisions.Visible(viewer, diff.Removed)
	s := Summary{Deleted: len(deleted(removed, added))}
	s.Modified = len(removed) - s.Deleted
	s.Added = len(added) - s.Modified
	switch {
	case diff.Result != nil:
		s.Unchanged = len(revisions.Visible(viewer, diff.Result)) - len(added)
	case viewer.Encrypted:
		s.Unchanged = p.snapshot.Live - len(removed)
	default:
		s.Unchanged = len(revisions.Visible(viewer, p.snapshot.Documents)) - len(removed)
	}
	for _, failure := range p.judgement.Failures {
		if viewer.Encrypted && !failure.Rule.IsZero() {
			s.Failing++
		}
	}
	return s
}
