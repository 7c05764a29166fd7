package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/webhooks"
)

// Config configures the handler. All fields but PublicURL must be set.
type Config struct {
	Service *changes.Service
	Queries *queries.Service
	Layout  *picture.Layout
	// Ping returns an error if the database does not answer.
	Ping func(context.Context) error
	// Problem returns what does not work although the server is ready, nil if everything does. It may be nil.
	Problem func() error
	Limits  document.Limits
	// CacheSize bounds the cache of documents as YAML text, in bytes.
	CacheSize int
	Compat    bool
	Pages     bool // there are pages at /ui/
	// PublicURL is the URL at which clients reach the server, without a slash at its end, for the links in answers.
	PublicURL string
	Log       *slog.Logger
	Observe   Observe
	Registry  *prometheus.Registry
	OpenAPI   []byte
	Now       func() time.Time

	// Feed is the feed of events, for which requests wait. Closing Stopping ends their waits; it may be nil.
	Feed     *feed.Feed
	Stopping <-chan struct{}
	Webhooks *webhooks.Service

	Audit  queries.Audit
	Pool   *budget.Pool // of the requests' budgets
	Access Access
	Bounds Bounds
}

// Access configures authentication and authorization.
type Access struct {
	Authenticator authn.Authenticator
	// Anonymous means that Authenticator returns the same caller for every token. Answers and revisions do not name it.
	Anonymous bool
	// Authorities are those of client certificates; nil if none are asked for.
	Authorities func() *authn.Authorities
	Rules       *authz.File
	// MetricsElsewhere leaves /metrics to another listener.
	MetricsElsewhere bool
}

// Bounds limit the requests in progress of one caller, and of all callers together.
type Bounds struct {
	Rate    int   // requests per second of one user, on average over ten seconds; 0: unlimited
	Ingests int   // uploads of documents that one user may have in progress; 0: unlimited
	Memory  int64 // bytes of all uploads in progress; at least 1
	// Patience is the maximum time that a request waits for memory, and then for its body to arrive.
	Patience time.Duration
	// Writing is the maximum time to write an answer.
	Writing time.Duration
}

type server struct {
	Config

	gate       *gate
	uploads    *uploads
	waiting    *waitingRoom
	recorder   auditRecorder
	answers    *answerWriter
	exposition http.Handler // the metrics
}

// New returns the handler of the whole API.
func New(config Config) http.Handler {
	gate := newGate(gateConfig{
		authenticator: config.Access.Authenticator, anonymous: config.Access.Anonymous, rules: config.Access.Rules,
		authorities: config.Access.Authorities, rate: config.Bounds.Rate, publicURL: config.PublicURL,
		now: config.Now,
	})
	s := &server{
		Config: config, gate: gate,
		uploads:    newUploads(config.Bounds.Ingests, config.Bounds.Memory, config.Bounds.Patience),
		waiting:    newWaitingRoom(config.Feed, config.Stopping, gate, config.Now),
		recorder:   auditRecorder{audit: config.Audit, log: config.Log, now: config.Now},
		answers:    newAnswerWriter(config.CacheSize, config.Bounds.Writing),
		exposition: Metrics(config.Registry),
	}
	router := chi.NewRouter()
	seen := &observer{log: config.Log, now: config.Now, count: config.Observe, health: healthPath}
	router.Use(seen.middleware, unsniffed, s.recorder.middleware, s.answers.recover, compressed, s.budgeted,
		routeEscaped, s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.answers.fail(w, r, errNoRoute(r)) })
	for path, methods := range byPath(s.routes()) {
		if path != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(path, s.dispatch(methods))
		}
	}
	return s.waiting.pausing(router)
}

// Starting returns a handler for a server that is not ready yet: GET /api/v1.0/health shows that the process is alive,
// and all other requests get the reason, a fault of kind Unavailable. For changes it adds that nothing was stored.
func Starting(reason *fault.Fault, log *slog.Logger, observe Observe, now func() time.Time) http.Handler {
	s := &server{answers: newAnswerWriter(0, time.Minute)}
	seen := &observer{log: log, now: now, count: observe, health: healthPath}
	router := chi.NewRouter()
	router.Use(seen.middleware, unsniffed, s.answers.recover, routeEscaped)
	unavailable := func(w http.ResponseWriter, r *http.Request) { s.answers.fail(w, r, unstored(r, reason)) }
	router.NotFound(unavailable)
	router.MethodNotAllowed(unavailable)
	router.Handle(healthPath, s.dispatch(methods{"GET": {public, s.health, nil}}))
	return router
}

// Metrics returns a handler that serves the metrics of a registry without authentication.
func Metrics(registry *prometheus.Registry) http.Handler {
	return unsniffed(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}

// unsniffed adds the header that stops browsers from guessing the content type.
func unsniffed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
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
