package queries

import (
	"context"
	"fmt"
	"time"

	"purser/internal/revisions"
)

// Change is when, by whom and why something was changed. At is zero and the reason empty if the revision has been
// deleted.
type Change struct {
	revisions.Reason

	Revision int64
	At       time.Time
}

// Bucket is the state of a bucket in the newest revision; it may be empty.
type Bucket struct {
	Name      string
	Documents int // that the viewer may see
	Last      Change
}

// Buckets returns a page of the buckets by name, and reports whether there are more.
func (v View) Buckets(ctx context.Context, page Page) (buckets []Bucket, more bool, err error) {
	page.Limit++ // one more than wanted, to see whether there are more
	if buckets, err = v.store.Buckets(ctx, page, !v.viewer.Encrypted); err != nil {
		return nil, false, fmt.Errorf("list buckets: %w", err)
	}
	if more = len(buckets) == page.Limit; more {
		buckets = buckets[:page.Limit-1]
	}
	return buckets, more, nil
}
