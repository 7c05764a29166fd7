package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
)

// serve returns a handler that does what all requests have in common before and after next: a request gets a record,
// which is logged when it is done, and a budget; its answer is compressed.
//
// A request waits here, after next has returned, and next runs in a goroutine of its own then, so that the stack of
// the connection's goroutine is small for as long as the request waits.
func (s *server) serve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := s.Pool.Begin(r.Context())
		defer end()
		sent, r := s.begin(ctx, w, r)
		defer s.end(r, sent)
		defer s.recoverPanic(sent, r)
		packed := s.compress(sent, r)
		defer packed.release() // after a panic too, which must not end the answer as if it were complete
		if strings.Contains(r.URL.RawQuery, waitParameter) {
			apart(func() { next.ServeHTTP(packed, r) })
		} else {
			next.ServeHTTP(packed, r)
		}
		if rest := infoOf(r).rest; rest != nil {
			rest()
		}
		packed.end()
		if sent.status == 0 {
			sent.WriteHeader(http.StatusOK)
		}
	})
}

// recoverPanic answers with an internal error if the handler has panicked. If the answer has begun, it closes the
// connection instead, so that the client does not mistake half an answer for a complete one.
func (s *server) recoverPanic(answer *sentAnswer, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	info := infoOf(r)
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it in the same way
		info.aborted = true // the handler has noted why
		panic(p)
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	if answer.status == 0 {
		s.answers.fail(answer, r, err)
		return
	}
	info.aborted = true
	info.note(err.Error())
	panic(http.ErrAbortHandler)
}

// checkBody rejects bodies of unsupported content types before any other check.
func (s *server) checkBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hasBody := r.ContentLength != 0 // -1 for a body of unknown length
		if hasBody && r.Method != http.MethodGet && r.Method != http.MethodDelete {
			if err := checkBodyType(r); err != nil {
				s.answers.fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
