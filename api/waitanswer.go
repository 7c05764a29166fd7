package api

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
)

// waits keeps what waiting requests share.
type waits struct {
	looks   *budget.Shares                        // how many look again at a time: a change wakes all
	answers *cache.Cache[question, *sharedAnswer] // by question
	bytes   *atomic.Int64                         // of shared answers in memory
}

// maxLooks is how many questions may be looked at again at a time. An answer of more than maxShared bytes, or beyond
// maxAllShared bytes of all together, is not shared: each request makes its own, as it would without wait.
const maxLooks, maxShared, maxAllShared = 4, 16 << 20, 64 << 20

func newWaits() waits {
	return waits{budget.NewShares(maxLooks), cache.New[question, *sharedAnswer](0), &atomic.Int64{}}
}

// answerWaiting answers a request that may wait: until its client does not already have the answer (304), or as the
// handler decides (requestInfo.pending). The first answer is made for the request alone. If it is pending, the request
// shares the further ones with all requests that ask the same question for viewers with the same rights.
func (s *server) answerWaiting(w http.ResponseWriter, r *http.Request, handle handler) error {
	q := paramsOf(r)
	limit, waiting := waitLimit(q)
	if err := q.err(); err != nil {
		return err
	}
	if r = withoutWait(r); !waiting { // so that it does not affect ETags and links
		return attempt(handle, w, r)
	}
	// Before the request counts as waiting: whoever sees it wait may make another revision the latest.
	if _, err := apart(func() (_ look, err error) {
		r, err = s.pinned(r)
		return look{}, err
	}); err != nil {
		return err
	}
	began, info, viewer := time.Now(), infoOf(r), infoOf(r).viewer
	own := &draft{ResponseWriter: w, info: info, header: http.Header{}, final: limit == 0}
	var shared *sharedAnswer
	err := s.await(w, r, limit, func() (look, error) {
		err := attempt(handle, own, r)
		return look{own.pending, info.fresh}, err
	}, func(ctx context.Context, changed <-chan struct{}, fresh time.Duration) (err error) {
		shared, err = s.sharedAnswer(detach(ctx, r), began, handle, changed, fresh)
		return err
	})
	switch {
	case err != nil || !own.pending:
		return err
	case shared == nil || shared.overflows || viewer != info.viewer: // it is made for this client alone
		ctx, end := budget.Begin(r.Context())
		defer end()
		return attempt(handle, w, r.WithContext(ctx))
	}
	return s.writeShared(w, r, shared)
}

// pinned returns a request for a revision by its number, if it waits for the success of latest or of a tag, which must
// not become another one meanwhile.
func (s *server) pinned(r *http.Request) (*http.Request, error) {
	if !strings.HasSuffix(chi.RouteContext(r.Context()).RoutePattern(), "/status") || !paramsOf(r).given("expect") {
		return r, nil
	}
	id, err := s.questions(r).Resolve(r.Context(), revisionName(r, "revision"))
	if err != nil {
		return nil, err
	}
	routing := ownRouting(r)
	routing.URLParams.Values[slices.Index(routing.URLParams.Keys, "revision")] = strconv.FormatInt(id, 10)
	return r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, routing)), nil
}

// question is what two requests must have in common to get the same answer.
type question struct {
	method, origin, path, query, accept, ifNoneMatch string
	revision                                         string // of the path, as pinned names it
	viewer                                           authz.Viewer
}

func (s *server) questionOf(r *http.Request) question {
	list := func(header string) string { return strings.Join(r.Header.Values(header), ",") }
	return question{
		r.Method, s.origin(r), r.URL.EscapedPath(), r.URL.RawQuery, list("Accept"), list("If-None-Match"),
		chi.URLParam(r, "revision"), infoOf(r).viewer,
	}
}

// sharedAnswer waits for the answer that a request shares with others: one of them looks for it after each change, so
// that a change costs the same for a thousand requests as for one. A look that began before the request may be older
// than what its client knows, such as its own change, so its answer is not taken.
func (s *server) sharedAnswer(r *http.Request, began time.Time, handle handler, changed <-chan struct{},
	fresh time.Duration,
) (*sharedAnswer, error) {
	for {
		found, err := s.waits.answers.Do(r.Context(), s.questionOf(r), func(ctx context.Context) (
			found *sharedAnswer, _ int, err error,
		) {
			err = s.poll(ctx, changed, fresh, func(ctx context.Context, _ int64) (_ look, err error) {
				found, err = s.look(r.WithContext(ctx), handle)
				if err != nil {
					return look{}, err
				}
				return found.look, nil
			})
			return found, 0, err
		})
		if found == nil || !found.began.Before(began) {
			return found, err
		}
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
	info := *infoOf(r)
	made := &sharedAnswer{all: s.waits.bytes, began: time.Now(), header: http.Header{}}
	found := &draft{ResponseWriter: made, info: &info, header: http.Header{}}
	err = attempt(handle, found, r.WithContext(context.WithValue(ctx, infoKey{}, &info)))
	made.look, made.revision = look{found.pending, info.fresh}, info.revision
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
	look

	all       *atomic.Int64 // bytes of all shared answers in memory
	began     time.Time
	header    http.Header
	status    int
	body      bytes.Buffer
	revision  int64
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
