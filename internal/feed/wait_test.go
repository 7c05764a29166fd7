package feed

import (
	"context"
	"testing"

	"purser/internal/fault"
)

// A user may have no more waits than remain free, and ended waits become free again.
func TestFeed_Wait(t *testing.T) {
	t.Parallel()
	f := New(Config{MaxWaits: 10})
	var places []Wait
	take := func(user string, want int) {
		t.Helper()
		for n := 0; ; n++ {
			place, err := f.Wait(user)
			if err != nil {
				if n != want {
					t.Errorf("%s gets %d places, want %d: %v", user, n, want, err)
				}
				return
			}
			places = append(places, place)
		}
	}
	take("a", 5)
	take("b", 3)
	take("c", 1)
	take("", 1)
	if _, err := f.Wait("d"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a place: %v", err)
	}
	for _, place := range places {
		place.End()
	}
	if len(f.waitsOf) > 0 || f.Waiting() > 0 {
		t.Errorf("places that nobody has: %v", f.waitsOf)
	}
	take("", 10)
}

// sparse is a store with many events, none of the requested type.
type sparse struct {
	Store

	newest int64
}

// Position implements Store.
func (s sparse) Position(context.Context) (int64, bool, error) { return s.newest, false, nil }

// Events implements Store.
func (s sparse) Events(context.Context, Query) (Found, error) {
	return Found{Oldest: 1, Newest: s.newest}, nil
}

// An empty page before the end of the feed says so, and a waiting reader continues at once.
func TestFeed_Page_more(t *testing.T) {
	t.Parallel()
	f := New(Config{Store: sparse{newest: 250_000}})
	var after int64
	for _, want := range []Page{{Cursor: 100_000, More: true}, {Cursor: 200_000, More: true}, {Cursor: 250_000}} {
		page, err := f.Page(t.Context(), Since{After: after}, nil, 1)
		if err != nil || page.Cursor != want.Cursor || page.More != want.More {
			t.Errorf("after %d: %+v, %v, want %+v", after, page, err, want)
		}
		after = page.Cursor
	}
}
