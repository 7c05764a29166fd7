package feed

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/revisions"
)

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
func (s Site) Page(ctx context.Context, since Since, types []events.Type, limit int) (Page, error) {
	newest, err := s.NumberEvents(ctx)
	if err != nil {
		return Page{}, fmt.Errorf("number events: %w", err)
	}
	if since.Now {
		return Page{Cursor: newest}, nil
	}
	query := Query{After: since.After, Types: types, Limit: limit, Scan: maxScan, Bytes: maxBytes}
	kept := s.Store.Feed(s.name)
	for range maxSteps {
		found, err := kept.Events(ctx, query)
		switch {
		case err != nil:
			return Page{}, fmt.Errorf("read events: %w", err)
		case since.Oldest && query.After < found.Oldest-1:
			query.After = found.Oldest - 1
			continue
		case query.After < found.Oldest-1 || query.After > found.Newest:
			return Page{}, s.forgotten(query.After, found)
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

// Latest returns the events of a type among the newest ones, as far as they fit on a page.
func (s Site) Latest(ctx context.Context, kind events.Type) ([]events.Event, error) {
	end, err := s.Page(ctx, Since{Now: true}, nil, MaxPage)
	if err != nil {
		return nil, err
	}
	page, err := s.Page(ctx, Since{After: max(end.Cursor-MaxPage, 0)}, []events.Type{kind}, MaxPage)
	return page.Events, err
}

// forgotten returns the fault for a number that the feed has deleted, or has not reached yet.
func (s Site) forgotten(after int64, found Found) error {
	what := "The events after %d were deleted; the oldest one kept is %d."
	if after > found.Newest {
		what = "Event %d does not exist: the database was restored to an earlier state. The oldest event is %d."
	}
	gone := fault.New(fault.Gone, "EventsForgotten", what+" Read the state from /revisions, then continue with since=0 "+
		"for all that are kept, or since=now", after, found.Oldest)
	gone.Metadata = map[string]any{
		"oldest": strconv.FormatInt(found.Oldest, 10), "newest": strconv.FormatInt(found.Newest, 10),
		"restart": revisions.SitePath(s.name) + "/api/v1.0/revisions",
	}
	return gone
}

// pageKey identifies a page in a state of the feed.
type pageKey struct {
	site        string
	turn, after int64
	types       string
	limit       int
}

// SharedPage is like Page after a number. All readers that were woken in the same turn share the result.
func (s Site) SharedPage(ctx context.Context, turn, after int64, types []events.Type, limit int) (Page, error) {
	words := make([]string, len(types))
	for i, kind := range types {
		words[i] = string(kind)
	}
	key := pageKey{s.name, turn, after, strings.Join(words, " "), limit}
	return s.pages.Do(ctx, key, func(ctx context.Context) (Page, int, error) {
		const overhead = 256 // per event
		page, err := s.Page(ctx, Since{After: after}, types, limit)
		size := overhead
		for _, event := range page.Events {
			size += overhead + len(event.Data) + len(event.Withheld)
		}
		return page, size, err
	})
}
