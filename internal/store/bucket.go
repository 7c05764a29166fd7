package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const bucketState = `SELECT s.epoch, s.head, s.documents, coalesce(b.changed, 0)
	FROM sites s LEFT JOIN buckets b ON b.site = s.site AND b.bucket = $2 WHERE s.site = $1`

// position reads where a bucket stands, without its documents.
func (s *Store) position(ctx context.Context, name string) (revisions.Bucket, error) {
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (revisions.Bucket, error) {
		return scanState(row, name)
	}, bucketState, s.site, name)
	if err != nil || len(found) == 0 {
		return revisions.Bucket{}, err
	}
	return found[0], nil
}

func scanState(row pgx.Row, name string) (revisions.Bucket, error) {
	bucket := revisions.Bucket{Name: name}
	err := row.Scan(&bucket.Epoch, &bucket.Revision, &bucket.LastDocument, &bucket.Changed)
	return bucket, err //nolint:wrapcheck // explained by the callers
}

// Bucket implements revisions.Store.
func (s *Store) Bucket(ctx context.Context, name string) (bucket revisions.Bucket, err error) {
	oneMoment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) error {
		if bucket, err = scanState(tx.QueryRow(ctx, bucketState, s.site, name), name); err != nil || bucket.Changed == 0 {
			return err
		}
		rows, err := tx.Query(ctx, liveOfBucket, s.site, name)
		if err != nil {
			return err //nolint:wrapcheck // explained below
		}
		bucket.Documents, err = pgx.CollectRows(rows, s.scanDocument)
		return err //nolint:wrapcheck // explained below
	})
	if err != nil {
		return bucket, fmt.Errorf("read bucket %s: %w", name, s.dbFault(err))
	}
	return bucket, nil
}

// Remember implements revisions.Store; only Cached does remember.
func (s *Store) Remember(revisions.Bucket, []*revisions.Stored) {}
