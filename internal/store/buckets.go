package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	headColumns = `s.epoch, s.prunes, s.head, s.documents, s.live,
		EXISTS (SELECT FROM documents p WHERE p.site = s.site AND p.until IS NULL
			AND p.schema LIKE 'deckhand/ValidationPolicy/%'),
		EXISTS (SELECT FROM documents v WHERE v.site = s.site AND v.until IS NULL
			AND v.schema = 'purser/ClientVersions/v1'),
		(SELECT r.client_versions FROM revisions r WHERE r.site = s.site AND r.revision = s.head)`

	headState = `SELECT ` + headColumns + ` FROM sites s WHERE s.site = $1`

	bucketStates = `SELECT ` + headColumns + `, k.bucket, coalesce(b.changed, 0)
		FROM sites s CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS k (bucket, n)
		LEFT JOIN buckets b ON b.site = s.site AND b.bucket = k.bucket WHERE s.site = $1 ORDER BY k.n`
)

// headFields are where a row of headColumns goes.
func headFields(head *revisions.Head) []any {
	return []any{
		&head.Epoch, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live, &head.Policed,
		&head.Versioned,
		digestField{&head.ClientVersions},
	}
}

// positions reads where buckets stand, without their documents.
func (s *Store) positions(ctx context.Context, names []string) (revisions.State, error) {
	var state revisions.State
	err := s.read(func() (err error) {
		state, err = s.scanState(ctx, s.pool, names)
		return err
	})
	return state, err
}

// querier is a connection, a pool of them or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (s *Store) scanState(ctx context.Context, q querier, names []string) (revisions.State, error) {
	var state revisions.State
	if len(names) == 0 {
		rows, err := q.Query(ctx, headState, s.site)
		if err != nil {
			return state, err
		}
		_, err = pgx.ForEachRow(rows, headFields(&state.Head), func() error { return nil })
		return state, err //nolint:wrapcheck // explained by the callers
	}
	rows, err := q.Query(ctx, bucketStates, s.site, names)
	if err != nil {
		return state, err
	}
	var bucket revisions.Bucket
	_, err = pgx.ForEachRow(rows, append(headFields(&state.Head), &bucket.Name, &bucket.Changed), func() error {
		state.Buckets = append(state.Buckets, bucket)
		return nil
	})
	return state, err //nolint:wrapcheck // explained by the callers
}

// Buckets implements revisions.Store.
func (s *Store) Buckets(ctx context.Context, names []string) (revisions.State, error) {
	return s.buckets(ctx, names, func(*revisions.Bucket, int64) bool { return false })
}

// buckets reads the state of buckets, and the documents of those that known does not fill in by itself.
func (s *Store) buckets(ctx context.Context, names []string, known func(bucket *revisions.Bucket, epoch int64) bool) (
	state revisions.State, err error,
) {
	oneMoment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = s.read(func() error {
		return pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) error {
			if state, err = s.scanState(ctx, tx, names); err != nil {
				return err
			}
			return s.readBuckets(ctx, tx, state.Buckets, func(bucket *revisions.Bucket) bool {
				return bucket.Changed == 0 || known(bucket, state.Epoch)
			})
		})
	})
	if err != nil {
		return state, fmt.Errorf("read buckets: %w", err)
	}
	return state, nil
}

// readBuckets reads the documents of those buckets that are not known.
func (s *Store) readBuckets(ctx context.Context, tx pgx.Tx, buckets []revisions.Bucket,
	known func(*revisions.Bucket) bool,
) error {
	var missing []string
	byName := map[string]*revisions.Bucket{}
	for i := range buckets {
		if bucket := &buckets[i]; !known(bucket) {
			missing = append(missing, bucket.Name)
			byName[bucket.Name] = bucket
		}
	}
	if len(missing) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, liveOfBuckets, s.site, missing)
	if err != nil {
		return err //nolint:wrapcheck // explained by the caller
	}
	documents, err := pgx.CollectRows(rows, s.scanDocument)
	for _, doc := range documents {
		byName[doc.Bucket].Documents = append(byName[doc.Bucket].Documents, doc)
	}
	return err //nolint:wrapcheck // explained by the caller
}

// Remember implements revisions.Store; only Cached does remember.
func (s *Store) Remember(revisions.State, []*revisions.Stored) {}
