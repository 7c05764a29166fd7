package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/words"
)

// outage is the newest cause for which requests are answered with 503.
type outage struct {
	mu    sync.Mutex
	cause string
	since time.Time
}

// repeated reports whether the same cause was reported less than a minute ago. If it was not, it is now.
func (o *outage) repeated(cause string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if cause == o.cause && now.Sub(o.since) < time.Minute {
		return true
	}
	o.cause, o.since = cause, now
	return false
}

// Observe counts a request; route is the pattern of its path, "" if it has none.
type Observe = func(route, method string, status int, took time.Duration)

// traced returns the context of a request with the trace named in its header, unless the request already has a span.
func traced(ctx context.Context, header http.Header) context.Context {
	if header.Get("Traceparent") == "" || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
}

// begin gives a request an id, a record that end logs, and the context of its route, in a context made from ctx.
func (s *server) begin(ctx context.Context, w http.ResponseWriter, r *http.Request) (*sentAnswer, *http.Request) {
	answer := &sentAnswer{ResponseWriter: w}
	info := &requestInfo{
		id: requestID(), marker: words.FirstBytes(r.Header.Get("X-Context-Marker"), maxMarker), began: s.Now(),
	}
	below := r.URL
	if s.Sites != nil {
		info.site, info.prefix, below, _ = splitSite(r.URL)
		info.everywhere = strings.HasPrefix(below.EscapedPath(), everywhere)
	}
	ctx = context.WithValue(traced(ctx, r.Header), infoKey{}, info)
	r = r.WithContext(context.WithValue(ctx, chi.RouteCtxKey, routing(r.Method, below)))
	r.URL = below
	if !isReading(r.Method) {
		answer.record = func(status int) { s.recordChange(r, status) }
	}
	if r.URL.Path != healthPath {
		setContextHeaders(w.Header(), r, info.id)
	}
	w.Header().Set("X-Content-Type-Options", "nosniff") // browsers do not guess the content type
	return answer, r
}

// sentAnswer records the status and the size of an answer.
type sentAnswer struct {
	http.ResponseWriter

	// record is called with the status before it is sent, so that no unaudited change is acknowledged. If recording
	// fails, a change that was made is logged instead. It is nil for requests that only read, and after it was called.
	record func(status int)
	status int // 0 until it is sent
	bytes  int
}

// WriteHeader implements http.ResponseWriter.
func (a *sentAnswer) WriteHeader(status int) {
	if status >= http.StatusOK && a.status == 0 { // it is not informational, and net/http ignores a second one
		if record := a.record; record != nil {
			a.record = nil
			record(status)
		}
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *sentAnswer) Write(text []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	n, err = a.ResponseWriter.Write(text)
	a.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *sentAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// setContextHeaders sets the request's id, and echoes the headers that clients use to track requests.
func setContextHeaders(header http.Header, r *http.Request, id string) {
	header.Set("X-Deckhand-Req", id)
	for _, name := range []string{"X-Context-Marker", "X-End-User"} {
		if value := r.Header.Get(name); value != "" {
			header.Set(name, value)
		}
	}
}

// partKey marks the context of a request that is part of another one.
type partKey struct{}

// PartOf returns a handler of requests that the server makes of itself to answer another request, which is counted and
// logged instead. It logs only those that change something or fail with an error of the server; others at debug level.
func PartOf(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), partKey{}, true)))
	})
}

// end counts and logs a request. It leaves out health checks that succeed.
func (s *server) end(r *http.Request, answer *sentAnswer) {
	info, status := infoOf(r), cmp.Or(answer.status, http.StatusOK)
	took := s.Now().Sub(info.began) - info.waited
	route, method := chi.RouteContext(r.Context()).RoutePattern(), methodLabel(r.Method)
	part := r.Context().Value(partKey{}) != nil
	if !part {
		s.Observe(route, method, status, took)
	}
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		span.SetName(strings.TrimSpace(method + " " + route))
		span.SetAttributes(attribute.String("http.route", route), attribute.String("purser.request", info.id),
			attribute.Int64("purser.revision", info.revision))
	}
	if (route == healthPath || route == readyPath) && status < http.StatusBadRequest {
		return
	}
	level, cause := slog.LevelInfo, strings.Join(info.notes, "; ")
	if status >= http.StatusInternalServerError && !info.stopped || info.aborted {
		level = slog.LevelError
		if status == http.StatusServiceUnavailable && s.outage.repeated(cause, s.Now()) {
			level = slog.LevelWarn // an outage fails all requests for the same reason
		}
	}
	showsSecrets := r.URL.Query().Get(cleartextSecrets) == "true" // which a page asks for only if its user does
	if part && level == slog.LevelInfo && isReading(r.Method) && !showsSecrets {
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", words.FirstBytes(info.prefix+r.URL.Path, maxLogged)),
		slog.Int("status", status),
		slog.Int("bytes", answer.bytes), slog.Float64("duration_seconds", took.Seconds()),
		slog.String("remote", r.RemoteAddr),
	}
	if query := loggedQuery(r.URL.RawQuery, info.parameters); query != "" {
		attributes = append(attributes, slog.String("query", query))
	}
	if info.waited > 0 {
		attributes = append(attributes, slog.Float64("waited_seconds", info.waited.Seconds()))
	}
	if info.revision > 0 {
		attributes = append(attributes, slog.Int64("revision", info.revision))
	}
	if info.caller.UserID != "" {
		attributes = append(attributes, slog.String("user", info.caller.UserID))
	}
	if cause != "" {
		attributes = append(attributes, slog.String("error", cause))
	}
	s.Log.LogAttrs(r.Context(), level, "request", attributes...)
}

const otherMethod = "other"

// methodLabel returns the method as a label of metrics. All unknown methods share one, so that clients cannot add
// labels.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

// routing returns the context in which chi routes a request, without the prefix of a site: by its escaped path, so that
// each part is unescaped once, and without one trailing slash.
func routing(method string, at *url.URL) *chi.Context {
	to := chi.NewRouteContext()
	to.RoutePath = at.EscapedPath()
	if len(to.RoutePath) > 1 {
		to.RoutePath = strings.TrimSuffix(to.RoutePath, "/")
	}
	if methodLabel(method) == otherMethod {
		to.RouteMethod = http.MethodTrace // no path has it; chi does not route unknown methods
	}
	return to
}

// requestID returns req- and a random UUID, as Deckhand does.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("req-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
