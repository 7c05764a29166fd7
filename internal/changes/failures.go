package changes

import (
	"crypto/sha256"
	"fmt"

	"purser/internal/document"
	"purser/internal/revisions"
)

// failing are the revisions with the violations of the last one that this process made: those since a first one.
type failing struct{ first, last revisions.Stamp }

// failuresOf returns a digest that identifies what fails in a revision that was made, and why, so that this need not be
// read again for each revision in which nothing else fails. It depends on secrets, so it stays in memory.
func (s *Service) failuresOf(stored revisions.Commit, results []RevisionResult) document.Digest {
	of := failing{stored.Revision.Stamp, stored.Revision.Stamp}
	before := s.failing.Load()
	if before != nil && before.last == stored.Base.Stamp && len(stored.Begun)+len(stored.Ended) == 0 {
		of.first = before.first
	}
	s.failing.Store(&of)
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, of.first) // a hash returns no error
	if stored.Diff.CarriedFrom > 0 {
		_, _ = fmt.Fprintln(sum, of.last)
	}
	for _, result := range stored.Results {
		_, _ = fmt.Fprintf(sum, "%q %s %s\n", result.Name, result.Status, result.Errors)
	}
	for _, result := range results {
		for _, m := range result.Messages {
			if m.Secret {
				_, _ = fmt.Fprintf(sum, "%q %q %v %q %d\n", m.Name, m.Message, m.Documents, m.Path, m.Unlisted+m.More)
			}
		}
	}
	return document.Digest(sum.Sum(nil))
}
