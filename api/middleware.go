package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"purser/api/parameters"
	"purser/internal/words"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/fault"
)

// dispatch authorizes a request, checks its parameters and calls the handler of its method. Unknown methods get 405,
// and OPTIONS lists the known ones (spec/api.md §1.1).
func (s *server) dispatch(of methods) http.HandlerFunc {
	allow, fallback := allowHeader(of), fallbackRule(of)
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http omits the body
		}
		called, ok := of[method]
		if !ok {
			called = endpoint{fallback, methodNotAllowed(method, allow), nil}
		}
		infoOf(r).parameters = called.parameters
		if p := infoOf(r).pause; p != nil && p.ended != nil {
			s.fail(w, r, p.ended)
			return
		}
		err := s.authorize(w, r, called.rule)
		if err == nil && ok {
			err = parameters.Check(r, called.parameters, s.Compat && isReading(r.Method))
		}
		if err == nil {
			err = s.answer(w, r, called) //nolint:contextcheck // a group of waiting requests outlives each of them
		}
		if prunedMeanwhile(r, err) {
			err = s.answer(w, r, called) //nolint:contextcheck // the same
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// allowHeader lists the methods of a path.
func allowHeader(of methods) string {
	list := []string{http.MethodOptions}
	for method := range of {
		list = append(list, method)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// methodNotAllowed returns the handler of a method that a path does not support.
func methodNotAllowed(method, allow string) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Allow", allow)
		if method == http.MethodOptions {
			w.WriteHeader(http.StatusOK)
			return nil
		}
		return hinted(fault.MethodNotAllowed, "HTTPMethodNotAllowed", "This path takes "+allow+".")
	}
}

// prunedMeanwhile reports whether a revision that was requested as latest or by a tag was pruned between resolving and
// reading it, so that the request should be handled again. A body cannot be read again.
func prunedMeanwhile(r *http.Request, err error) bool {
	named := strings.Contains(r.URL.Path, "/latest") || strings.Contains(r.URL.Path, "/tag:")
	return named && r.ContentLength == 0 && fault.KindOf(err) == fault.Gone
}

// routeEscaped routes by the escaped path, so that each part is unescaped once, and ignores one trailing slash.
func routeEscaped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		routing := chi.RouteContext(r.Context())
		routing.RoutePath = path
		if methodLabel(r.Method) == otherMethod {
			routing.RouteMethod = http.MethodTrace // no path has it; chi does not route unknown methods
		}
		next.ServeHTTP(w, r)
	})
}

// unsniffed adds the header that stops browsers from guessing the content type.
func unsniffed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// recoverer answers with an internal error if the handler panics. If the answer has begun, it closes the connection
// instead, so that the client does not mistake half an answer for a complete one.
func (s *server) recoverer(next http.Handler) http.Handler {
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
				s.fail(w, r, err)
				return
			}
			info.aborted = true
			info.note(err.Error())
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// budgeted puts a budget into the context of each request.
func (s *server) budgeted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := s.Pool.Begin(r.Context())
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// observer gives each request an id, logs it and counts it.
type observer struct {
	log     *slog.Logger
	now     func() time.Time
	observe Observe
}

// Observe counts a request; route is the pattern of its path, "" if it has none.
type Observe = func(route, method string, status int, took time.Duration)

// requestInfo collects data about a request for the log and the audit.
type requestInfo struct {
	id         string
	began      time.Time
	marker     string // X-Context-Marker, shortened
	caller     authn.Caller
	viewer     authz.Viewer // of the answer; the most restricted one until the caller is known
	rule       string       // the authz rule that was checked, if any
	revision   int64        // the revision created or requested, if any
	audited    bool         // the audit event was stored with the change
	notes      []string     // errors, for the log
	answer     middleware.WrapResponseWriter
	aborted    bool     // the connection was closed in the middle of the answer
	unchanged  bool     // the change stores nothing new
	parameters []string // of the query, that the endpoint reads
	errorType  string   // of the answer, if it is an error

	// For a request that waits for another answer.
	decides bool          // the handler sets pending to keep waiting; otherwise a 304 keeps waiting
	pending bool          // it is
	pinned  string        // the subject of the request, if its URL may come to mean another one
	fresh   time.Duration // how long the answer lasts if nothing changes; 0: for ever
	pause   *pause        // nil if it cannot wait
	waited  time.Duration // how long it has waited
}

type requestInfoKey struct{}

func infoOf(r *http.Request) *requestInfo {
	if o, ok := r.Context().Value(requestInfoKey{}).(*requestInfo); ok {
		return o
	}
	return &requestInfo{}
}

func (o *requestInfo) note(text string) { o.notes = append(o.notes, text) }

// waits reports whether the request is waiting and will be handled again.
func (o *requestInfo) waits() bool { return o.pause != nil && o.pause.begun() && !o.pause.over }

// begun reports whether the status has been sent.
func (o *requestInfo) begun() bool { return o.answer != nil && o.answer.Status() != 0 }

// traced returns the context of a request with the trace named in its header, unless the request already has a span.
func traced(ctx context.Context, header http.Header) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
}

func (o *observer) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		info := &requestInfo{
			id: requestID(), marker: words.FirstBytes(r.Header.Get("X-Context-Marker"), maxMarker), answer: answer,
			began: o.now(),
		}
		if p, waits := r.Context().Value(pauseKey{}).(*pause); waits {
			if info.pause = p; p.over {
				info.began, info.waited = p.began, p.waited
			}
		}
		r = r.WithContext(context.WithValue(traced(r.Context(), r.Header), requestInfoKey{}, info))
		setContextHeaders(answer.Header(), r, info.id)
		defer func() {
			if !info.waits() {
				o.record(r, answer, o.now().Sub(info.began)-info.waited, info)
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

const healthPath = "/api/v1.0/health"

// setContextHeaders sets the request's id, and echoes the headers that clients use to track requests (spec/api.md
// §1.2).
func setContextHeaders(header http.Header, r *http.Request, id string) {
	if r.URL.Path == healthPath {
		return
	}
	header.Set("X-Deckhand-Req", id)
	for _, name := range []string{"X-Context-Marker", "X-End-User"} {
		if value := r.Header.Get(name); value != "" {
			header.Set(name, value)
		}
	}
}

func (o *observer) record(r *http.Request, answer middleware.WrapResponseWriter, took time.Duration,
	info *requestInfo,
) {
	status := answer.Status()
	if status == 0 {
		status = http.StatusOK
	}
	route, method := chi.RouteContext(r.Context()).RoutePattern(), methodLabel(r.Method)
	o.observe(route, method, status, took)
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		span.SetName(strings.TrimSpace(method + " " + route))
		span.SetAttributes(attribute.String("http.route", route), attribute.String("purser.request", info.id),
			attribute.Int64("purser.revision", info.revision))
	}
	if r.URL.Path == healthPath && status == http.StatusNoContent {
		return
	}
	level := slog.LevelInfo
	endedWait := info.pause != nil && info.pause.ended != nil // because the server stopped or the client disconnected
	if status >= http.StatusInternalServerError && !endedWait || info.aborted {
		level = slog.LevelError
	}
	attributes := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", words.FirstBytes(r.URL.Path, maxLogged)),
		slog.Int("status", status),
		slog.Int("bytes", answer.BytesWritten()), slog.Float64("duration_seconds", took.Seconds()),
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
	if len(info.notes) > 0 {
		attributes = append(attributes, slog.String("error", strings.Join(info.notes, "; ")))
	}
	o.log.LogAttrs(r.Context(), level, "request", attributes...)
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

// requestID returns req- and a random UUID, as the reference does.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("req-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
