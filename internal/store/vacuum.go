package store

import (
	"context"

	"purser/internal/revisions"
)

// Autovacuum runs only once a minute. Until then, plans that were made for a small site read all of one that has grown,
// and reads visit deleted rows. The errors of these statements, and the statement timeout, are ignored: autovacuum does
// the work later.

// vacuums remove the rows that a purge or a prune has deleted, one table at a time, and leave out tables that are being
// vacuumed or altered.
var vacuums = []string{
	`VACUUM (ANALYZE, SKIP_LOCKED) documents`,
	`VACUUM (ANALYZE, SKIP_LOCKED) contents`,
	`VACUUM (ANALYZE, SKIP_LOCKED) revisions`,
	`VACUUM (ANALYZE, SKIP_LOCKED) results`,
	`VACUUM (ANALYZE, SKIP_LOCKED) reported`,
	`VACUUM (ANALYZE, SKIP_LOCKED) failures`,
	`VACUUM (ANALYZE, SKIP_LOCKED) checks`,
	`VACUUM (ANALYZE, SKIP_LOCKED) buckets`,
	`VACUUM (ANALYZE, SKIP_LOCKED) occupancies`,
	`VACUUM (ANALYZE, SKIP_LOCKED) tags`,
}

// manyDeleted is the number of deleted rows above which a prune is followed by a vacuum.
const manyDeleted = 1000

// vacuum runs vacuums. The caller must have no open transaction, and bounds the time with ctx.
func (s *Store) vacuum(ctx context.Context) {
	_ = s.db.Sharing(ctx, func() error {
		for _, sql := range vacuums {
			_, _ = s.db.Pool.Exec(ctx, sql)
		}
		return nil
	})
}

// manyAdded is the number of documents above which a change may be followed by analyze.
const manyAdded = 200

// outgrows reports whether a change makes the site so much larger that plans which were made for its former size may
// read all of it.
func outgrows(commit revisions.Commit) bool {
	return len(commit.Diff.Added) >= max(manyAdded, commit.Base.Live)
}

// analyze updates the statistics, which makes the sessions of all servers plan their statements again.
func (s *Store) analyze(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.db.Deadlines.Append)
	defer cancel()
	_ = s.db.Sharing(ctx, func() error {
		_, err := s.db.Pool.Exec(ctx, `ANALYZE documents, contents, buckets`)
		return err //nolint:wrapcheck // is dropped
	})
}
