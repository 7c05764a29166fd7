package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/sosodev/duration"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/fault"
	"purser/internal/feed"
)

// waitParameter is the parameter by which a request waits for a change.
const waitParameter = "wait"

// maxWait is how long a request may wait.
const maxWait = 10 * time.Minute

// wait reads how long a request may wait; ok is false if it does not ask for that.
func (q *query) wait() (limit time.Duration, ok bool) {
	text := q.text(waitParameter)
	if text == "" {
		if _, given := q.values[waitParameter]; given {
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

// answer calls the handler of an endpoint. If the request waits, it calls it again when something has happened, until
// the answer is not one to wait on: one that the client has already (304), or one that the handler marks as pending.
func (s *server) answer(w http.ResponseWriter, r *http.Request, of endpoint) error {
	if !slices.Contains(of.parameters, waitParameter) {
		return of.handle(w, r)
	}
	if s.Compat && !addedByPurser(r) { // the reference ignores the parameter
		return of.handle(w, withoutWait(r))
	}
	q := readQuery(r)
	limit, waits := q.wait()
	if err := q.error(); err != nil {
		return err
	}
	r = withoutWait(r) // ETags and links are those of the answer without it
	if !waits {
		return of.handle(w, r)
	}
	return s.await(w, r, of, limit)
}

// addedByPurser reports whether the reference does not have a route, and so does not ignore its parameters.
func addedByPurser(r *http.Request) bool {
	route := chi.RouteContext(r.Context()).RoutePattern()
	return strings.HasSuffix(route, "/status") || strings.HasSuffix(route, "/events")
}

// withoutWait returns a request without the parameter.
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

// maxWaitingHeader bounds the URL and the header of a request that waits, in bytes: it keeps them until it is answered.
const maxWaitingHeader = 32 << 10

// place returns a place among the requests that wait. Faults: Invalid for a large request, Unavailable if there is no
// place left.
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
	return s.Feed.Wait()
}

// await answers once there is something that the client waits for, or the time is over.
func (s *server) await(w http.ResponseWriter, r *http.Request, of endpoint, limit time.Duration) error {
	began := s.Now()
	place, err := s.place(r)
	if err != nil {
		return err
	}
	defer place.End()
	w.Header().Set(waitedHeader, "0.0")
	if limit == 0 {
		return of.handle(w, r)
	}
	first := &heldBack{ResponseWriter: w, info: infoOf(r), own: w.Header().Clone()}
	if err := aside(func() error { return of.handle(first, r) }); err != nil || !first.held {
		return err
	}
	budget.Yield(r.Context()) // who waits keeps no permit from others
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})                               // the client says nothing more
	_ = control.SetWriteDeadline(time.Now().Add(limit + waitedAnswerTime)) // tests have writers without deadlines
	answer, err := s.changedAnswer(r, of, limit)
	infoOf(r).waited = s.Now().Sub(began)
	w.Header().Set(waitedHeader, strconv.FormatFloat(infoOf(r).waited.Seconds(), 'f', 1, 64))
	if err == nil {
		err = s.reauthorize(w, r)
	}
	switch {
	case err != nil:
		return err
	case answer == nil: // it is made for this client alone
		return of.handle(w, r)
	}
	infoOf(r).revision = answer.revision
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body.Bytes()) // the client may have gone
	return nil
}

// aside runs work in a goroutine of its own, and panics as the work does. The stack that the work has grown ends with
// the goroutine; it would be most of the memory that a waiting request takes.
func aside(work func() error) (err error) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		err = work()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	return err
}

// waitedAnswerTime is how long an answer may take to be made and written after the client has waited for it.
const waitedAnswerTime = 5 * time.Minute

const waitedHeader = "Purser-Waited"

// isPending reports whether an answer with a status is one to wait on.
func (o *requestInfo) isPending(status int) bool {
	if o.decides {
		return o.pending
	}
	return status == http.StatusNotModified
}

// heldBack passes an answer on, unless it is one to wait on: that one is dropped.
type heldBack struct {
	http.ResponseWriter

	info *requestInfo
	own  http.Header // of the answer, until it is passed on
	held bool
	sent bool
}

// Header implements http.ResponseWriter.
func (w *heldBack) Header() http.Header {
	if w.sent {
		return w.ResponseWriter.Header()
	}
	return w.own
}

// WriteHeader implements http.ResponseWriter.
func (w *heldBack) WriteHeader(status int) {
	if w.held = w.held || !w.sent && w.info.isPending(status); w.held {
		return
	}
	w.sent = true
	maps.Copy(w.ResponseWriter.Header(), w.own)
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *heldBack) Write(text []byte) (int, error) {
	if !w.sent && !w.held {
		w.WriteHeader(http.StatusOK)
	}
	if w.held {
		return len(text), nil
	}
	return w.ResponseWriter.Write(text) //nolint:wrapcheck // a decorator
}

// Unwrap is for http.ResponseController.
func (w *heldBack) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// changedAnswer waits for an answer that is not one to wait on. It returns nil if the time is over, or the caller has
// to make the answer by itself.
func (s *server) changedAnswer(r *http.Request, of endpoint, limit time.Duration) (*recorded, error) {
	over := time.NewTimer(limit)
	defer over.Stop()
	group, leave := s.join(r, of) //nolint:contextcheck // who waits together outlives each of them
	defer leave()
	select {
	case <-group.done:
		if group.err != nil || group.answer.overflows {
			return nil, group.err
		}
		return group.answer, nil
	case <-over.C:
		return nil, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-s.Stopping:
		return nil, stopping()
	}
}

// stopping is the fault of a request that waits while the server stops.
func stopping() error {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The server stops; ask another one, or this one again")
	f.RetryAfter = time.Second
	return f
}

// reauthorize checks that the caller of a request may still make it, after it has waited.
func (s *server) reauthorize(w http.ResponseWriter, r *http.Request) error {
	info := infoOf(r)
	caller, err := s.authenticate(r)
	if err != nil {
		return challenge(w, r, err)
	}
	needed := []string{info.rule}
	if info.viewer.Encrypted {
		needed = append(needed, authz.ListEncryptedDocuments)
	}
	for _, rule := range needed {
		if !s.Access.Rules.Policy().Allows(rule, caller) {
			return forbidden(rule)
		}
	}
	return nil
}
