package feed

import (
	"context"
	"strconv"
	"time"

	"purser/internal/fault"
)

// forgotten is the fault of a number that the feed does not reach back to, or has not reached yet.
func forgotten(after int64, found Found) error {
	what := "The events after %d are kept no longer; the oldest one is %d."
	if after > found.Newest {
		what = "There is no event %d: the database was set back to an earlier state. The oldest event is %d."
	}
	gone := fault.New(fault.Gone, "EventsForgotten", what+" Read the state from /revisions, then go on with since=0 for "+
		"all that are kept, or since=now", after, found.Oldest)
	gone.Metadata = map[string]any{
		"oldest": strconv.FormatInt(found.Oldest, 10), "newest": strconv.FormatInt(found.Newest, 10),
		"restart": "/api/v1.0/revisions",
	}
	return gone
}

// Wait is a place among those who wait for changes.
type Wait struct {
	feed *Feed
	user string
}

// Wait returns a place to a user; "" is everybody. Who gets one must End it. A user may have as many as are still free,
// so that nobody takes the last one of others: alone it gets half of them, and of two each a third. Faults: Unavailable
// if there is none left, Throttled if the user has its share.
func (f *Feed) Wait(user string) (Wait, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	const retryAfter = 5 * time.Second
	free := f.MaxWaits - f.waits
	if free <= 0 {
		full := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"%d requests wait already, the most that may (--max-waits); ask without wait, or later", f.MaxWaits)
		full.RetryAfter = retryAfter
		return Wait{}, full
	}
	if user != "" {
		if f.waitsOf[user] >= free {
			many := fault.New(fault.Throttled, "HTTPTooManyRequests", "%d requests of this user wait already, and only %d "+
				"others may (--max-waits), which are kept for other users; ask without wait, or later", f.waitsOf[user], free)
			many.RetryAfter = retryAfter
			return Wait{}, many
		}
		f.waitsOf[user]++
	}
	if f.waits++; f.waits == 1 {
		select {
		case f.arrived <- struct{}{}:
		default:
		}
	}
	return Wait{f, user}, nil
}

// End gives the place back.
func (w Wait) End() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	w.feed.waits--
	if w.user == "" {
		return
	}
	if w.feed.waitsOf[w.user]--; w.feed.waitsOf[w.user] == 0 {
		delete(w.feed.waitsOf, w.user)
	}
}

// Next returns a channel that is closed when something happens after the call, if somebody waits. What was read after
// the call need not be read again before that. turn names the present state: those who were woken by the same change
// read the same.
func (f *Feed) Next() (turn int64, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turn, f.changed
}

// Waiting returns how many wait.
func (f *Feed) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waits
}

const (
	// pollEvery is how often the feed looks for what other servers have committed, while somebody waits.
	pollEvery = 100 * time.Millisecond
	// restBetween is the shortest time between two looks: in it changes gather, so that each costs less.
	restBetween = 20 * time.Millisecond
	// tidyEvery is how long after a change its event is numbered if nobody waits, and how often old ones are deleted.
	tidyEvery = time.Minute
	// pauseAfter is how long the feed waits after an error, and how often it looks while nobody but webhooks waits.
	pauseAfter = time.Second
)

// Run wakes up those who wait, until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	tidy := time.After(tidyEvery) // of what a server left that was killed
	var began time.Time
	failing := false
	for ctx.Err() == nil {
		var poll <-chan time.Time
		if waiting := f.Waiting() > 0; waiting || f.Always {
			began = time.Now()
			_, err := f.Look(ctx)
			failing = f.report(ctx, err, failing)
			poll = time.After(pollEvery)
			if !waiting || err != nil {
				poll = time.After(pauseAfter)
			}
		}
		select {
		case <-ctx.Done():
		case <-f.arrived:
		case <-poll:
		case <-tidy:
			tidy = nil
			failing = f.report(ctx, f.tidy(ctx), failing)
		case <-f.Store.Committed():
			if tidy == nil {
				tidy = time.After(tidyEvery)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(began.Add(restBetween))):
			}
		}
	}
}

// report logs an error if the last look had none, and returns whether this one has.
func (f *Feed) report(ctx context.Context, err error, failing bool) bool {
	if err != nil && !failing && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "events cannot be read, so nobody is told of changes", "error", err.Error())
	}
	return err != nil
}

// tidy numbers what nobody has asked for, and deletes old events.
func (f *Feed) tidy(ctx context.Context) error {
	const keep = 10_000
	if _, err := f.Look(ctx); err != nil {
		return err
	}
	for {
		gone, err := f.Store.Forget(ctx, f.Keep, keep)
		if gone == 0 || err != nil {
			return err
		}
	}
}
