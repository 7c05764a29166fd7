package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/internal/authz"
	"purser/internal/budget"
)

// question identifies what waiting requests ask.
type question struct {
	method, origin, path, query, accept, seen, pinned string
	viewer                                            authz.Viewer
}

// group are requests that wait for the answer to one question. One goroutine looks whether it has changed, so that a
// change costs no more with a thousand of them than with one.
type group struct {
	waiting  int
	finished bool
	began    time.Time // when the first answer was one to wait on; zero before that
	cancel   context.CancelFunc
	done     chan struct{} // closed once the others are set
	answer   *recorded
	err      error
}

// groups are those who wait, by their question.
type groups struct {
	mutex  sync.Mutex
	of     map[question]*group
	shared atomic.Int64 // bytes of their answers
}

// join returns the group of the requests that ask the same, and makes it if there is none. leave must be called when a
// request stops waiting. A group looks again after every change, so it misses none that a late request waits for.
func (s *server) join(r *http.Request, of endpoint) (_ *group, leave func()) {
	info := infoOf(r)
	key := question{
		r.Method, s.origin(r), r.URL.EscapedPath(), r.URL.RawQuery, strings.Join(r.Header.Values("Accept"), ","),
		strings.Join(r.Header.Values("If-None-Match"), ","), info.pinned, info.viewer,
	}
	s.groups.mutex.Lock()
	defer s.groups.mutex.Unlock()
	joined := s.groups.of[key]
	if joined == nil {
		joined = &group{done: make(chan struct{})}
		s.groups.of[key] = joined
		asked := shareable(r)
		var ctx context.Context
		ctx, joined.cancel = context.WithCancel(asked.Context())
		go func() {
			joined.answer, joined.err = s.lookFor(ctx, asked, of, joined)
			s.groups.finish(key, joined)
		}()
	}
	joined.waiting++
	return joined, func() { s.groups.leave(key, joined) }
}

// leave ends the work of a group in which nobody waits any more, or drops its answer.
func (g *groups) leave(key question, left *group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	switch left.waiting--; {
	case left.waiting > 0:
	case left.finished:
		left.drop()
	default:
		left.cancel()
		g.forget(key, left)
	}
}

// drop drops the answer of a group, if it has one.
func (g *group) drop() {
	if g.answer != nil {
		g.answer.drop()
	}
}

// finish gives a group its answer.
func (g *groups) finish(key question, done *group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	done.finished = true
	done.cancel()
	g.forget(key, done)
	if close(done.done); done.waiting == 0 {
		done.drop()
	}
}

// forget has the next request that asks the same begin another group.
func (g *groups) forget(key question, old *group) {
	if g.of[key] == old {
		delete(g.of, key)
	}
}

// begin notes that those of a group have to wait.
func (g *groups) begin(began *group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	began.began = time.Now()
}

// waited returns how long a request has waited that joined a group: 0 if there was an answer at once.
func (g *groups) waited(of *group, joined time.Time) time.Duration {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	switch {
	case of.began.IsZero():
		return 0
	case of.began.After(joined):
		joined = of.began
	}
	return time.Since(joined)
}

// shareable returns a request for a group, which outlives it: chi uses the routes of requests again.
func shareable(r *http.Request) *http.Request {
	info, routing := infoOf(r), chi.NewRouteContext()
	own := &requestInfo{
		id: info.id, caller: info.caller, viewer: info.viewer, rule: info.rule, parameters: info.parameters,
		pinned: info.pinned,
	}
	parameters := chi.RouteContext(r.Context()).URLParams
	routing.URLParams = chi.RouteParams{Keys: slices.Clone(parameters.Keys), Values: slices.Clone(parameters.Values)}
	ctx := context.WithValue(context.WithoutCancel(r.Context()), requestInfoKey{}, own)
	return r.Clone(context.WithValue(ctx, chi.RouteCtxKey, routing))
}

// lookFor answers a request again after each event, and when a result expires that the answer rests on, until it is one
// that ends the wait. Each answer is made in a goroutine of its own; the stack is freed when that ends.
func (s *server) lookFor(ctx context.Context, r *http.Request, of endpoint, joined *group) (
	answer *recorded, err error,
) {
	for first := true; ; first = false {
		_, changed := s.Feed.Next()
		if !first { // a change wakes all groups up at once
			if err := s.looks.Acquire(ctx, 1); err != nil {
				return nil, fmt.Errorf("look for another answer: %w", err)
			}
		}
		aside(func() { answer, err = s.look(ctx, r, of) })
		if !first {
			s.looks.Release(1)
		}
		if err != nil || !answer.pending {
			return answer, err
		}
		if first {
			s.groups.begin(joined)
		}
		var expired <-chan time.Time
		if fresh := infoOf(r).fresh; fresh > 0 {
			expired = time.After(fresh)
		}
		select {
		case <-changed:
		case <-expired:
		case <-ctx.Done():
			return nil, fmt.Errorf("look for another answer: %w", context.Cause(ctx))
		}
	}
}

// look returns the answer to a request.
func (s *server) look(ctx context.Context, r *http.Request, of endpoint) (answer *recorded, err error) {
	info := infoOf(r)
	info.fresh = 0
	ctx, end := budget.Begin(ctx)
	defer end()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	answer = &recorded{header: http.Header{}, info: info, shared: &s.groups.shared}
	err = of.handle(answer, r.WithContext(ctx))
	answer.revision = info.revision
	return answer, err
}

// maxShared bounds the answers that waiting requests share, in bytes, all together. Beyond it each request makes its
// own, as it would without wait.
const maxShared = 64 << 20

// recorded is an answer that several requests are given.
type recorded struct {
	info   *requestInfo  // of the request
	shared *atomic.Int64 // bytes of all such answers

	header    http.Header
	status    int
	body      bytes.Buffer
	revision  int64
	pending   bool // it is one to wait on
	overflows bool // it is too large to be kept
}

// Header implements http.ResponseWriter.
func (a *recorded) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *recorded) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.pending = status, a.info.isPending(status)
	}
}

// Write implements http.ResponseWriter.
func (a *recorded) Write(text []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.pending || a.overflows {
		return len(text), nil
	}
	if a.shared.Add(int64(len(text))) > maxShared {
		a.shared.Add(int64(-len(text)))
		a.drop()
		a.overflows = true
		return len(text), nil
	}
	a.body.Write(text)
	return len(text), nil
}

// drop forgets the body.
func (a *recorded) drop() {
	a.shared.Add(int64(-a.body.Len()))
	a.body = bytes.Buffer{}
}
