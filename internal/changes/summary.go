package changes

import (
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

// summaryNeed returns the parts of the site needed to recognize encrypted documents in the summary of a diff.
func summaryNeed(diff revisions.Diff, viewer authz.Viewer) revisions.Need {
	return revisions.Need{Documents: !viewer.Encrypted && diff.Changes && diff.Result == nil}
}
