package web

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"purser/internal/words"
)

// record is what the log says about a request of a browser.
type record struct {
	user  string // "" if it is not known
	cause string // of an error, "" for none
	lasts bool   // it takes as long as what its page tells of
}

type recordKey struct{}

// recordOf returns the record of a request.
func recordOf(ctx context.Context) *record {
	if known, ok := ctx.Value(recordKey{}).(*record); ok {
		return known
	}
	return new(record) // the request is not logged
}

// recorded returns a handler that counts and logs each request, whatever number of calls of the API it takes. It leaves
// out files and does not count streams of events and pages that are sent while they are made, which last as long as
// their readers want.
func (s *server) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, known := s.Now(), new(record)
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, known))
		defer func() {
			page := pageOf(r.Pattern)
			if page == "/ui/static/{file}" {
				return
			}
			status, took := cmp.Or(answer.Status(), http.StatusOK), s.Now().Sub(began)
			failed := recover()
			switch {
			case answer.Status() != 0:
			case failed != nil:
				status, known.cause = http.StatusInternalServerError, fmt.Sprint("panic: ", failed)
			case r.Context().Err() != nil:
				status = statusClientGone
			}
			if page != "/ui/events" && !known.lasts {
				s.Observe(page, methodOf(r), status, took)
			}
			s.logRequest(r, *known, status, answer.BytesWritten(), took)
			if failed != nil {
				panic(failed)
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

// statusClientGone is the status to log when the browser closed the connection before it was answered.
const statusClientGone = 499

// pageOf returns the path of a pattern, such as /ui/revisions/{revision}: that of all others for "".
func pageOf(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	return cmp.Or(strings.TrimSuffix(cmp.Or(path, pattern), "{$}"), "/ui/")
}

// methodOf returns the method as a label of metrics.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return r.Method
	}
	return "other"
}

// logRequest logs a request. It leaves out the query, which may have a text to search for.
func (s *server) logRequest(r *http.Request, known record, status, bytes int, took time.Duration) {
	const maxLogged = 1000
	asked := placeOf(r.Context()).prefix + r.URL.Path
	attributes := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", words.FirstBytes(asked, maxLogged)),
		slog.Int("status", status), slog.Int("bytes", bytes), slog.Float64("duration_seconds", took.Seconds()),
		slog.String("remote", r.RemoteAddr),
	}
	if known.user != "" {
		attributes = append(attributes, slog.String("user", known.user))
	}
	level := slog.LevelInfo
	if known.cause != "" {
		level = slog.LevelError
		attributes = append(attributes, slog.String("error", known.cause))
	}
	s.Log.LogAttrs(r.Context(), level, "page", attributes...)
}
