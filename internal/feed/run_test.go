package feed

import (
	"context"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/events"
	"purser/internal/fault"
)

// A user may have no more waits than remain free, and ended waits become free again.
func TestFeed_Wait(t *testing.T) {
	t.Parallel()
	f := New(Config{MaxWaits: 10}).Of("a")
	var places []func()
	take := func(user string, want int) {
		t.Helper()
		for n := 0; ; n++ {
			place, err := f.Wait(budget.Owner{User: user, Site: "s"})
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
	take("d", 1)
	if _, err := f.Wait(budget.Owner{User: "e", Site: "s"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a place: %v", err)
	}
	for _, place := range places {
		place()
	}
	if f.Waiting() > 0 {
		t.Errorf("%d places that nobody has", f.Waiting())
	}
	take("", 10)
}

// one is the store of one site.
type one struct {
	Store

	kept SiteStore
}

// Feed implements Store.
func (o one) Feed(string) SiteStore { return o.kept }

// sparse is a store with many events, none of the requested type.
type sparse struct {
	SiteStore

	newest int64
}

// Position implements Store.
func (s sparse) Position(context.Context) (Position, bool, error) {
	return Position{Newest: s.newest}, false, nil
}

// Events implements Store.
func (s sparse) Events(context.Context, Query) (Found, error) {
	return Found{Oldest: 1, Newest: s.newest}, nil
}

// An empty page before the end of the feed says so, and a waiting reader continues at once.
func TestFeed_Page_more(t *testing.T) {
	t.Parallel()
	f := New(Config{Store: one{kept: sparse{newest: 250_000}}}).Of("a")
	var after int64
	for _, want := range []Page{{Cursor: 100_000, More: true}, {Cursor: 200_000, More: true}, {Cursor: 250_000}} {
		page, err := f.Page(t.Context(), Since{After: after}, nil, 1)
		if err != nil || page.Cursor != want.Cursor || page.More != want.More {
			t.Errorf("after %d: %+v, %v, want %+v", after, page, err, want)
		}
		after = page.Cursor
	}
}

// restored is a store with one event.
type restored struct {
	SiteStore

	event events.Event
}

// Position implements Store.
func (s *restored) Position(context.Context) (Position, bool, error) {
	return Position{s.event.Number, s.event.At}, false, nil
}

// Events implements Store.
func (s *restored) Events(context.Context, Query) (Found, error) {
	return Found{[]events.Event{s.event}, 1, s.event.Number}, nil
}

// If a database is restored and changed, its newest event may have the number of one that was lost. Waits are woken
// nevertheless, and do not get the lost event.
func TestFeed_restored(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := &restored{event: events.Event{Number: 1, At: at, Subject: "lost"}}
	f := New(Config{Store: one{kept: s}}).Of("a")
	subject := func() string {
		t.Helper()
		turn, _ := f.Next()
		page, err := f.SharedPage(t.Context(), turn, 0, nil, 1)
		if err != nil || len(page.Events) != 1 {
			t.Fatalf("got %+v, %v", page, err)
		}
		return page.Events[0].Subject
	}
	if _, err := f.NumberEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := subject(); got != "lost" {
		t.Errorf("before: %s", got)
	}
	end, err := f.Wait(budget.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	_, changed := f.Next()
	s.event.At, s.event.Subject = at.Add(time.Second), "new"
	if _, err := f.NumberEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("waits are not woken")
	}
	if got := subject(); got != "new" {
		t.Errorf("afterwards: %s", got)
	}
}
