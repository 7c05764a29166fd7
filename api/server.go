package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/semaphore"

	"purser/api/answers"
	"purser/api/requests"
	"purser/api/views"
	"purser/internal/budget"
	"purser/internal/changes"
	"purser/internal/document"
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
	Ping   func(context.Context) error
	Limits document.Limits
	// CacheSize bounds the cache of documents as YAML text, in bytes.
	CacheSize int
	Compat    bool
	Pages     bool // there are pages at /ui/
	// PublicURL is the URL at which clients reach the server, without a slash at its end, for the links in answers.
	PublicURL string
	Log       *slog.Logger
	Observe   requests.Observe
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

type server struct {
	Config

	recorder   requests.Recorder
	answers    *answers.Writer
	texts      *views.Texts
	exposition http.Handler // the metrics
	bounds     *bounds
	groups     groups              // of requests that wait
	looks      *semaphore.Weighted // limits how many groups look for another answer concurrently
}

// maxLooks is how many groups of waiting requests may look for another answer concurrently: an event wakes them all.
const maxLooks = 4

// New returns the handler of the whole API.
func New(config Config) http.Handler {
	s := &server{
		config, requests.Recorder{Audit: config.Audit, Log: config.Log, Now: config.Now}, answers.NewWriter(), views.NewTexts(config.CacheSize), Metrics(config.Registry), newBounds(config.Bounds),
		groups{of: map[question]*group{}},
		semaphore.NewWeighted(maxLooks),
	}
	router := chi.NewRouter()
	seen := &requests.Observer{Log: config.Log, Now: config.Now, Count: config.Observe, Health: healthPath}
	router.Use(seen.Middleware, unsniffed, s.recorder.Middleware, s.answers.Recover, compressed, s.budgeted,
		requests.RouteEscaped, s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.answers.Fail(w, r, errNoRoute(r)) })
	for path, methods := range byPath(s.routes()) {
		if path != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(path, s.dispatch(methods))
		}
	}
	return s.pausing(router)
}

// Metrics returns a handler that serves the metrics of a registry without authentication.
func Metrics(registry *prometheus.Registry) http.Handler {
	return unsniffed(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}
