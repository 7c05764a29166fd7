package api

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
)

// waits keeps what waiting requests share.
type waits struct {
	looks   *budget.Shares // bounds how many look for another answer at a time: an event wakes them all
	answers *cache.Cache[waitKey, *sharedAnswer]
}

// maxLooks is how many questions may be looked at again at a time. An answer of more than maxShared bytes is not
// shared: each request makes its own, as it would without wait. sharedSize bounds the answers that are kept for requests
// that are slow to wake.
const maxLooks, maxShared, sharedSize = 4, 16 << 20, 8 << 20

func newWaits() waits {
	return waits{budget.NewShares(maxLooks), cache.New[waitKey, *sharedAnswer](sharedSize)}
}

// waitKey identifies waiting requests with the same answer.
type waitKey struct {
	method, origin, path, query, accept, seen, revision string
	viewer                                              authz.Viewer
	turn                                                int64 // of the feed
	stale                                               bool  // the answer of the turn no longer holds
}

// answerWaiting answers a request that may wait: until its client does not already have the answer (304), or as the
// handler decides (requestInfo.pending). The first answer is made for the request alone, because one that others have
// begun may be older than what the client knows, such as its own change. After each event, all requests with the same
// question whose viewers may see the same share one.
func (s *server) answerWaiting(w http.ResponseWriter, r *http.Request, handle handler) error {
	q := paramsOf(r)
	limit, waiting := waitLimit(q)
	if err := q.err(); err != nil {
		return err
	}
	if r = withoutWait(r); !waiting { // so that it does not affect ETags and links
		return attempt(handle, w, r)
	}
	r, err := s.pinned(r)
	if err != nil {
		return err
	}
	info := infoOf(r)
	first, viewer := &draft{ResponseWriter: w, info: info, header: http.Header{}, final: limit == 0}, info.viewer
	asked, key := detach(r), s.waitKey(r)
	var answer *sharedAnswer
	err = s.await(w, r, limit, func(ctx context.Context, turn int64) (found outcome, err error) {
		if !first.decided {
			key.turn = turn
			err = attempt(handle, first, r)
			return outcome{first.pending, info.fresh}, err
		}
		key.stale = key.turn == turn
		key.turn = turn
		if answer, err = s.sharedAnswer(asked.WithContext(ctx), key, handle); err != nil {
			return outcome{}, err
		}
		return answer.outcome, nil
	})
	switch {
	case err != nil || first.decided && !first.pending:
		return err
	case answer == nil || answer.pending || answer.overflows || viewer != info.viewer:
		ctx, end := budget.Begin(r.Context())
		defer end()
		return attempt(handle, w, r.WithContext(ctx))
	}
	return s.writeShared(w, r, answer)
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

// waitKey returns the key of the answers to a request, without the turn.
func (s *server) waitKey(r *http.Request) waitKey {
	list := func(header string) string { return strings.Join(r.Header.Values(header), ",") }
	return waitKey{
		method: r.Method, origin: s.origin(r), path: r.URL.EscapedPath(), query: r.URL.RawQuery, accept: list("Accept"),
		seen: list("If-None-Match"), revision: chi.URLParam(r, "revision"), viewer: infoOf(r).viewer,
	}
}

// sharedAnswer returns the answer to a request that it shares with others. A stale answer is not kept, since the next
// one has the same key.
func (s *server) sharedAnswer(r *http.Request, key waitKey, handle handler) (*sharedAnswer, error) {
	return s.waits.answers.Do(r.Context(), key, func(ctx context.Context) (*sharedAnswer, int, error) {
		release, err := s.waits.looks.Acquire(ctx, budget.Claim{Weight: 1})
		if err != nil {
			return nil, 0, fmt.Errorf("look for another answer: %w", err)
		}
		defer release()
		if s.stops() {
			return nil, 0, errStopping()
		}
		info := *infoOf(r)
		answer := &sharedAnswer{header: http.Header{}}
		found := &draft{ResponseWriter: answer, info: &info, header: http.Header{}}
		err = attempt(handle, found, r.WithContext(context.WithValue(ctx, infoKey{}, &info)))
		answer.outcome, answer.revision = outcome{found.pending, info.fresh}, info.revision
		if key.stale {
			return answer, -1, err
		}
		return answer, len(key.path) + len(key.query) + answer.body.Len(), err
	})
}

// writeShared answers with an answer that other requests get, too.
func (s *server) writeShared(w http.ResponseWriter, r *http.Request, answer *sharedAnswer) error {
	infoOf(r).revision = answer.revision
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	s.answers.writeBody(w, r, answer.body.Bytes())
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
	return d.ResponseWriter.Write(text) //nolint:wrapcheck // a decorator
}

// Unwrap is for http.ResponseController.
func (d *draft) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// sharedAnswer is an answer in memory.
type sharedAnswer struct {
	outcome

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
	if a.overflows = a.overflows || a.body.Len()+len(text) > maxShared; a.overflows {
		a.body = bytes.Buffer{}
		return len(text), nil
	}
	return a.body.Write(text) //nolint:wrapcheck // it never fails
}
