package store

import "context"

// Autovacuum runs only once a minute. Until then, plans that were made for a small site read all of one that has grown,
// and reads visit deleted rows. The errors of these statements, and the statement timeout, are ignored: autovacuum does
// the work later.

// tables are those that a purge empties, in this order; a prune deletes rows of them too.
var tables = []string{
	"tags", "results", "reported", "entries", "violations", "checks", "documents", "contents", "buckets", "occupancies",
	"revisions",
}

// manyDeleted is the number of deleted rows above which a prune is followed by a vacuum.
const manyDeleted = 1000

// vacuum removes the rows that a purge or a prune has deleted, one table at a time, and leaves out tables that are
// being vacuumed or altered. The caller must have no open transaction, and bounds the time with ctx.
func (s *Store) vacuum(ctx context.Context) {
	_ = s.withConn(ctx, general, func(ctx context.Context) error {
		for _, table := range tables {
			_, _ = s.pool.Exec(ctx, "VACUUM (ANALYZE, SKIP_LOCKED) "+table)
		}
		return nil
	})
}
