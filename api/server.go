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
	"purser/internal/claims"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/sites"
	"purser/internal/webhooks"
	"purser/internal/wire"
)

// Services answer the requests about one site.
type Services struct {
	Service  *changes.Service
	Queries  *queries.Service
	Feed     feed.Site // of events, for which requests wait
	Webhooks *webhooks.Service
	Claims   claims.Store
	Audit    queries.Audit
}

// Everywhere answers the requests about all sites.
type Everywhere interface {
	claims.Everywhere
	queries.Everywhere
}

// Config configures the handler. All fields but PublicURL and Signer must be set.
type Config struct {
	Services // of the default site
	// Others returns the services of another site, whether that exists or not. It may be nil.
	Others func(site string) *Services

	Sites      *sites.Service // nil with Compat
	Everywhere Everywhere     // may be nil with Compat

	// Signer signs verdicts; nil signs none.
	Signer Signer
	Layout *picture.Layout
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
	// Refused counts a credential that was refused, "token" or "certificate". It may be nil.
	Refused  func(credential string)
	Registry *prometheus.Registry
	OpenAPI  []byte
	Now      func() time.Time

	// Stopping ends the waits of requests once it is closed. It may be nil.
	Stopping <-chan struct{}

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
	// Resource names the issuer of tokens and how the command purser signs in there, if clients should know.
	Resource wire.Resource
	// MetricsElsewhere leaves /metrics to another listener.
	MetricsElsewhere bool
}

// Bounds limit the requests in progress of one caller, and of all callers together.
type Bounds struct {
	Rate    int   // requests per second of one user, on average over ten seconds; 0: unlimited
	Changes int64 // of a site within a minute, if it has no limit of its own; 0: unlimited
	Keep    int64 // revisions of a site besides tagged ones, if it has no limit of its own; 0: all
	Ingests int   // uploads of documents that one user may have in progress; 0: unlimited
	Memory  int64 // bytes of all uploads in progress; at least 1
	// Patience is the maximum time that a request waits for memory, and then for its body to arrive.
	Patience time.Duration
	// Writing is the maximum time to write an answer.
	Writing time.Duration
}

type server struct {
	Config

	rates        []userRate                  // none if the rate is unlimited
	changed      userRate                    // counts the changes of each site
	ownPages     *http.CrossOriginProtection // refuses changes by pages of other sites
	uploads      *uploads
	waits        waits
	answers      *answerWriter
	compressions []*compression
	exposition   http.Handler // the metrics
	contract     func() (contract, error)
	outage       outage
}

// New returns the handler of the whole API.
func New(config Config) http.Handler {
	s := &server{
		Config: config, rates: newUserRates(config.Bounds.Rate), changed: newUserRate(0, changeWindow),
		ownPages: ownPages(config.PublicURL),
		uploads:  newUploads(config.Bounds.Ingests, config.Bounds.Memory, config.Bounds.Patience), waits: newWaits(),
		answers: newAnswerWriter(config.CacheSize, config.Bounds.Writing), compressions: newCompressions(),
		exposition: Metrics(config.Registry), contract: contractOf(config.OpenAPI),
	}
	router := chi.NewRouter()
	router.Use(s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.answers.fail(w, r, errNoRoute(r)) })
	for path, methods := range byPath(s.routes()) {
		if path != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(path, s.dispatch(methods))
		}
	}
	return s.serve(router)
}

// Starting returns a handler for a server that is not ready yet: GET /api/v1.0/health shows that the process is alive,
// and all other requests get the reason, a fault of kind Unavailable. For changes it adds that nothing was stored.
func Starting(reason *fault.Fault, log *slog.Logger, observe Observe, now func() time.Time) http.Handler {
	config := Config{Log: log, Now: now, Observe: observe, Pool: budget.NewPool(1, time.Minute)}
	s := &server{Config: config, answers: newAnswerWriter(0, time.Minute)}
	router := chi.NewRouter()
	unavailable := func(w http.ResponseWriter, r *http.Request) { s.answers.fail(w, r, unstored(r, reason)) }
	router.NotFound(unavailable)
	router.MethodNotAllowed(unavailable)
	router.Handle(healthPath, s.dispatch(methods{"GET": {rule: public, handle: s.health}}))
	return s.serve(router)
}

// Metrics returns a handler that serves the metrics of a registry without authentication.
func Metrics(registry *prometheus.Registry) http.Handler {
	exposition := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		exposition.ServeHTTP(w, r)
	})
}
