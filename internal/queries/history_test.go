package queries

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
)

// bounded is a store with the boundaries of one document, which it returns a few at a time.
type bounded struct {
	Store

	boundaries []Boundary
	most       int
}

// Boundaries implements Store.
func (e bounded) Boundaries(_ context.Context, query BoundaryQuery) (boundaries []Boundary, cut bool, err error) {
	boundaries = e.boundaries[min(query.Offset, len(e.boundaries)):]
	boundaries = boundaries[:min(query.Limit, len(boundaries))]
	cut = len(boundaries) > e.most
	return boundaries[:min(e.most, len(boundaries))], cut, nil
}

// Every change is on some page, with the version before it, even if versions are too large for a full page.
func TestView_History(t *testing.T) {
	t.Parallel()
	version := func(revision int64, bucket string) *revisions.Stored {
		return &revisions.Stored{Document: &document.Document{}, Revision: revision, Bucket: bucket}
	}
	first, second, third, fourth := version(1, "a"), version(2, "a"), version(3, "b"), version(6, "b")
	boundary := func(revision int64, version *revisions.Stored, gone, follows bool) Boundary {
		return Boundary{Change: Change{Revision: revision}, Version: version, Gone: gone, Follows: follows}
	}
	all := []Boundary{
		boundary(6, fourth, false, false), boundary(5, third, true, false), boundary(3, third, false, true),
		boundary(2, second, false, true), boundary(1, first, false, false),
	}
	want := []string{"created @6 0 6", "deleted @5 3 0", "moved @3 2 3", "modified @2 1 2", "created @1 0 1"}
	for most := 2; most <= 6; most++ {
		for limit := 1; limit <= 6; limit++ {
			s := service(&site{})
			s.store = bounded{boundaries: all, most: most}
			var got []string
			for more := true; more; {
				changes, next, err := s.History(t.Context(), document.Identity{}, Page{Offset: len(got), Limit: limit})
				if err != nil {
					t.Fatal(err)
				}
				if next && len(changes) == 0 || len(changes) > limit {
					t.Fatalf("limit %d, %d at a time: a page of %d, more %v", limit, most, len(changes), next)
				}
				for _, c := range changes {
					got = append(got, fmt.Sprintf("%v @%d %d %d", c.Difference, c.Revision, revisionOf(c.Before), revisionOf(c.After)))
				}
				more = next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("limit %d, %d at a time (-want +got):\n%s", limit, most, diff)
			}
		}
	}
}

func revisionOf(doc *revisions.Stored) int64 {
	if doc == nil {
		return 0
	}
	return doc.Revision
}
