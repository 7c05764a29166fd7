package feed

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/revisions"
)

// Config holds the dependencies and limits of a Feed. All fields but Always must be set.
type Config struct {
	Store    Store
	Defaults revisions.Defaults // the validations that count if no policy is in force
	// Keep is how long events are kept. The newest ten thousand are kept in any case.
	Keep     time.Duration
	MaxWaits int // the most waits at a time; at least 1
	// Always also looks for events while nobody waits, as webhooks require.
	Always bool
	Log    *slog.Logger
}

// Feed is the feed of one site. It is safe for concurrent use.
type Feed struct {
	Config

	pages     *cache.Cache[pageKey, Page] // shared by waiting readers
	arrived   chan struct{}               // receives when a wait begins
	numbering sync.Mutex                  // held while events are numbered
	waits     *budget.Shares

	mu      sync.Mutex
	next    *pass         // one that has not begun; nil if there is none
	at      Position      // the last known one; Newest is negative if none is
	turn    int64         // counts the changes of at
	changed chan struct{} // closed and replaced when at changes
}

// New returns a feed. Waits end only while Run runs.
func New(config Config) *Feed {
	const pagesSize = 8 << 20
	return &Feed{
		Config: config, at: Position{Newest: -1}, changed: make(chan struct{}), arrived: make(chan struct{}, 1),
		pages: cache.New[pageKey, Page](pagesSize), waits: budget.NewShares(int64(config.MaxWaits)),
	}
}

// pass is one numbering of the events in the outbox, shared by all who ask for it before it begins.
type pass struct {
	done   chan struct{} // closed once newest and err are set
	newest int64
	err    error
}

// NumberEvents numbers all events that were committed before the call, and returns the number of the newest.
func (f *Feed) NumberEvents(ctx context.Context) (newest int64, err error) {
	p := f.join(ctx)
	select {
	case <-p.done:
		return p.newest, p.err
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for events to be numbered: %w", context.Cause(ctx))
	}
}

// join returns the next pass. It starts one if there is none.
func (f *Feed) join(ctx context.Context) *pass {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &pass{done: make(chan struct{})}
		// It is for others too, so it does not end with this caller, and is not counted as theirs.
		go f.run(budget.WithOwner(context.WithoutCancel(ctx), budget.Owner{}), f.next)
	}
	return f.next
}

func (f *Feed) run(ctx context.Context, p *pass) {
	f.numbering.Lock()
	defer f.numbering.Unlock()
	defer close(p.done)
	f.mu.Lock()
	f.next = nil // the snapshot may lack what later callers have committed
	f.mu.Unlock()
	at, behind, err := f.Store.Position(ctx)
	for err == nil && behind {
		at, behind, err = f.Store.Number(ctx, func(batch Batch) Derived { return derive(f.Defaults, batch) })
	}
	if p.newest, p.err = at.Newest, err; err == nil {
		f.wake(at)
	}
}

// wake wakes all waits if the feed has changed.
func (f *Feed) wake(at Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at != f.at { // in a restored database, the number may also be smaller or the same
		f.at = at
		f.turn++
		close(f.changed)
		f.changed = make(chan struct{})
	}
}
