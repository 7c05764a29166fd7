package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	latestRevision = `SELECT head FROM sites WHERE site = $1`

	revisionsFrom = `SELECT r.revision, r.created_at, r.buckets, r.entries, EXISTS (
			SELECT FROM failures f WHERE f.site = r.site AND f.revision = r.revision AND f.rule IS NOT NULL)
		FROM revisions r WHERE r.site = $1 AND r.revision BETWEEN $2 AND $3 ORDER BY r.revision`
)

// Latest implements revisions.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	head, err := collect(ctx, s, pgx.RowTo[int64], latestRevision, s.site)
	if err != nil || len(head) == 0 {
		return 0, err
	}
	return head[0], nil
}

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	if err := row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &r.Failed); err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	return r, nil
}

// The tables that Purge empties, and the counters it resets.
var purge = []string{
	`UPDATE sites SET epoch = epoch + 1, head = 0, documents = 0 WHERE site = $1`,
	`DELETE FROM results WHERE site = $1`,
	`DELETE FROM reported WHERE site = $1`,
	`DELETE FROM failures WHERE site = $1`,
	`DELETE FROM checks WHERE site = $1`,
	`DELETE FROM documents WHERE site = $1`,
	`DELETE FROM contents WHERE site = $1`,
	`DELETE FROM buckets WHERE site = $1`,
	`DELETE FROM revisions WHERE site = $1`,
}

// Purge implements revisions.Store.
func (s *Store) Purge(ctx context.Context) error {
	return s.retry(ctx, func() error {
		batch := &pgx.Batch{} // one transaction
		for _, statement := range purge {
			batch.Queue(statement, s.site)
		}
		return s.pool.SendBatch(ctx, batch).Close()
	})
}
