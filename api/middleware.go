package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/authn"
	"purser/internal/fault"
)

// dispatch calls the method's handler for those who may; others get 405, and OPTIONS tells which there are (spec/api.md
// §1.1).
func (s *server) dispatch(of methods) http.HandlerFunc {
	allow, least := allowed(of), leastRule(of)
	return func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http leaves the body out
		}
		called, exists := of[method]
		if !exists {
			called = endpoint{least, withoutMethod(method, allow)}
		}
		err := s.admit(w, r, called.rule)
		if err == nil {
			err = called.handle(w, r)
		}
		if prunedMeanwhile(r, err) {
			err = called.handle(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	}
}

// allowed lists the methods of a path for the Allow header.
func allowed(of methods) string {
	list := []string{http.MethodOptions}
	for method := range of {
		list = append(list, method)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// withoutMethod answers where a path does not know the method.
func withoutMethod(method, allow string) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Allow", allow)
		if method == http.MethodOptions {
			w.WriteHeader(http.StatusOK)
			return nil
		}
		return hinted(fault.MethodNotAllowed, "HTTPMethodNotAllowed", "Here one can use "+allow+".")
	}
}

// prunedMeanwhile tells that a revision which was asked for by its name, and not by its number, was pruned after it was
// found: there is another one of that name, or else none. A request without a body can be answered once more.
func prunedMeanwhile(r *http.Request, err error) bool {
	named := strings.Contains(r.URL.Path, "/latest") || strings.Contains(r.URL.Path, "/tag:")
	return named && r.ContentLength == 0 && fault.KindOf(err) == fault.Gone
}

// routeEscaped routes by the path as it was sent, so that each part is unescaped just once, and tolerates one trailing
// slash.
func routeEscaped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		routing := chi.RouteContext(r.Context())
		routing.RoutePath = path
		if knownMethod(r.Method) == otherMethod {
			routing.RouteMethod = http.MethodTrace // which no path knows; chi itself has no answer for invented ones
		}
		next.ServeHTTP(w, r)
	})
}

// recoverer turns a panic into an internal error of this one request. Once the answer has begun it ends the connection
// instead, so that the client does not take half an answer for a whole one.
func (s *server) recoverer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			seen := observed(r)
			if !seen.begun() {
				s.fail(w, r, err)
				return
			}
			seen.aborted = true
			seen.note(err.Error())
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// budgeted gives each request a budget of its own.
func (s *server) budgeted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := s.Pool.Begin(r.Context())
		defer end()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// observer gives each request an id, logs a line for it and counts it.
type observer struct {
	log      *slog.Logger
	now      func() time.Time
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
}

func newObserver(config Config) *observer {
	o := &observer{
		log: config.Log,
		now: config.Now,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "purser_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "purser_http_request_seconds", Help: "Time to answer a request, by route and method.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}, []string{"route", "method"}),
	}
	config.Registry.MustRegister(o.requests, o.latency)
	return o
}

// observation is what is noted about a request while it is answered.
type observation struct {
	id       string
	caller   authn.Caller
	rule     string // that the caller has to pass, where there is one
	revision int64  // that was made or that the request is about, 0 if neither
	idle     bool   // it changes nothing: a dry run, or a state that was there already
	audited  bool   // the audit event is stored with the change
	failure  string // the error's type, empty if there is none
	notes    []string
	answer   middleware.WrapResponseWriter
	aborted  bool // the connection was ended in the middle of the answer
}

type observationKey struct{}

func observed(r *http.Request) *observation {
	if o, ok := r.Context().Value(observationKey{}).(*observation); ok {
		return o
	}
	return &observation{}
}

func (o *observation) note(text string) { o.notes = append(o.notes, text) }

// begun reports whether the client was sent the status already.
func (o *observation) begun() bool { return o.answer != nil && o.answer.Status() != 0 }

func (o *observer) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := o.now()
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		seen := &observation{id: requestID(), answer: answer}
		r = r.WithContext(context.WithValue(r.Context(), observationKey{}, seen))
		setContextHeaders(answer.Header(), r, seen.id)
		defer func() { o.record(r, answer, o.now().Sub(began), seen) }()
		next.ServeHTTP(answer, r)
	})
}

const healthPath = "/api/v1.0/health"

// setContextHeaders answers with the request's id and what the client wants to recognise it by (spec/api.md §1.2).
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
	seen *observation,
) {
	status := answer.Status()
	if status == 0 {
		status = http.StatusOK
	}
	route := chi.RouteContext(r.Context()).RoutePattern()
	o.requests.WithLabelValues(route, knownMethod(r.Method), strconv.Itoa(status)).Inc()
	o.latency.WithLabelValues(route, knownMethod(r.Method)).Observe(took.Seconds())
	if r.URL.Path == healthPath && status == http.StatusNoContent {
		return
	}
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError || seen.aborted {
		level = slog.LevelError
	}
	attributes := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", status),
		slog.Int("bytes", answer.BytesWritten()), slog.Duration("took", took), slog.String("request", seen.id),
		slog.String("remote", r.RemoteAddr),
	}
	if seen.caller.UserID != "" {
		attributes = append(attributes, slog.String("user", seen.caller.UserID))
	}
	if len(seen.notes) > 0 {
		attributes = append(attributes, slog.String("error", strings.Join(seen.notes, "; ")))
	}
	o.log.LogAttrs(r.Context(), level, "request", attributes...)
}

const otherMethod = "other"

// knownMethod keeps invented methods from filling the metrics.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodOptions:
		return method
	}
	return otherMethod
}

// requestID is req- and a random UUID.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("req-%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
