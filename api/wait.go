package api

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/sosodev/duration"

	"purser/api/parameters"
	"purser/api/requests"
	"purser/internal/fault"
	"purser/internal/feed"
)

// waitParameter is the parameter that makes a request wait for a change.
const waitParameter = "wait"

// maxWait is the longest time that a request may wait.
const maxWait = 10 * time.Minute

// waitLimit reads how long a request may wait; ok is false if it does not ask to wait.
func waitLimit(q *parameters.Query) (limit time.Duration, ok bool) {
	text := q.Text(waitParameter)
	if text == "" {
		if q.Given(waitParameter) {
			q.Fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
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
		q.Fail(waitParameter, "It must be a duration such as 90s, 10m or PT10M.")
	case limit > maxWait:
		q.Fail(waitParameter, "A request may wait for at most 10 minutes; ask again after that.")
	}
	return limit, true
}

// answer calls the handler of an endpoint. If the request waits, it calls the handler again until the client does not
// already have the answer (304) and the handler does not mark it as pending.
func (s *server) answer(w http.ResponseWriter, r *http.Request, of endpoint) error {
	if !slices.Contains(of.parameters, waitParameter) {
		return of.handle(w, r)
	}
	if s.Compat && !addedByPurser(r) { // the reference ignores the parameter
		return of.handle(w, withoutWait(r))
	}
	q := parameters.Of(r)
	limit, waits := waitLimit(q)
	if err := q.Err(); err != nil {
		return err
	}
	r = withoutWait(r) // so that it does not affect ETags and links
	if !waits || wantsStream(r) {
		return of.handle(w, r)
	}
	return s.await(w, r, of, limit)
}

// pin resolves the subject of a waiting request, if it must stay the same while names such as latest move on; it
// returns "" if the subject may change during the wait.
func (s *server) pin(r *http.Request) (string, error) {
	switch route := chi.RouteContext(r.Context()).RoutePattern(); {
	case strings.HasSuffix(route, "/status"):
		return s.pinStatus(r)
	case strings.HasSuffix(route, "/events"):
		return s.pinEvents(r)
	}
	return "", nil
}

// addedByPurser reports whether the reference lacks a route; it ignores parameters of the routes it has.
func addedByPurser(r *http.Request) bool {
	route := chi.RouteContext(r.Context()).RoutePattern()
	return strings.HasSuffix(route, "/status") || strings.HasSuffix(route, "/events")
}

// withoutWait returns a copy of a request without the parameter wait.
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

// place returns a place among the waiting requests. Faults: Invalid for a large request, Unavailable if all places are
// taken, Throttled if the caller has its share of them.
func (s *server) place(r *http.Request) (feed.Wait, error) {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	if size > maxWaitingHeader {
		return feed.Wait{}, fault.New(fault.Invalid, "HTTPBadRequest", "The URL and the headers of a request that waits may "+
			"have %d bytes; these have %d. Send fewer, or ask without wait.", maxWaitingHeader, size)
	}
	return s.Feed.Wait(s.gate.Caller(r))
}

// await makes a request wait for an answer, or answers one that has waited.
func (s *server) await(w http.ResponseWriter, r *http.Request, of endpoint, limit time.Duration) error {
	p, _ := r.Context().Value(pauseKey{}).(*pause) // pausing has set it for every request with the parameter
	if p.over {
		return s.answerAfter(p, w, r, of)
	}
	info := requests.Of(r)
	pinned, err := s.pin(r)
	if err != nil {
		return err
	}
	place, err := s.place(r)
	if err != nil {
		return err
	}
	if limit == 0 {
		defer place.End()
		w.Header().Set(waitedHeader, "0.0")
		return of.handle(w, withState(r, &state{pinned: pinned}))
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client sends nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
	p.began, p.limit, p.place, p.viewer, p.pinned = info.Began, limit, place, info.Viewer, pinned
	p.joined = time.Now()
	p.member = s.join(r, of, pinned)
	info.Paused = true
	return nil
}

// answerAfter writes the answer of a request that has waited.
func (s *server) answerAfter(p *pause, w http.ResponseWriter, r *http.Request, of endpoint) error {
	info := requests.Of(r)
	w.Header().Set(waitedHeader, strconv.FormatFloat(p.waited.Seconds(), 'f', 1, 64))
	answer, err := p.answer, p.err
	p.answer, p.err = nil, nil // if that is not the last word, the next try is made for this client alone
	if err != nil {
		return err
	}
	if answer == nil || p.viewer != info.Viewer { // it is made for this client alone
		return of.handle(w, withState(r, &state{pinned: p.pinned}))
	}
	info.Revision = answer.revision
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // the client may have disconnected
	return nil
}

// waitedAnswerTime is the time to make and write an answer after the wait.
const waitedAnswerTime = 5 * time.Minute

const waitedHeader = "Purser-Waited"

// state is what the handler of a request that may wait and the wait tell each other.
type state struct {
	decides bool          // the handler sets pending to keep waiting; otherwise a 304 keeps waiting
	pending bool          // it is
	pinned  string        // the subject of the request, if its URL may come to mean another one
	fresh   time.Duration // how long the answer lasts if nothing changes; 0: for ever
}

type stateKey struct{}

// withState returns a request with its state.
func withState(r *http.Request, o *state) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), stateKey{}, o))
}

// stateOf returns the state of a request.
func stateOf(r *http.Request) *state {
	if o, ok := r.Context().Value(stateKey{}).(*state); ok {
		return o
	}
	return &state{}
}

// isPending reports whether the request should keep waiting after an answer with this status.
func (o *state) isPending(status int) bool {
	if o.decides {
		return o.pending
	}
	return status == http.StatusNotModified
}

// errStopping returns the fault of a request that is waiting when the server stops.
func errStopping() error {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The server stops; ask another one, or this one again")
	f.RetryAfter = time.Second
	return f
}
