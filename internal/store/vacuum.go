package store

import "context"

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
	`VACUUM (ANALYZE, SKIP_LOCKED) entries`,
	`VACUUM (ANALYZE, SKIP_LOCKED) violations`,
	`VACUUM (ANALYZE, SKIP_LOCKED) checks`,
	`VACUUM (ANALYZE, SKIP_LOCKED) buckets`,
	`VACUUM (ANALYZE, SKIP_LOCKED) occupancies`,
	`VACUUM (ANALYZE, SKIP_LOCKED) tags`,
}

// manyDeleted is the number of deleted rows above which a prune is followed by a vacuum.
const manyDeleted = 1000

// vacuum runs vacuums. The caller must have no open transaction, and bounds the time with ctx.
func (s *Store) vacuum(ctx context.Context) {
	_ = s.withConn(ctx, general, func(ctx context.Context) error {
		for _, sql := range vacuums {
			_, _ = s.pool.Exec(ctx, sql)
		}
		return nil
	})
}
