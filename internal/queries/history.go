package queries

import (
	"context"
	"fmt"
	"time"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
)

// Boundary is the beginning or the end of a version of a document. Versions that existed only in pruned revisions have
// none.
type Boundary struct {
	Change

	Version *revisions.Stored
	Gone    bool // the version ended without a successor; else it began
	Follows bool // it began at the end of another version, which began at the next older boundary
}

// BoundaryQuery asks for boundaries of a document.
type BoundaryQuery struct {
	Page

	Document  document.Identity
	Cleartext bool // omit encrypted versions
	MaxBytes  int  // end the page at the boundary where the versions exceed it, but not before the second one
}

// DocumentChange is a change of one document.
type DocumentChange struct {
	Change
	revisions.DocumentDifference
}

// History returns a page of the changes of a document, the newest first, and whether there are more behind it. If the
// versions are large, the page has fewer changes than asked for. Fault: NotFound if no remaining revision has a version
// of the document that the viewer may see.
func (v View) History(ctx context.Context, id document.Identity, page Page) (
	changes []DocumentChange, more bool, err error,
) {
	query := BoundaryQuery{page, id, !v.viewer.Encrypted, maxRead}
	query.Limit++ // one more is what came before the last one
	boundaries, cut, err := v.store.Boundaries(ctx, query)
	if err == nil && len(boundaries) == 0 && page.Offset > 0 { // the page may be behind the last one
		query.Page = Page{Limit: 1}
		var newest []Boundary
		if newest, _, err = v.store.Boundaries(ctx, query); len(newest) > 0 {
			return nil, false, nil
		}
	}
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("read the history of %s: %w", id, err)
	case len(boundaries) == 0:
		return nil, false, fault.New(fault.NotFound, "DocumentNotFound",
			"No revision has a document %s that the caller may see", id.Known())
	}
	shown := len(boundaries)
	if more = cut || shown > page.Limit; more {
		shown-- // the last one is only what came before
	}
	for i := range shown {
		changes = append(changes, v.documentChange(boundaries[i:]))
	}
	return changes, more, nil
}

// documentChange returns the change at the first of some boundaries.
func (v View) documentChange(boundaries []Boundary) DocumentChange {
	boundary := boundaries[0]
	change := DocumentChange{boundary.Change, revisions.DocumentDifference{Identity: boundary.Version.Identity}}
	switch {
	case boundary.Gone:
		change.Difference, change.Before = revisions.Deleted, v.seen(boundary.Version)
	case !boundary.Follows:
		change.Difference, change.After = revisions.Created, v.seen(boundary.Version)
	default:
		change.Before, change.After = v.seen(boundaries[1].Version), v.seen(boundary.Version)
		if change.Difference = revisions.Modified; change.Before.Bucket != change.After.Bucket {
			change.Difference = revisions.Moved
		}
	}
	return change
}

// seen returns a document as the viewer sees it.
func (v View) seen(doc *revisions.Stored) *revisions.Stored {
	return v.redacted(Selected{Documents: []*revisions.Stored{doc}}).Documents[0]
}

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
	Upstream  *revisions.Upstream // nil if its documents were not copied
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
	upstreams, err := v.store.Upstreams(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("list where buckets come from: %w", err)
	}
	for i := range buckets {
		if from, follows := upstreams[buckets[i].Name]; follows {
			buckets[i].Upstream = &from
		}
	}
	return buckets, more, nil
}
