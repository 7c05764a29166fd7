package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/words"
)

// observer gives each request an id, logs it and counts it.
type observer struct {
	log   *slog.Logger
	now   func() time.Time
	count Observe
	// health is the path of health checks. Their answers have no request id, and a 204 is not logged.
	health string

	outage outage
}

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
	if trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
}

// middleware observes the requests that next answers.
func (o *observer) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		info := &requestInfo{
			id: requestID(), marker: words.FirstBytes(r.Header.Get("X-Context-Marker"), maxMarker), answer: answer,
			began: o.now(),
		}
		if wait, ok := r.Context().Value(waitKey{}).(*resumedWait); ok {
			info.resumed, info.began, info.waited = wait, wait.began, wait.waited
		}
		r = r.WithContext(context.WithValue(traced(r.Context(), r.Header), infoKey{}, info))
		o.setContextHeaders(answer.Header(), r, info.id)
		defer func() {
			if !info.paused {
				o.record(r, answer, o.now().Sub(info.began)-info.waited, info)
			}
		}()
		next.ServeHTTP(answer, r)
	})
}

// setContextHeaders sets the request's id, and echoes the headers that clients use to track requests.
func (o *observer) setContextHeaders(header http.Header, r *http.Request, id string) {
	if r.URL.Path == o.health {
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
	o.count(route, method, status, took)
	if span := trace.SpanFromContext(r.Context()); span.IsRecording() {
		span.SetName(strings.TrimSpace(method + " " + route))
		span.SetAttributes(attribute.String("http.route", route), attribute.String("purser.request", info.id),
			attribute.Int64("purser.revision", info.revision))
	}
	if r.URL.Path == o.health && status == http.StatusNoContent {
		return
	}
	level, cause := slog.LevelInfo, strings.Join(info.notes, "; ")
	endedWait := info.resumed != nil && info.resumed.ended != nil // because the server stopped or the client disconnected
	if status >= http.StatusInternalServerError && !endedWait || info.aborted {
		level = slog.LevelError
		if status == http.StatusServiceUnavailable && o.outage.repeated(cause, o.now()) {
			level = slog.LevelWarn // an outage fails all requests for the same reason
		}
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
	if cause != "" {
		attributes = append(attributes, slog.String("error", cause))
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

// requestID returns req- and a random UUID, as Deckhand does.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("req-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
