package queries

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/revisions"
)

// eventful is a store with events of one document, of which it gives a few at a time.
type eventful struct {
	Store

	events []Event
	most   int
}

// Events implements Store.
func (e eventful) Events(_ context.Context, query EventQuery) (events []Event, cut bool, err error) {
	events = e.events[min(query.Offset, len(e.events)):]
	events = events[:min(query.Limit, len(events))]
	cut = len(events) > e.most
	return events[:min(e.most, len(events))], cut, nil
}

// All changes are on some page, each with what came before it, also where versions are too large for a whole page.
func TestView_History(t *testing.T) {
	t.Parallel()
	version := func(revision int64, bucket string) *revisions.Stored {
		return &revisions.Stored{Document: &document.Document{}, Revision: revision, Bucket: bucket}
	}
	first, second, third, fourth := version(1, "a"), version(2, "a"), version(3, "b"), version(6, "b")
	event := func(revision int64, version *revisions.Stored, gone, follows bool) Event {
		return Event{Change: Change{Revision: revision}, Version: version, Gone: gone, Follows: follows}
	}
	all := []Event{
		event(6, fourth, false, false), event(5, third, true, false), event(3, third, false, true),
		event(2, second, false, true), event(1, first, false, false),
	}
	want := []string{"created @6 0 6", "deleted @5 3 0", "moved @3 2 3", "modified @2 1 2", "created @1 0 1"}
	for most := 2; most <= 6; most++ {
		for limit := 1; limit <= 6; limit++ {
			s := service(&site{})
			s.store = eventful{events: all, most: most}
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
