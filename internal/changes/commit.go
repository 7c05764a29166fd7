package changes

import (
	"slices"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// newCommit returns the commit for a judged change.
func newCommit(p proposal) revisions.Commit {
	judgement := p.judgement
	c := revisions.Commit{
		Base: p.snapshot.Head, Diff: p.diff.WithoutSecrets(), Audit: p.options.Audit, Revision: newRevision(p),
		Failures: judgement.Failures[:len(judgement.Failures)-judgement.Outside], Outside: judgement.Outside,
		Begun: judgement.Begun, Ended: judgement.Ended, Holds: judgement.Holds, Held: p.held,
		Archives: map[document.Digest][]byte{},
	}
	for _, doc := range p.diff.Added {
		if doc.IsPackage() && (p.diff.Archive != nil || p.snapshot.Contents[doc.Digest].Archived) {
			c.Archives[doc.Digest] = p.diff.Archive
		}
	}
	c.Checks = slices.Clone(judgement.Checks)
	for i := range c.Checks {
		c.Checks[i].Findings = validations.Concealed(c.Checks[i].Findings)
	}
	for _, result := range judgement.Results {
		stored := result.Stored()
		stored.CreatedAt = c.Revision.CreatedAt
		c.Results = append(c.Results, stored)
	}
	return c
}

// newRevision returns the revision that a judged change makes, without its stamp.
func newRevision(p proposal) revisions.Revision {
	revision := revisions.Revision{
		ID: p.snapshot.Revision + 1, CreatedAt: p.snapshot.Now, Kind: p.kind, Reason: p.options.Reason,
		AuthorID: p.options.Caller.ID, Upstreams: p.diff.Upstreams,
		Buckets: p.diff.Buckets, Entries: p.judgement.Entries, Failed: p.judgement.Failed(),
		ClientVersions: p.judgement.ClientVersions.Digest(),
		Inapplicable:   p.judgement.Inapplicable,
		SecretFails:    p.judgement.SecretFails, SecretOutside: p.judgement.SecretOutside,
	}
	if p.kind == revisions.Rollback {
		revision.Origin = p.snapshot.Comparison.Target
	}
	return revision
}
