package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/store/postgres"
)

// The buckets of a page with the revisions that changed them last, and how many live documents they have.
const (
	selectBuckets = `SELECT b.bucket, b.changed, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''),
			(SELECT count(*) FROM documents d WHERE d.site = $1 AND d.bucket = b.bucket AND d.until IS NULL`
	ofBuckets = `)
		FROM (SELECT bucket, changed, stamp FROM buckets WHERE site = $1 ORDER BY bucket OFFSET $2 LIMIT $3) b
		LEFT JOIN LATERAL (SELECT created_at, author, message FROM revisions
			WHERE site = $1 AND revision = b.changed AND stamp = b.stamp OFFSET 0) r ON true
		ORDER BY b.bucket`

	allBuckets       = selectBuckets + ofBuckets // by index alone
	cleartextBuckets = selectBuckets + ` AND NOT d.encrypted` + ofBuckets
)

// Buckets implements queries.Store.
func (s *Store) Buckets(ctx context.Context, page queries.Page, cleartext bool) ([]queries.Bucket, error) {
	sql := allBuckets
	if cleartext {
		sql = cleartextBuckets
	}
	return postgres.Collect(ctx, s.site.DB, func(row pgx.CollectableRow) (b queries.Bucket, err error) {
		var at *time.Time
		err = row.Scan(&b.Name, &b.Last.Revision, &at, &b.Last.User, &b.Last.Message, &b.Documents)
		b.Last.At = postgres.UTC(at)
		return b, err //nolint:wrapcheck // explained by collect
	}, sql, s.site.Name, page.Offset, page.Limit)
}
