package feed

import (
	"context"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

// Wait reserves a wait for an owner, of whom none can take all of them (budget.Shares). end must be called. Faults:
// Unavailable if no wait is free, Throttled if its user or its site has its share.
func (f *Feed) Wait(owner budget.Owner) (end func(), err error) {
	if end := f.waits.Try(owner, 1); end != nil {
		select {
		case f.arrived <- struct{}{}:
		default:
		}
		return end, nil
	}
	const retryAfter = 5 * time.Second
	refused := fault.New(fault.Throttled, "HTTPTooManyRequests", "As many requests of this user or of this site wait "+
		"already as one may have of the %d that may wait (--max-waits); ask without wait, or later", f.MaxWaits)
	if f.Waiting() >= f.MaxWaits {
		refused = fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"%d requests wait already, the most that may (--max-waits); ask without wait, or later", f.MaxWaits)
	}
	refused.RetryAfter = retryAfter
	return nil, refused
}

// Next returns a channel that is closed when the feed changes after the call, provided that somebody waits. What a
// caller reads after the call is up to date until then. turn identifies the present state, for SharedPage.
func (f *Feed) Next() (turn int64, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turn, f.changed
}

// Waiting returns the number of waits.
func (f *Feed) Waiting() int {
	return int(f.waits.Held())
}

const (
	// pollEvery is the interval at which the feed looks for commits of other servers while somebody waits.
	pollEvery = 100 * time.Millisecond
	// restBetween is the shortest time between two passes. Changes collect in it, so that each costs less.
	restBetween = 20 * time.Millisecond
	// idleEvery is the longest time from a change to the numbering of its event while nobody waits.
	idleEvery = time.Second
	// tidyEvery is the shortest time between two deletions of old events.
	tidyEvery = time.Minute
	// pauseAfter is the pause after an error, and the interval of passes while only webhooks wait.
	pauseAfter = time.Second
)

// Run looks for events and wakes waits until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	idle := time.After(idleEvery) // a killed server may have left some
	var began, tidied time.Time
	failing := false
	for ctx.Err() == nil {
		var poll <-chan time.Time
		if waiting := f.Waiting() > 0; waiting || f.Always {
			began = time.Now()
			_, err := f.NumberEvents(ctx)
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
		case <-idle:
			idle = nil
			_, err := f.NumberEvents(ctx)
			if err == nil && time.Since(tidied) >= tidyEvery {
				tidied = time.Now()
				err = f.tidy(ctx)
			}
			failing = f.report(ctx, err, failing)
		case <-f.Store.Committed():
			if idle == nil {
				idle = time.After(idleEvery)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(began.Add(restBetween))):
			}
		}
	}
}

// report logs err unless the previous pass failed, too. It returns whether this one has failed.
func (f *Feed) report(ctx context.Context, err error, failing bool) bool {
	if err != nil && !failing && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "events cannot be read, so clients do not learn of changes", "error", err.Error())
	}
	return err != nil
}

// tidy deletes old events.
func (f *Feed) tidy(ctx context.Context) error {
	const keep = 10_000
	for {
		gone, err := f.Store.DeleteOldEvents(ctx, f.Keep, keep)
		if gone == 0 || err != nil {
			return err
		}
	}
}
