package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"purser/internal/authz"
)

// pause is the state of a request while it waits. Pausing describes how it is used.
type pause struct {
	began  time.Time     // the request
	limit  time.Duration // of the wait
	place  func()
	viewer authz.Viewer // of the group's answer
	pinned string       // the subject of the request
	member *member      // of a group; nil if the request need not wait
	joined time.Time    // the group

	over   bool // the request has waited
	waited time.Duration
	answer *recorded // of the group; nil if the request needs an answer of its own
	err    error     // of the group
	ended  error     // why there is no answer: the client has disconnected, or the server stops
}

type pauseKey struct{}

// begun reports whether a request is waiting or has waited.
func (p *pause) begun() bool { return p.member != nil }

// pausing returns a handler in which requests wait outside of next. A request that has to wait returns from next
// without an answer, and next handles and authorizes it again after the wait. While waiting, it needs little more
// memory than an idle connection of net/http: next first runs in its own goroutine, whose stack is then freed, so the
// stack of the connection's goroutine does not grow.
func (room *waitingRoom) pausing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mayWait := strings.Contains(r.URL.RawQuery, waitParameter) || strings.Contains(r.URL.RawQuery, "%")
		if !mayWait || !isReading(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		p := new(pause)
		aside(func() { next.ServeHTTP(w, p.of(r)) })
		if !p.begun() {
			return
		}
		defer p.end()
		clear(w.Header())
		p.rest(r.Context(), room.stopping)
		p.waited = p.member.waited(p.joined)
		next.ServeHTTP(w, resume(p.of(r), resumedWait{began: p.began, waited: p.waited, ended: p.ended}))
	})
}

// of returns a request with its pause.
func (p *pause) of(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), pauseKey{}, p))
}

// rest waits until the group has an answer, the time limit is reached, the client disconnects or the server stops.
func (p *pause) rest(ctx context.Context, stopping <-chan struct{}) {
	over := time.NewTimer(p.limit)
	defer over.Stop()
	for !p.over {
		select {
		case <-p.member.group.done:
			if p.member.moves() {
				continue
			}
			found := p.member.group
			if p.err = found.err; p.err == nil && !found.answer.overflows {
				p.answer = found.answer
			}
		case <-over.C:
		case <-ctx.Done():
			p.ended = ctx.Err()
		case <-stopping:
			p.ended = errStopping()
		}
		p.over = true
	}
}

// end releases the resources of a waiting request.
func (p *pause) end() {
	p.member.leave()
	p.place()
}

// aside runs work in a separate goroutine and passes on its panic.
func aside(work func()) {
	done := make(chan any)
	go func() {
		defer func() { done <- recover() }()
		work()
	}()
	if p := <-done; p != nil {
		panic(p)
	}
}
