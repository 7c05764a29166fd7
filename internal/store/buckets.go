package store

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// countedPage names a page of buckets that were counted, and countedBucket is one of them.
type (
	countedPage struct {
		site string
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
	sql := stmt.Buckets
	if cleartext {
		sql = stmt.CleartextBuckets
	}
	kept, _ := s.live.Get(siteKey{s.site})
	before, _ := s.counted.Get(countedPage{s.site, page, cleartext})
	names, stamps := []string{}, []revisions.Stamp{}
	for name, bucket := range before {
		names, stamps = append(names, name), append(stamps, bucket.stamp)
	}
	inMemory := sync.OnceValue(func() map[string]int { return countDocuments(kept.documents, cleartext) })
	counted, size := map[string]countedBucket{}, 0
	buckets, err := collect(ctx, s.Database, func(row pgx.CollectableRow) (b queries.Bucket, err error) {
		var stamp revisions.Stamp
		var same bool
		var documents *int
		err = row.Scan(&b.Name, &b.Last.Revision, (*zeronull.Timestamptz)(&b.Last.At), &b.Last.User, &b.Last.Message,
			&b.Last.Source, &stamp, &same, &documents)
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
	}, sql, named{
		"site": s.site, "known": kept.stamp, "offset": page.Offset, "limit": page.Limit, "counted": names, "stamps": stamps,
	})
	if err == nil {
		s.counted.Add(countedPage{s.site, page, cleartext}, counted, size)
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
