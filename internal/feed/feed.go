package feed

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"purser/internal/cache"
	"purser/internal/events"
	"purser/internal/revisions"
)

// Config holds the dependencies and limits of a Feed. All fields must be set.
type Config struct {
	Store    Store
	Defaults revisions.Defaults // the validations that count where no policy is in force
	// Keep is for how long events are kept; the newest ten thousand are kept longer.
	Keep     time.Duration
	MaxWaits int // that there may be at once
	// Always looks for events also while nobody waits: webhooks do.
	Always bool
	Log    *slog.Logger
}

// Feed is the feed of one site. It is safe for concurrent use.
type Feed struct {
	Config

	pages   *cache.Cache[pageKey, Page] // that waiting readers share
	arrived chan struct{}               // holds a token after the first one began to wait
	looking sync.Mutex                  // held while the outbox is looked at

	mu      sync.Mutex
	next    *look         // that has not begun; nil if there is none
	newest  int64         // number of the newest event, as far as it is known; negative if it is not
	turn    int64         // how often newest has become another one
	changed chan struct{} // closed when it does
	waits   int
	waitsOf map[string]int // by user
}

// New returns a feed. Nobody is woken before Run runs.
func New(config Config) *Feed {
	const pagesSize = 8 << 20
	return &Feed{
		Config: config, newest: -1, changed: make(chan struct{}), arrived: make(chan struct{}, 1),
		pages: cache.New[pageKey, Page](pagesSize), waitsOf: map[string]int{},
	}
}

// look is one look at the outbox, for all who asked for it before it began.
type look struct {
	done   chan struct{} // closed once the others are set
	newest int64
	err    error
}

// Look numbers all events that were committed before the call, and returns the number of the newest.
func (f *Feed) Look(ctx context.Context) (newest int64, err error) {
	l := f.join(ctx)
	select {
	case <-l.done:
		return l.newest, l.err
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for events to be numbered: %w", context.Cause(ctx))
	}
}

// join returns the next look, which it starts if there is none.
func (f *Feed) join(ctx context.Context) *look {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &look{done: make(chan struct{})}
		go f.look(context.WithoutCancel(ctx), f.next) // the others do not depend on this caller
	}
	return f.next
}

func (f *Feed) look(ctx context.Context, l *look) {
	f.looking.Lock()
	defer f.looking.Unlock()
	defer close(l.done)
	f.mu.Lock()
	f.next = nil // who asks from now on may have committed something that this one does not see
	f.mu.Unlock()
	newest, behind, err := f.Store.Position(ctx)
	for err == nil && behind {
		newest, behind, err = f.Store.Number(ctx, func(batch Batch) Derived { return derive(f.Defaults, batch) })
	}
	if l.newest, l.err = newest, err; err == nil {
		f.tell(newest)
	}
}

// tell wakes up those who wait if there is something new.
func (f *Feed) tell(newest int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if newest != f.newest { // it is smaller in a database that was restored
		f.newest = newest
		f.turn++
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

// Page is a page of events.
type Page struct {
	Events []events.Event
	Cursor int64 // after which to ask for the next page
	More   bool  // there are events after the cursor, maybe none of the wanted types
}

// Bounds of a page: how many events it has at most, how many bytes of data from which on it ends, and how many events
// of other types are passed over, in so many steps.
const (
	MaxPage  = 1000
	maxBytes = 1 << 20
	maxScan  = 10_000
	maxSteps = 10
)

// Since says from where a reader wants events: after a number, or from the oldest, or from now.
type Since struct {
	After  int64
	Oldest bool
	Now    bool
}

// Page returns events of some types, or of all, that were committed before the call. Without any, its cursor has passed
// over those of other types. Fault: Gone for a number whose followers are forgotten.
func (f *Feed) Page(ctx context.Context, since Since, types []events.Type, limit int) (Page, error) {
	newest, err := f.Look(ctx)
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

// pageKey identifies a page as it is at a turn.
type pageKey struct {
	turn, after int64
	types       string
	limit       int
}

// SharedPage is Page after a number, for those who were woken at a turn: they share it.
func (f *Feed) SharedPage(ctx context.Context, turn, after int64, types []events.Type, limit int) (Page, error) {
	words := make([]string, len(types))
	for i, kind := range types {
		words[i] = string(kind)
	}
	key := pageKey{turn, after, strings.Join(words, " "), limit}
	return f.pages.Do(ctx, key, func(ctx context.Context) (Page, int, error) {
		const overhead = 256 // of an event
		page, err := f.Page(ctx, Since{After: after}, types, limit)
		size := overhead
		for _, event := range page.Events {
			size += overhead + len(event.Data) + len(event.Withheld)
		}
		return page, size, err
	})
}
