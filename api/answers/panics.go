package answers

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"purser/api/requests"
)

// Recover answers with an internal error if the handler panics. If the answer has begun, it closes the connection
// instead, so that the client does not mistake half an answer for a complete one.
func (a *Writer) Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			info := requests.Of(r)
			if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it in the same way
				info.Aborted = true // the handler has noted why
				panic(p)
			}
			err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			if !info.Begun() {
				a.Fail(w, r, err)
				return
			}
			info.Aborted = true
			info.Note(err.Error())
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}
