package queries

import (
	"context"
	"fmt"

	"purser/internal/revisions"
)

// Diff returns the differences of all buckets that have documents in at least one of two revisions, sorted by name; 0
// is the empty revision. The higher number is the newer one, regardless of their order. Faults: NotFound, Gone.
func (v View) Diff(ctx context.Context, a, b int64) ([]revisions.BucketDifference, error) {
	found, err := v.compare(ctx, a, b)
	if err != nil {
		return nil, err
	}
	return bucketDifferences(found, a, b), nil
}

// bucketDifferences returns the differences of buckets from the older to the newer of two compared revisions.
func bucketDifferences(c revisions.Comparison, before, after int64) []revisions.BucketDifference {
	if before > after {
		return revisions.BucketDifferences(c.After, c.Before, c.Added, c.Removed)
	}
	return revisions.BucketDifferences(c.Before, c.After, c.Removed, c.Added)
}

// compare returns the difference of two revisions, both of which must exist or be 0. It omits encrypted documents if
// the viewer may not see them.
func (v View) compare(ctx context.Context, before, after int64) (revisions.Comparison, error) {
	found, err := v.store.Compare(ctx, before, after)
	if err != nil {
		return found, fmt.Errorf("compare revisions: %w", err)
	}
	if len(found.Missing) > 0 {
		return found, revisions.Absent(ctx, v.store, found.Missing[0])
	}
	found.Removed, found.Added = revisions.Visible(v.viewer, found.Removed), revisions.Visible(v.viewer, found.Added)
	return found, nil
}
