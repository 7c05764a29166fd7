package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/claims"
)

// waits keeps what waiting requests share.
type waits struct {
	looks   *budget.Shares                      // how many look again at a time: a change wakes all
	answers *cache.Cache[string, *sharedAnswer] // by questionOf
	bytes   *atomic.Int64                       // of shared answers in memory

	workplaces *cache.Cache[string, []claims.SiteName] // of server.workplaces
}

// maxLooks is how many questions may be looked at again at a time. An answer of more than maxShared bytes, or beyond
// maxAllShared bytes of all together, is not shared: each request makes its own, as it would without wait.
const maxLooks, maxShared, maxAllShared = 4, 16 << 20, 64 << 20

func newWaits() waits {
	const workplaces = 16 << 20 // bytes
	return waits{
		budget.NewShares(maxLooks), cache.New[string, *sharedAnswer](0), &atomic.Int64{},
		cache.New[string, []claims.SiteName](workplaces),
	}
}

// rights returns what the caller may see and do, as a short key.
func (s *server) rights(r *http.Request) string {
	passed, _ := s.Access.Rules.Policy().Passed(infoOf(r).caller, onSite(r, authz.Target{}))
	digest := sha256.Sum256([]byte(strings.Join(passed, "\n")))
	return fmt.Sprintf("%+v %x", infoOf(r).viewer, digest[:8])
}

// questionOf returns what two requests must have in common to get the same answer, as one short key. An answer may
// depend on each right of the caller.
func (s *server) questionOf(r *http.Request) string {
	list := func(header string) string { return strings.Join(r.Header.Values(header), ",") }
	return fmt.Sprintf("%s %q", s.rights(r), []string{
		siteOf(r), r.Method, s.base(r), r.URL.EscapedPath(), r.URL.RawQuery, list("Accept"), list("If-None-Match"),
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

// poll answers a request, and again after each change of the feed and whenever the answer is no longer fresh, until an
// answer is not pending.
func (s *server) poll(r *http.Request, handle handler) (found *sharedAnswer, err error) {
	var pending time.Time // since the first look
	for {
		_, changed := s.at(r).Feed.Next()
		apart(func() { found, err = s.look(r, handle, !pending.IsZero()) })
		if err != nil {
			return nil, err
		}
		if found.since = pending; !found.pending {
			return found, nil
		}
		if pending.IsZero() {
			pending = time.Now()
		}
		if err := s.nextChange(r.Context(), changed, infoOf(r).fresh); err != nil {
			return nil, err
		}
	}
}

// look makes an answer that several requests may share. If it looks again, it waits for its turn: a change wakes all
// questions together.
func (s *server) look(r *http.Request, handle handler, again bool) (*sharedAnswer, error) {
	if again {
		release, err := s.waits.looks.Acquire(r.Context(), budget.Claim{Weight: 1})
		if err != nil {
			return nil, fmt.Errorf("look for another answer: %w", err)
		}
		defer release()
	}
	if s.stops() {
		return nil, errStopping()
	}
	ctx, end := budget.Begin(r.Context())
	defer end()
	info := infoOf(r)
	info.pending, info.fresh = nil, 0
	made := &sharedAnswer{info: info, all: s.waits.bytes, began: time.Now(), header: http.Header{}}
	err := attempt(handle, made, r.WithContext(ctx))
	made.revision = info.revision
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

// sharedAnswer is an answer in memory.
type sharedAnswer struct {
	info      *requestInfo  // of the request that looks
	all       *atomic.Int64 // bytes of all shared answers in memory
	began     time.Time
	since     time.Time // when an answer was first pending; zero if none was
	header    http.Header
	status    int
	body      bytes.Buffer
	revision  int64
	pending   bool // its requests keep waiting, and get no part of it
	overflows bool // it is too large to be shared, and has no body
}

// waited returns how long a request that began at a time has waited for an answer, nil if there was none in time.
func (a *sharedAnswer) waited(began time.Time) time.Duration {
	switch {
	case a == nil:
	case a.since.IsZero():
		return 0
	case a.since.After(began):
		began = a.since
	}
	return time.Since(began)
}

// Header implements http.ResponseWriter.
func (a *sharedAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *sharedAnswer) WriteHeader(status int) {
	a.status, a.pending = status, status == http.StatusNotModified
	if a.info.pending != nil {
		a.pending = *a.info.pending
	}
}

// Write implements http.ResponseWriter.
func (a *sharedAnswer) Write(text []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	size := int64(len(text))
	if !a.pending && !a.overflows {
		all := a.all.Add(size)
		counter := a.all // the function must not refer to a
		runtime.AddCleanup(a, func(size int64) { counter.Add(-size) }, size)
		a.overflows = a.body.Len()+len(text) > maxShared || all > maxAllShared
	}
	if a.overflows {
		a.body = bytes.Buffer{}
	}
	if a.pending || a.overflows {
		return len(text), nil
	}
	return a.body.Write(text) //nolint:wrapcheck // it never fails
}
