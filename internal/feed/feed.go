package feed

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/events"
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
		// It is for others too, so it neither ends with this caller nor belongs to him.
		go f.run(budget.WithOwner(context.WithoutCancel(ctx), ""), f.next)
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
		f.tell(at)
	}
}

// tell wakes all waits if the feed has changed.
func (f *Feed) tell(at Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at != f.at { // in a restored database, the number may also be smaller or the same
		f.at = at
		f.turn++
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// Page is a page of events.
type Page struct {
	Events []events.Event
	Cursor int64 // number after which the next page begins
	More   bool  // there are events after the cursor, perhaps of other types
}

// Bounds of a page: its events, the bytes of data after which it ends, and the events of other types that it may skip,
// in how many steps.
const (
	MaxPage  = 1000
	maxBytes = 1 << 20
	maxScan  = 10_000
	maxSteps = 10
)

// Since is where a reader begins: after a number, at the oldest event, or after the newest.
type Since struct {
	After  int64
	Oldest bool
	Now    bool
}

// Page returns events of the given types, or of all, that were committed before the call. If it finds none, its cursor
// has still advanced past events of other types. Fault: Gone if events after the number have been deleted.
func (f *Feed) Page(ctx context.Context, since Since, types []events.Type, limit int) (Page, error) {
	newest, err := f.NumberEvents(ctx)
	if err != nil {
		return Page{}, fmt.Errorf("number events: %w", err)
	}
	if since.Now {
		return Page{Cursor: newest}, nil
	}
	query := Query{After: since.After, Types: types, Limit: limit, Scan: maxScan, Bytes: maxBytes}
	for range maxSteps {
		found, err := f.Store.Events(ctx, query)
		switch {
		case err != nil:
			return Page{}, fmt.Errorf("read events: %w", err)
		case since.Oldest && query.After < found.Oldest-1:
			query.After = found.Oldest - 1
			continue
		case query.After < found.Oldest-1 || query.After > found.Newest:
			return Page{}, forgotten(query.After, found)
		case len(found.Events) > 0:
			last := found.Events[len(found.Events)-1].Number
			return Page{found.Events, last, last < found.Newest}, nil
		}
		if query.After += int64(query.Scan); query.After >= found.Newest {
			return Page{Cursor: found.Newest}, nil
		}
	}
	return Page{Cursor: query.After, More: true}, nil
}

// pageKey identifies a page in a state of the feed.
type pageKey struct {
	turn, after int64
	types       string
	limit       int
}

// SharedPage is like Page after a number. All readers that were woken in the same turn share the result.
func (f *Feed) SharedPage(ctx context.Context, turn, after int64, types []events.Type, limit int) (Page, error) {
	words := make([]string, len(types))
	for i, kind := range types {
		words[i] = string(kind)
	}
	key := pageKey{turn, after, strings.Join(words, " "), limit}
	return f.pages.Do(ctx, key, func(ctx context.Context) (Page, int, error) {
		const overhead = 256 // per event
		page, err := f.Page(ctx, Since{After: after}, types, limit)
		size := overhead
		for _, event := range page.Events {
			size += overhead + len(event.Data) + len(event.Withheld)
		}
		return page, size, err
	})
}
