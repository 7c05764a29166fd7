package feed

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/revisions"
)

// Config holds the dependencies and limits of a Feed. All fields but Always must be set.
type Config struct {
	Store    Store
	Defaults revisions.Defaults // the validations that count if no policy is in force
	// Keep is how long events are kept. The newest ten thousand of a site are kept in any case.
	Keep     time.Duration
	MaxWaits int // the most waits at a time; at least 1
	// Always also looks for events while nobody waits, as webhooks require.
	Always bool
	Log    *slog.Logger
}

// Feed numbers the events of all sites. It is safe for concurrent use.
type Feed struct {
	Config

	pages   *cache.Cache[pageKey, Page] // shared by waiting readers
	arrived chan struct{}               // receives when a wait begins
	waits   *budget.Shares
	passes  *semaphore.Weighted // of batches that are numbered at a time

	mu    sync.Mutex
	turn  int64            // counts the changes of all sites, and the sites that come into use
	inUse map[string]*site // by name
}

// maxPasses bounds the batches that are numbered at a time, so that connections remain for others.
const maxPasses = 3

// All stands for all sites: what waits for it wakes when any site changes.
const All = ""

// site is what a Feed knows of a site while somebody waits there or numbers events.
type site struct {
	users     int        // waits and passes
	waits     int        // among them
	numbering sync.Mutex // held while events are numbered

	// Guarded by the mutex of the Feed.
	next    *pass         // one that has not begun; nil if there is none
	at      Position      // the last known one; Newest is negative if none is
	turn    int64         // identifies the present state among those of all sites
	changed chan struct{} // closed and replaced when at changes
}

// New returns a feed. Waits end only while Run runs.
func New(config Config) *Feed {
	const pagesSize = 8 << 20
	return &Feed{
		Config: config, arrived: make(chan struct{}, 1), passes: semaphore.NewWeighted(maxPasses), inUse: map[string]*site{},
		pages: cache.New[pageKey, Page](pagesSize), waits: budget.NewShares(int64(config.MaxWaits)),
	}
}

// Site is the feed of one site, or of all.
type Site struct {
	*Feed

	name string
}

// Of returns the feed of a site, whether that exists or not.
func (f *Feed) Of(name string) Site { return Site{f, name} }

// use returns what is known of a site, which stays known until release.
func (f *Feed) use(name string) *site {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.useLocked(name)
}

// useLocked is use for a caller who holds mu.
func (f *Feed) useLocked(name string) *site {
	of := f.inUse[name]
	if of == nil {
		f.turn++
		of = &site{at: Position{Newest: -1}, turn: f.turn, changed: make(chan struct{})}
		f.inUse[name] = of
	}
	of.users++
	return of
}

// release ends a use.
func (f *Feed) release(name string, of *site) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if of.users--; of.users == 0 {
		delete(f.inUse, name)
	}
}

// pass is one numbering of the events in the outbox of a site, shared by all who ask for it before it begins.
type pass struct {
	done   chan struct{} // closed once newest and err are set
	newest int64
	err    error
}

// NumberEvents numbers all events of the site that were committed before the call, and returns the number of the
// newest. Of all sites it does so as far as it gets within a second, and returns no number.
func (s Site) NumberEvents(ctx context.Context) (newest int64, err error) {
	p := s.join(ctx)
	select {
	case <-p.done:
		return p.newest, p.err
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for events to be numbered: %w", context.Cause(ctx))
	}
}

// join returns the next pass. It starts one if there is none.
func (s Site) join(ctx context.Context) *pass {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.useLocked(s.name)
	if of.next != nil {
		of.users--
		return of.next
	}
	of.next = &pass{done: make(chan struct{})}
	// It is for others too, so it does not end with this caller, and is not counted as theirs.
	go s.run(budget.WithOwner(context.WithoutCancel(ctx), budget.Owner{}), of, of.next)
	return of.next
}

func (s Site) run(ctx context.Context, of *site, p *pass) {
	defer s.release(s.name, of)
	of.numbering.Lock()
	defer of.numbering.Unlock()
	defer close(p.done)
	s.mu.Lock()
	of.next = nil // the snapshot may lack what later callers have committed
	s.mu.Unlock()
	if s.name == All {
		p.err = s.numberEverywhere(ctx)
		return
	}
	kept := s.Store.Feed(s.name)
	at, behind, err := kept.Position(ctx)
	before := at.Newest
	for err == nil && behind {
		at, behind, err = s.number(ctx, kept)
	}
	if err == nil && at.Newest/tidyEvery > before/tidyEvery {
		err = s.tidy(ctx, kept)
	}
	if p.newest, p.err = at.Newest, err; err == nil {
		s.wake(s.name, at)
	}
}

// numberEverywhere numbers the events that wait in any site, and changes of verdicts that are due.
func (f *Feed) numberEverywhere(ctx context.Context) error {
	behind, err := f.behind(ctx, maxDue)
	if err != nil {
		return err
	}
	return f.numberAll(ctx, behind)
}

// number numbers a batch of events when it is the site's turn.
func (s Site) number(ctx context.Context, kept SiteStore) (at Position, more bool, err error) {
	if err := s.passes.Acquire(ctx, 1); err != nil {
		return at, false, fmt.Errorf("wait for others to number their events: %w", err)
	}
	defer s.passes.Release(1)
	return kept.Number(ctx, func(batch Batch) Derived { return derive(s.Defaults, batch) })
}

// tidyEvery is the number of events after which old ones are deleted.
const tidyEvery = 1000

// tidy deletes old events.
func (s Site) tidy(ctx context.Context, kept SiteStore) error {
	const keep = 10_000
	for {
		gone, err := kept.DeleteOldEvents(ctx, s.Keep, keep)
		if gone == 0 || err != nil {
			return err
		}
	}
}

// wake wakes all waits of a site if its feed has changed, and then those of all sites.
func (f *Feed) wake(name string, at Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.inUse[name]
	if of == nil || at == of.at { // in a restored database, the number may also be smaller or the same
		return
	}
	of.at = at
	f.turnOf(of)
	f.turnOf(f.inUse[All])
}

// wakeAll wakes the waits of all sites.
func (f *Feed) wakeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turnOf(f.inUse[All])
}

// turnOf wakes the waits of a site, if there are any. The caller holds mu.
func (f *Feed) turnOf(of *site) {
	if of == nil {
		return
	}
	f.turn++
	of.turn = f.turn
	close(of.changed)
	of.changed = make(chan struct{})
}
