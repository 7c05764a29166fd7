package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
)

// recover answers with an internal error if the handler panics. If the answer has begun, it closes the connection
// instead, so that the client does not mistake half an answer for a complete one.
func (a *answerWriter) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
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
			if !info.begun() {
				a.fail(w, r, err)
				return
			}
			info.aborted = true
			info.note(err.Error())
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
