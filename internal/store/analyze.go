package store

import (
	"context"

	"purser/internal/revisions"
)

// Autovacuum runs only once a minute. Until then, plans that were made for a small site read all of one that has grown.

// manyAdded is the number of documents above which a change may be followed by analyze.
const manyAdded = 200

// outgrows reports whether a change makes the site so much larger that plans which were made for its former size may
// read all of it.
func outgrows(commit revisions.Commit) bool {
	return len(commit.Diff.Added) >= max(manyAdded, commit.Base.Live)
}

// analyze updates the statistics, which makes the sessions of all servers plan their statements again.
func (s *Store) analyze(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.site.Deadlines.Append)
	defer cancel()
	_ = s.site.Sharing(ctx, func() error {
		_, err := s.site.Pool.Exec(ctx, `ANALYZE documents, contents, buckets, violations`)
		return err //nolint:wrapcheck // is dropped
	})
}
