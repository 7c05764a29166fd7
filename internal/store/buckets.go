package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
)

// The buckets of a page with the revisions that changed them last, and how many live documents they have: null if the
// live documents are known.
const (
	selectBuckets = `SELECT b.bucket, b.changed, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''),
			CASE WHEN` + unlessKnown + ` THEN (
				SELECT count(*) FROM documents d WHERE d.site = $1 AND d.bucket = b.bucket AND d.until IS NULL`
	ofBuckets = `) END
		FROM (SELECT bucket, changed, stamp FROM buckets WHERE site = $1 ORDER BY bucket OFFSET $3 LIMIT $4) b
		LEFT JOIN LATERAL (SELECT created_at, author, message FROM revisions
			WHERE site = $1 AND revision = b.changed AND stamp = b.stamp OFFSET 0) r ON true
		ORDER BY b.bucket`

	allBuckets       = selectBuckets + ofBuckets // by index alone
	cleartextBuckets = selectBuckets + ` AND NOT d.encrypted` + ofBuckets
)

// Buckets implements queries.Store. It counts live documents in memory if they are there.
func (s *Store) Buckets(ctx context.Context, page queries.Page, cleartext bool) ([]queries.Bucket, error) {
	sql := allBuckets
	if cleartext {
		sql = cleartextBuckets
	}
	kept, _ := s.live.Get(struct{}{})
	isKnown := false
	buckets, err := postgres.Collect(ctx, s.site.DB, func(row pgx.CollectableRow) (b queries.Bucket, err error) {
		var at *time.Time
		var documents *int
		err = row.Scan(&b.Name, &b.Last.Revision, &at, &b.Last.User, &b.Last.Message, &documents)
		b.Last.At = postgres.UTC(at)
		if isKnown = documents == nil; !isKnown {
			b.Documents = *documents
		}
		return b, err //nolint:wrapcheck // explained by collect
	}, sql, s.site.Name, kept.stamp, page.Offset, page.Limit)
	if isKnown {
		countDocuments(buckets, kept.documents, cleartext)
	}
	return buckets, err
}

// countDocuments sets how many of the documents each bucket has, without encrypted ones if only cleartext is counted.
func countDocuments(buckets []queries.Bucket, documents []*revisions.Stored, cleartext bool) {
	counts := map[string]int{}
	for _, doc := range documents {
		if !cleartext || !doc.Traits().Encrypted {
			counts[doc.Bucket]++
		}
	}
	for i := range buckets {
		buckets[i].Documents = counts[buckets[i].Name]
	}
}
