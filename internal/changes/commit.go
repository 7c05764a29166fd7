package changes

import (
	"slices"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// newCommit returns the commit for a judged change.
func newCommit(snapshot revisions.Snapshot, diff revisions.Diff, judgement Judgement, kind revisions.Kind,
	options revisions.Options,
) revisions.Commit {
	c := revisions.Commit{
		Base: snapshot.Head, Diff: diff.WithoutSecrets(), Audit: options.Audit,
		Failures: judgement.Failures[:len(judgement.Failures)-judgement.Outside], Outside: judgement.Outside,
		Begun: judgement.Begun, Ended: judgement.Ended,
		Revision: newRevision(snapshot, diff, judgement, kind, options),
		Archives: map[document.Digest][]byte{},
	}
	for _, doc := range diff.Added {
		if doc.IsPackage() && (diff.Archive != nil || snapshot.Contents[doc.Digest].Archived) {
			c.Archives[doc.Digest] = diff.Archive
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

func newRevision(snapshot revisions.Snapshot, diff revisions.Diff, judgement Judgement, kind revisions.Kind,
	options revisions.Options,
) revisions.Revision {
	revision := revisions.Revision{
		ID: snapshot.Revision + 1, CreatedAt: snapshot.Now, Kind: kind, Reason: options.Reason, Buckets: diff.Buckets,
		Entries: judgement.Entries, Failed: judgement.Failed(), ClientVersions: judgement.ClientVersions.Digest(),
		SecretFails: judgement.SecretFails, SecretOutside: judgement.SecretOutside,
	}
	if kind == revisions.Rollback {
		revision.Origin = snapshot.Comparison.Target
	}
	return revision
}
