package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"purser/internal/authz"
	"purser/internal/budget"
)

// question identifies waiting requests with the same answer.
type question struct {
	method, origin, path, query, accept, seen, pinned string
	viewer                                            authz.Viewer
}

// group is a set of requests that wait for the answer to one question. One goroutine checks whether it has changed, so
// a change costs the same for a thousand requests as for one.
type group struct {
	waiting  int
	late     int // requests that joined after the current look began
	looks    int // number of looks begun
	looking  bool
	finished bool
	began    time.Time // when the first answer was one to wait on; zero before that
	cancel   context.CancelFunc
	join     func(context.Context) // takes part in the work; see budget.Joint
	done     chan struct{}         // closed once the others are set
	answer   *recorded
	err      error
	next     *group // requests that joined too late for the answer; nil if none
}

// groups has the waiting requests by question.
type groups struct {
	mutex  sync.Mutex
	of     map[question]*group
	shared atomic.Int64 // bytes of their answers
}

// member is a waiting request. It gets no answer that was looked up before it joined, because that may be older than
// what its client already knows, such as its own change.
type member struct {
	groups *groups
	key    question
	group  *group
	looks  int // of the group that began before the request joined
}

// join adds a request to the group of its question. Call leave when it stops waiting. A group looks again after every
// change, so a late request misses none.
func (room *waitingRoom) join(r *http.Request, of waitEndpoint, pinned string) *member {
	key := question{
		r.Method, of.origin, r.URL.EscapedPath(), r.URL.RawQuery, strings.Join(r.Header.Values("Accept"), ","),
		strings.Join(r.Header.Values("If-None-Match"), ","), pinned, infoOf(r).viewer,
	}
	room.groups.mutex.Lock()
	defer room.groups.mutex.Unlock()
	joined := room.groups.of[key]
	if joined == nil {
		joined = room.begin(key, r, of) //nolint:contextcheck // a group outlives each of its requests
	}
	joined.join(r.Context())
	joined.waiting++
	if joined.looking {
		joined.late++
	}
	return &member{&room.groups, key, joined, joined.looks}
}

// begin creates the group of a question. groups.mutex is held.
func (room *waitingRoom) begin(key question, r *http.Request, of waitEndpoint) *group {
	asked := withState(detach(r), &waitState{pinned: key.pinned})
	work, join := budget.Joint(asked.Context())
	ctx, cancel := context.WithCancel(work)
	made := &group{done: make(chan struct{}), cancel: cancel, join: join}
	room.groups.of[key] = made
	go func() {
		made.answer, made.err = room.lookFor(ctx, asked, of, made)
		room.groups.mutex.Lock()
		defer room.groups.mutex.Unlock()
		room.groups.finish(key, made)
		if made.late > 0 {
			made.next = room.begin(key, asked, of) //nolint:contextcheck // it outlives its requests
			made.next.waiting, made.waiting = made.late, made.waiting-made.late
		}
		if close(made.done); made.waiting == 0 {
			made.drop()
		}
	}()
	return made
}

// finish notes that a group has its answer. The caller must hold mutex.
func (g *groups) finish(key question, done *group) {
	done.finished = true
	done.cancel()
	g.forget(key, done)
}

// moves reports whether a request was too late for its group's answer, and moves such a request to the next group.
func (m *member) moves() bool {
	m.groups.mutex.Lock()
	defer m.groups.mutex.Unlock()
	return m.moved()
}

func (m *member) moved() bool {
	if !m.group.finished || m.looks < m.group.looks || m.group.next == nil {
		return false
	}
	m.group, m.looks = m.group.next, 0
	return true
}

// leave ends the work of a group after its last member, or drops its answer.
func (m *member) leave() {
	m.groups.mutex.Lock()
	defer m.groups.mutex.Unlock()
	m.moved()
	left := m.group
	if left.looking && !left.finished && m.looks == left.looks {
		left.late--
	}
	switch left.waiting--; {
	case left.waiting > 0:
	case left.finished:
		left.drop()
	default:
		left.cancel()
		m.groups.forget(m.key, left)
	}
}

// drop drops the answer of a group, if it has one.
func (g *group) drop() {
	if g.answer != nil {
		g.answer.drop()
	}
}

// forget removes a group, so that the next request with the same question begins another one.
func (g *groups) forget(key question, old *group) {
	if g.of[key] == old {
		delete(g.of, key)
	}
}

// look records that a group begins to look: requests that join from now on are late.
func (g *groups) look(begins *group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	begins.looks++
	begins.looking = true
}

// pend notes that a look found a pending answer. No request is late for the next look.
func (g *groups) pend(waits *group) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	waits.looking, waits.late = false, 0
	if waits.began.IsZero() {
		waits.began = time.Now()
	}
}

// waited returns how long a request has waited since it joined a group: 0 if the first answer ended the wait.
func (m *member) waited(joined time.Time) time.Duration {
	m.groups.mutex.Lock()
	defer m.groups.mutex.Unlock()
	switch began := m.group.began; {
	case began.IsZero():
		return 0
	case began.After(joined):
		joined = began
	}
	return time.Since(joined)
}

// lookFor answers a request again after each event, and when a result that the answer depends on expires, until the
// answer ends the wait. Each answer is made in its own goroutine, so that the stack is freed afterwards.
func (room *waitingRoom) lookFor(ctx context.Context, r *http.Request, of waitEndpoint, joined *group) (
	answer *recorded, err error,
) {
	release := func() {}
	for first := true; ; first = false {
		_, changed := room.feed.Next()
		if !first { // a change wakes all groups together
			if release, err = room.looks.Acquire(ctx, budget.Claim{Weight: 1}); err != nil {
				return nil, fmt.Errorf("look for another answer: %w", err)
			}
		}
		room.groups.look(joined)
		aside(func() { answer, err = room.look(ctx, r, of) })
		release()
		if err != nil || !answer.pending {
			return answer, err
		}
		room.groups.pend(joined)
		var expired <-chan time.Time
		if fresh := waitStateOf(r).fresh; fresh > 0 {
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
func (room *waitingRoom) look(ctx context.Context, r *http.Request, of waitEndpoint) (answer *recorded, err error) {
	state := waitStateOf(r)
	state.fresh = 0
	ctx, end := budget.Begin(ctx)
	defer end()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	answer = &recorded{header: http.Header{}, state: state, shared: &room.groups.shared}
	err = of.handle(answer, r.WithContext(ctx))
	answer.revision = infoOf(r).revision
	return answer, err
}

// maxShared bounds the total size of the answers that waiting requests share, in bytes. Above it, each request makes
// its own answer, as it would without wait.
const maxShared = 64 << 20

// recorded is an answer that several requests share.
type recorded struct {
	state  *waitState    // of the request
	shared *atomic.Int64 // bytes of all such answers

	header    http.Header
	status    int
	body      bytes.Buffer
	revision  int64
	pending   bool // requests keep waiting after it
	overflows bool // it is too large to keep
}

// Header implements http.ResponseWriter.
func (a *recorded) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *recorded) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.pending = status, a.state.isPending(status)
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

// drop discards the body.
func (a *recorded) drop() {
	a.shared.Add(int64(-a.body.Len()))
	a.body = bytes.Buffer{}
}
