package api

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"purser/internal/budget"
	"purser/internal/cache"
)

// waits keeps what waiting requests share.
type waits struct {
	looks   *budget.Shares                      // how many look again at a time: a change wakes all
	answers *cache.Cache[string, *sharedAnswer] // by questionOf
	bytes   *atomic.Int64                       // of shared answers in memory
}

// maxLooks is how many questions may be looked at again at a time. An answer of more than maxShared bytes, or beyond
// maxAllShared bytes of all together, is not shared: each request makes its own, as it would without wait.
const maxLooks, maxShared, maxAllShared = 4, 16 << 20, 64 << 20

func newWaits() waits {
	return waits{budget.NewShares(maxLooks), cache.New[string, *sharedAnswer](0), &atomic.Int64{}}
}

// questionOf returns what two requests must have in common to get the same answer, as one short key.
func (s *server) questionOf(r *http.Request) string {
	list := func(header string) string { return strings.Join(r.Header.Values(header), ",") }
	return fmt.Sprintf("%+v %q", infoOf(r).viewer, []string{
		r.Method, s.origin(r), r.URL.EscapedPath(), r.URL.RawQuery, list("Accept"), list("If-None-Match"),
		r.Header.Get(lastEvent), infoOf(r).pinned,
	})
}

// sharedAnswer waits for the answer that a request shares with others of the same question: one of them looks for it
// after each change, so that a change costs the same for a thousand requests as for one. A look that began before the
// request may be older than what its client knows, such as its own change, so its answer is not taken.
func (s *server) sharedAnswer(ctx context.Context, question string, began time.Time,
	poll func(context.Context) (*sharedAnswer, int, error),
) (*sharedAnswer, error) {
	for {
		found, err := s.waits.answers.Do(ctx, question, poll)
		if found == nil || !found.began.Before(began) {
			return found, err
		}
	}
}

// poll answers a request after each change of the feed, and whenever the last answer is no longer fresh, until an
// answer is not pending.
func (s *server) poll(r *http.Request, handle handler, changed <-chan struct{}, fresh time.Duration) (
	found *sharedAnswer, err error,
) {
	for {
		if err := s.nextChange(r.Context(), changed, fresh); err != nil {
			return nil, err
		}
		_, changed = s.Feed.Next()
		apart(func() { found, err = s.look(r, handle) })
		if err != nil || !found.pending {
			return found, err
		}
		fresh = infoOf(r).fresh
	}
}

// look makes an answer that several requests may share.
func (s *server) look(r *http.Request, handle handler) (*sharedAnswer, error) {
	release, err := s.waits.looks.Acquire(r.Context(), budget.Claim{Weight: 1}) // a change wakes all together
	if err != nil {
		return nil, fmt.Errorf("look for another answer: %w", err)
	}
	defer release()
	if s.stops() {
		return nil, errStopping()
	}
	ctx, end := budget.Begin(r.Context())
	defer end()
	info := infoOf(r)
	info.pending, info.fresh = nil, 0
	made := &sharedAnswer{all: s.waits.bytes, began: time.Now(), header: http.Header{}}
	found := &draft{ResponseWriter: made, info: info, header: http.Header{}}
	err = attempt(handle, found, r.WithContext(ctx))
	made.pending, made.revision = found.pending, info.revision
	return made, err
}

// writeShared answers with an answer that other requests get, too.
func (s *server) writeShared(w http.ResponseWriter, r *http.Request, answer *sharedAnswer) error {
	infoOf(r).revision = answer.revision
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	// Its memory is counted once, not for each client. A client that does not read is cut off.
	_ = writeParts(w, answer.body.Bytes(), time.Now().Add(s.answers.patience))
	return nil
}

// draft is an answer that reaches its writer unless it is pending.
type draft struct {
	http.ResponseWriter

	info    *requestInfo
	header  http.Header
	final   bool // it is not pending
	decided bool // whether it is pending
	pending bool
}

// Header implements http.ResponseWriter.
func (d *draft) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *draft) WriteHeader(status int) {
	d.decided, d.pending = true, status == http.StatusNotModified
	if d.info.pending != nil {
		d.pending = *d.info.pending
	}
	if d.pending = d.pending && !d.final; !d.pending {
		maps.Copy(d.ResponseWriter.Header(), d.header)
		d.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (d *draft) Write(text []byte) (int, error) {
	if !d.decided {
		d.WriteHeader(http.StatusOK)
	}
	if d.pending {
		return len(text), nil
	}
	return d.ResponseWriter.Write(text)
}

// Unwrap is for http.ResponseController.
func (d *draft) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// sharedAnswer is an answer in memory.
type sharedAnswer struct {
	all       *atomic.Int64 // bytes of all shared answers in memory
	began     time.Time
	header    http.Header
	status    int
	body      bytes.Buffer
	revision  int64
	pending   bool // its requests keep waiting
	overflows bool // it is too large to be shared, and has no body
}

// Header implements http.ResponseWriter.
func (a *sharedAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *sharedAnswer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *sharedAnswer) Write(text []byte) (int, error) {
	size := int64(len(text))
	if !a.overflows {
		all := a.all.Add(size)
		counter := a.all // the function must not refer to a
		runtime.AddCleanup(a, func(size int64) { counter.Add(-size) }, size)
		a.overflows = a.body.Len()+len(text) > maxShared || all > maxAllShared
	}
	if a.overflows {
		a.body = bytes.Buffer{}
		return len(text), nil
	}
	return a.body.Write(text) //nolint:wrapcheck // it never fails
}
