package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

// maxWaitingHeader is the maximum size of the URL and the headers of a waiting request, in bytes, which stay in memory.
const maxWaitingHeader = 32 << 10

// waitPlace returns a place among the waiting requests. Faults: Invalid for a large request, Unavailable if all places
// are taken, Throttled if the caller has its share of them.
func (s *server) waitPlace(r *http.Request) (end func(), err error) {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxWaitingHeader {
		return nil, fault.New(fault.Invalid, "HTTPBadRequest", "The URL and the headers of a request that waits may "+
			"have %d bytes; these have %d. Send fewer, or ask without wait.", maxWaitingHeader, size)
	}
	return s.Feed.Wait(budget.Owner(r.Context()))
}

// look is what an attempt to answer a request that waits has found.
type look struct {
	pending bool          // the request keeps waiting
	fresh   time.Duration // how long that holds if nothing changes; 0: for ever
}

// waitedAnswerTime is the time to make and write an answer after the wait.
const waitedAnswerTime = 5 * time.Minute

const waitedHeader = "Purser-Waited"

// await calls first and, if the request has to wait, rest, which returns when the answer has been found or its context
// ends. Then await authorizes the request again, because permissions may have changed. It returns the error to answer
// with.
//
// first runs in a goroutine of its own, whose stack is freed before the request waits.
func (s *server) await(w http.ResponseWriter, r *http.Request, limit time.Duration, first func() (look, error),
	rest func(ctx context.Context, changed <-chan struct{}, fresh time.Duration) error,
) error {
	leave, err := s.waitPlace(r)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set(waitedHeader, "0.0")
	_, changed := s.Feed.Next()
	found, err := apart(first)
	if err != nil || !found.pending || limit == 0 {
		return err
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client sends nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
	budget.Yield(r.Context())
	info, began := infoOf(r), time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	err = rest(ctx, changed, found.fresh)
	info.waited = time.Since(began)
	w.Header().Set(waitedHeader, strconv.FormatFloat(info.waited.Seconds(), 'f', 1, 64))
	if err != nil && (r.Context().Err() != nil || s.stops()) {
		info.stopped = s.stops()
		if err := r.Context().Err(); err != nil {
			return fmt.Errorf("wait: %w", err)
		}
		return errStopping()
	}
	refused := s.identify(w, r)
	if refused == nil {
		refused = s.require(r, info.rule)
	}
	if refused != nil {
		return refused
	}
	if ctx.Err() != nil { // the time is over
		return nil
	}
	return err
}

// poll calls find after each change of the feed, and whenever the last look is no longer fresh, until a look is not
// pending.
func (s *server) poll(ctx context.Context, changed <-chan struct{}, fresh time.Duration,
	find func(ctx context.Context, turn int64) (look, error),
) error {
	for {
		if err := s.nextChange(ctx, changed, fresh); err != nil {
			return err
		}
		var turn int64
		turn, changed = s.Feed.Next()
		found, err := apart(func() (look, error) { return find(ctx, turn) })
		if err != nil || !found.pending {
			return err
		}
		fresh = found.fresh
	}
}

// apart calls find in a separate goroutine and passes on its panic, with the stack.
func apart(find func() (look, error)) (found look, err error) {
	done := make(chan any)
	go func() {
		defer func() {
			p := recover()
			if err, isError := p.(error); p != nil && (!isError || !errors.Is(err, http.ErrAbortHandler)) {
				p = fmt.Errorf("%v\n%s", p, debug.Stack())
			}
			done <- p
		}()
		found, err = find()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	return found, err
}

// nextChange waits for a change of the feed or the end of an answer's freshness. It returns an error once ctx has ended
// or the server stops.
func (s *server) nextChange(ctx context.Context, changed <-chan struct{}, fresh time.Duration) error {
	var stale <-chan time.Time
	if fresh > 0 {
		stale = time.After(fresh)
	}
	select {
	case <-changed:
	case <-stale:
	case <-s.Stopping:
		return errStopping()
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stops reports whether the server is stopping.
func (s *server) stops() bool {
	select {
	case <-s.Stopping:
		return true
	default:
		return false
	}
}

// errStopping returns the fault of a request that is waiting when the server stops.
func errStopping() error {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The server stops; ask another one, or this one again")
	f.RetryAfter = time.Second
	return f
}
