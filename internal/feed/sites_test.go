package feed

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"purser/internal/budget"
)

// shared is a store in memory, as several servers see it: a change is behind until one of them numbers it.
type shared struct {
	mu        sync.Mutex
	behind    map[string]int64 // events that are not numbered, by site
	at        map[string]Position
	due       []string
	own       []string // sites of commits that this server has not looked at
	committed chan struct{}
	asked     int // queries
}

func newShared() *shared {
	return &shared{behind: map[string]int64{}, at: map[string]Position{}, committed: make(chan struct{}, 1)}
}

// change commits a change of a site, by this server or by another one.
func (s *shared) change(site string, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind[site]++
	if own {
		s.own = append(s.own, site)
		select {
		case s.committed <- struct{}{}:
		default:
		}
	}
}

// number numbers the events of a site, as another server does.
func (s *shared) number(site string) Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.behind[site]; n > 0 {
		s.at[site] = Position{Newest: s.at[site].Newest + n, At: time.Unix(s.at[site].Newest+n, 0)}
		delete(s.behind, site)
	}
	s.due = slices.DeleteFunc(s.due, func(due string) bool { return due == site })
	return s.at[site]
}

// numbered returns the newest event of a site.
func (s *shared) numbered(site string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[site].Newest
}

func (s *shared) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
}

// News implements Store.
func (s *shared) News(context.Context) (news []News, err error) {
	s.count()
	s.mu.Lock()
	defer s.mu.Unlock()
	for site := range s.behind {
		news = append(news, News{Site: site, Behind: true})
	}
	for site, at := range s.at {
		news = append(news, News{Site: site, At: at})
	}
	return news, nil
}

// Due implements Store.
func (s *shared) Due(context.Context, int) ([]string, error) {
	s.count()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.due), nil
}

// Committed implements Store.
func (s *shared) Committed() <-chan struct{} { return s.committed }

// Changed implements Store.
func (s *shared) Changed() (changed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed, s.own = s.own, nil
	return changed
}

// Feed implements Store.
func (s *shared) Feed(site string) SiteStore { return sharedSite{all: s, site: site} }

type sharedSite struct {
	SiteStore

	all  *shared
	site string
}

// Position implements SiteStore.
func (s sharedSite) Position(context.Context) (Position, bool, error) {
	s.all.count()
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	return s.all.at[s.site], s.all.behind[s.site] > 0 || slices.Contains(s.all.due, s.site), nil
}

// Number implements SiteStore.
func (s sharedSite) Number(context.Context, func(Batch) Derived) (Position, bool, error) {
	return s.all.number(s.site), false, nil
}

// running returns a feed that runs until the test ends.
func running(t *testing.T, s *shared) *Feed {
	t.Helper()
	f := New(Config{Store: s, MaxWaits: 100, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { f.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return f
}

// wait begins a wait and returns the channel that its next change closes.
func wait(t *testing.T, of Site) <-chan struct{} {
	t.Helper()
	end, err := of.Wait(budget.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	_, changed := of.Next()
	return changed
}

// A wait wakes when its own site changes, and one for all sites when any does: by changes of this server, of others,
// and by events that others have numbered.
func TestSite_Next(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *shared){
		"of this server": func(s *shared) { s.change("a", true) },
		"of another":     func(s *shared) { s.change("a", false) },
		"numbered":       func(s *shared) { s.change("a", false); s.number("a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShared()
			f := running(t, s)
			a, b, all := wait(t, f.Of("a")), wait(t, f.Of("b")), wait(t, f.Of(All))
			change(s)
			for _, changed := range []<-chan struct{}{a, all} {
				select {
				case <-changed:
				case <-t.Context().Done():
					t.Fatal("a wait is not woken")
				}
			}
			select {
			case <-b:
				t.Error("a wait for another site is woken")
			default:
			}
		})
	}
}

// Events of this server, and those that a server has left, are numbered although nobody waits; those of others are not.
// Then the feed makes no queries, and knows no site.
func TestFeed_Run_idle(t *testing.T) {
	t.Parallel()
	s := newShared()
	s.change("left", false)
	f := running(t, s)
	for s.numbered("left") == 0 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	s.change("others", false)
	s.change("own", true)
	for s.numbered("own") == 0 && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if s.numbered("others") != 0 {
		t.Error("events of another server are numbered")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.inUse) > 1 { // the pass of the last site may be ending
		t.Errorf("%d sites are in use", len(f.inUse))
	}
}

// NumberSites numbers what is behind and what is due, in all sites or in those that are wanted.
func TestFeed_NumberSites(t *testing.T) {
	t.Parallel()
	s := newShared()
	f := New(Config{Store: s, MaxWaits: 1})
	s.change("a", false)
	s.change("b", false)
	s.due = []string{"c", "a"}
	if err := f.NumberSites(t.Context(), func(site string) bool { return site == "b" }); err != nil || s.numbered("a") != 0 ||
		s.numbered("b") != 1 || len(s.due) != 2 {
		t.Errorf("%v; a %d, b %d, due %v", err, s.numbered("a"), s.numbered("b"), s.due)
	}
	if err := f.NumberSites(t.Context(), func(string) bool { return true }); err != nil || s.numbered("a") != 1 || s.numbered("b") != 1 || len(s.due) > 0 {
		t.Errorf("%v; a %d, b %d, due %v", err, s.numbered("a"), s.numbered("b"), s.due)
	}
}

// A thousand waits in a thousand sites ask as often as one.
func TestFeed_Run_manySites(t *testing.T) {
	t.Parallel()
	s := newShared()
	f := New(Config{Store: s, MaxWaits: 1000, Log: slog.New(slog.DiscardHandler)})
	for i := range 1000 {
		wait(t, f.Of(string(rune('a'+i%26))+time.Duration(i).String()))
	}
	if err := (&rounds{Feed: f}).look(t.Context(), func(string) bool { return true }); err != nil || s.asked != 1 {
		t.Errorf("%d queries, %v", s.asked, err)
	}
}
