package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/sosodev/duration"

	"purser/internal/budget"
	"purser/internal/fault"
)

// waitParameter is the parameter that makes a request wait for a change.
const waitParameter = "wait"

// maxWait is the longest time that a request may wait.
const maxWait = 10 * time.Minute

// waitLimit reads how long a request may wait; ok is false if it does not ask to wait.
func waitLimit(q *params) (limit time.Duration, ok bool) {
	text := q.text(waitParameter)
	if text == "" {
		if q.given(waitParameter) {
			q.fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
		}
		return 0, false
	}
	limit, err := time.ParseDuration(text)
	if err != nil {
		var iso *duration.Duration
		if iso, err = duration.Parse(text); err == nil {
			limit = iso.ToTimeDuration()
			if iso.Years != 0 || iso.Months != 0 || iso.Weeks > 1 || iso.Days > 1 || iso.Hours > 1 { // which could overflow
				limit = maxWait + 1
			}
		}
	}
	switch {
	case err != nil, limit < 0:
		q.fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
	case limit > maxWait:
		q.fail(waitParameter, "A request may wait for at most 10 minutes; ask again after that.")
	}
	return limit, true
}

// withoutWait returns a copy of a request without the parameter wait, which affects neither ETags nor links.
func withoutWait(r *http.Request) *http.Request {
	parts := strings.Split(r.URL.RawQuery, "&")
	parts = slices.DeleteFunc(parts, func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		return err == nil && name == waitParameter
	})
	same := *r
	same.URL = new(*r.URL)
	same.URL.RawQuery = strings.Join(parts, "&")
	return &same
}

// maxWaitingHeader is the maximum size of the URL and the headers of a waiting request, in bytes, which stay in memory.
const maxWaitingHeader = 32 << 10

// waitPlace returns a place among the waiting requests. Faults: Invalid for a large request, Unavailable if all places
// are taken, Throttled if the caller has its share of them.
func (s *server) waitPlace(r *http.Request) (leave func(), err error) {
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
	return s.at(r).Feed.Wait(budget.OwnerOf(r.Context()))
}

// waitedAnswerTime is the time to make and write an answer after the wait.
const waitedAnswerTime = 5 * time.Minute

const waitedHeader = "Purser-Waited"

// answerWaiting answers a request that may wait: until its client does not already have the answer (304), or as the
// handler decides (requestInfo.pending). It shares the answer with all requests that ask the same question for viewers
// with the same rights. serve calls requestInfo.rest, which waits, once the handlers have returned.
func (s *server) answerWaiting(w http.ResponseWriter, r *http.Request, handle handler) error {
	q := paramsOf(r)
	limit, waiting := waitLimit(q)
	if err := q.err(); err != nil {
		return err
	}
	if r = withoutWait(r); !waiting || wantsStream(r) {
		return attempt(handle, w, r)
	}
	if err := s.pin(r); err != nil { // before the request counts as waiting: others may then change what it asks about
		return err
	}
	leave, err := s.waitPlace(r)
	if err != nil {
		return err
	}
	if limit == 0 {
		defer leave()
		w.Header().Set(waitedHeader, "0.0")
		return attempt(handle, w, r)
	}
	keepOpen(w, limit)
	began, question := time.Now(), s.questionOf(r)
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	record := infoOf(r).copied() // now, because the request may end while others wait for the answer that it shares
	infoOf(r).rest = func() {
		defer leave()
		defer cancel()
		shared, err := s.sharedAnswer(ctx, question, began, func(ctx context.Context) (*sharedAnswer, int, error) {
			found, err := s.poll(r.WithContext(context.WithValue(ctx, infoKey{}, record)), handle)
			return found, 0, err
		})
		infoOf(r).waited = shared.waited(began)
		if err := s.answerWaited(ctx, w, r, handle, shared, err); err != nil {
			s.answers.fail(w, r, s.withHolders(r, err))
		}
	}
	return nil
}

// keepOpen sets the deadlines of a connection whose request waits up to a limit.
func keepOpen(w http.ResponseWriter, limit time.Duration) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client sends nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
}

// pin records the revision or the event that a request means now, because latest, a tag or now may mean another one
// later. It does so for events and for a status that expects something.
func (s *server) pin(r *http.Request) error {
	switch route := chi.RouteContext(r.Context()).RoutePattern(); {
	case route == eventsPath && paramsOf(r).events(r.Header.Get(lastEvent)).since.Now:
		newest, err := s.at(r).Feed.NumberEvents(r.Context())
		if err != nil {
			return fmt.Errorf("number events: %w", err)
		}
		infoOf(r).pinned = strconv.FormatInt(newest, 10)
	case strings.HasSuffix(route, "/status") && paramsOf(r).given("expect"):
		id, err := s.questions(r).Resolve(r.Context(), revisionName(r, "revision"))
		if err != nil {
			return err
		}
		infoOf(r).pinned = strconv.FormatInt(id, 10)
	}
	return nil
}

// answerWaited answers a request that has waited until ctx ended or an answer or an error was found. It authorizes the
// request again first, because permissions may have changed.
func (s *server) answerWaited(ctx context.Context, w http.ResponseWriter, r *http.Request, handle handler,
	shared *sharedAnswer, err error,
) error {
	info, rights := infoOf(r), s.rights(r)
	w.Header().Set(waitedHeader, strconv.FormatFloat(info.waited.Seconds(), 'f', 1, 64))
	switch {
	case err != nil && r.Context().Err() != nil:
		return fmt.Errorf("wait: %w", r.Context().Err())
	case err != nil && s.stops():
		info.stopped = true
		return errStopping()
	}
	if err := s.identify(w, r); err != nil {
		return err
	}
	if err := s.require(r, info.rule); err != nil {
		return err
	}
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case shared == nil || shared.overflows || rights != s.rights(r): // it is made for this client alone
		ctx, end := budget.Begin(r.Context())
		defer end()
		return attempt(handle, w, r.WithContext(ctx)) //nolint:contextcheck // of the request: that of its wait is over
	}
	return s.writeShared(w, r, shared)
}

// apart calls work in a separate goroutine, whose stack is freed afterwards, and passes on its panic, with the stack.
func apart(work func()) {
	done := make(chan any)
	go func() {
		defer func() {
			p := recover()
			if err, isError := p.(error); p != nil && (!isError || !errors.Is(err, http.ErrAbortHandler)) {
				p = fmt.Errorf("%v\n%s", p, debug.Stack())
			}
			done <- p
		}()
		work()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
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
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"The server is stopping; ask another one, or this one again later")
	f.RetryAfter = time.Second
	return f
}
