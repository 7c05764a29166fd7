package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

// purge empties all tables of the site but its counters.
var purge = []string{
	`DELETE FROM tags WHERE site = $1`,
	`DELETE FROM results WHERE site = $1`,
	`DELETE FROM reported WHERE site = $1`,
	`DELETE FROM failures WHERE site = $1`,
	`DELETE FROM checks WHERE site = $1`,
	`DELETE FROM documents WHERE site = $1`,
	`DELETE FROM contents WHERE site = $1`,
	`DELETE FROM buckets WHERE site = $1`,
	`DELETE FROM occupancies WHERE site = $1`,
	`DELETE FROM revisions WHERE site = $1`,
}

const (
	resetSite = `UPDATE sites SET epoch = epoch + 1, head = 0, documents = 0, live = 0, settled = 0,
		purged_at = $2, purged_by = $3,
		purge_message = $4 WHERE site = $1`

	lastPurge = `SELECT purged_at, purged_by, purge_message FROM sites WHERE site = $1 AND purged_at IS NOT NULL`
)

// Purge implements revisions.Store.
func (s *Store) Purge(ctx context.Context, p revisions.Purge, expected revisions.Expected) error {
	return s.sweeping(ctx, func(ctx context.Context) error { return s.purge(ctx, p, expected) })
}

func (s *Store) purge(ctx context.Context, p revisions.Purge, expected revisions.Expected) error {
	return s.retry(ctx, s.deadlines.Sweep, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var head revisions.Head
			if err := tx.QueryRow(ctx, lockHead, s.site).Scan(headFields(&head)...); err != nil {
				return err //nolint:wrapcheck // explained by the caller
			}
			if err := expected.Check(head); err != nil {
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue(resetSite, s.site, p.At, p.User, p.Message)
			for _, statement := range purge {
				batch.Queue(statement, s.site)
			}
			return tx.SendBatch(ctx, batch).Close()
		})
	}, foreignKeyViolation) // somebody tagged a revision meanwhile
}

func scanPurge(row pgx.CollectableRow) (p *revisions.Purge, err error) {
	p = &revisions.Purge{}
	err = row.Scan(&p.At, &p.User, &p.Message)
	return p, err //nolint:wrapcheck // explained by the caller
}
