package store

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// The buckets of a page with the revisions that changed them last, and how many live documents they have: null if the
// live documents are known, or if the bucket has one of the stamps $6, with which it was counted before.
const (
	selectBuckets = `SELECT b.bucket, b.changed, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''), b.stamp,
			k.bucket IS NOT NULL, CASE WHEN k.bucket IS NULL AND` + unlessKnown + ` THEN (
				SELECT count(*) FROM documents d WHERE d.site = $1 AND d.bucket = b.bucket AND d.until IS NULL`
	ofBuckets = `) END
		FROM (SELECT bucket, changed, stamp FROM buckets WHERE site = $1 ORDER BY bucket OFFSET $3 LIMIT $4) b
		LEFT JOIN unnest($5::text[], $6::bigint[]) AS k (bucket, stamp) ON k.bucket = b.bucket AND k.stamp = b.stamp
		LEFT JOIN LATERAL (SELECT created_at, author, message FROM revisions
			WHERE site = $1 AND revision = b.changed AND stamp = b.stamp OFFSET 0) r ON true
		ORDER BY b.bucket`

	allBuckets       = selectBuckets + ofBuckets // by index alone
	cleartextBuckets = selectBuckets + ` AND NOT d.encrypted` + ofBuckets
)

// countedPage names a page of buckets that were counted, and countedBucket is one of them.
type (
	countedPage struct {
		queries.Page

		cleartext bool
	}
	countedBucket struct {
		stamp     revisions.Stamp // of the revision that changed it last
		documents int
	}
)

// countedSize bounds the memory of counted buckets, in bytes, and perCounted is that of one.
const countedSize, perCounted = 4 << 20, 64

// Buckets implements queries.Store. It counts the documents of those buckets that have changed since the same page was
// read before, in memory if the live documents are there.
func (s *Store) Buckets(ctx context.Context, page queries.Page, cleartext bool) ([]queries.Bucket, error) {
	sql := allBuckets
	if cleartext {
		sql = cleartextBuckets
	}
	kept, _ := s.live.Get(struct{}{})
	before, _ := s.counted.Get(countedPage{page, cleartext})
	names, stamps := []string{}, []revisions.Stamp{}
	for name, bucket := range before {
		names, stamps = append(names, name), append(stamps, bucket.stamp)
	}
	inMemory := sync.OnceValue(func() map[string]int { return countDocuments(kept.documents, cleartext) })
	counted, size := map[string]countedBucket{}, 0
	buckets, err := collect(ctx, s, func(row pgx.CollectableRow) (b queries.Bucket, err error) {
		var at *time.Time
		var stamp revisions.Stamp
		var same bool
		var documents *int
		err = row.Scan(&b.Name, &b.Last.Revision, &at, &b.Last.User, &b.Last.Message, &stamp, &same, &documents)
		b.Last.At = utc(at)
		switch {
		case same:
			b.Documents = before[b.Name].documents
		case documents != nil:
			b.Documents = *documents
		default:
			b.Documents = inMemory()[b.Name]
		}
		counted[b.Name], size = countedBucket{stamp, b.Documents}, size+len(b.Name)+perCounted
		return b, err
	}, sql, s.site, kept.stamp, page.Offset, page.Limit, names, stamps)
	if err == nil {
		s.counted.Add(countedPage{page, cleartext}, counted, size)
	}
	return buckets, err
}

// countDocuments returns how many of the documents each bucket has, without encrypted ones if only cleartext is
// counted.
func countDocuments(documents []*revisions.Stored, cleartext bool) map[string]int {
	counts := map[string]int{}
	for _, doc := range documents {
		if !cleartext || !doc.Traits().Encrypted {
			counts[doc.Bucket]++
		}
	}
	return counts
}
