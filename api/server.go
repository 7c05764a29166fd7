package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// Config configures the handler. All fields but PublicURL must be set.
type Config struct {
	Service *revisions.Service
	Queries *queries.Service
	Layout  *picture.Layout
	// Ping returns an error if the database does not answer.
	Ping   func(context.Context) error
	Limits document.Limits
	// CacheSize bounds the cache of documents as YAML text, in bytes.
	CacheSize int
	Compat    bool
	// PublicURL is the URL at which clients reach the server, without a slash at its end, for the links in answers.
	PublicURL string
	Log       *slog.Logger
	Registry  *prometheus.Registry
	OpenAPI   []byte
	Now       func() time.Time

	Audit  queries.Audit
	Pool   *budget.Pool // of the requests' budgets
	Access Access
	Bounds Bounds
}

type server struct {
	Config

	texts      *textCache
	exposition http.Handler // the metrics
	bounds     *bounds
}

// New returns the handler of the whole API.
func New(config Config) http.Handler {
	s := &server{
		config, cache.New[textKey, []byte](config.CacheSize), Metrics(config.Registry), newBounds(config.Bounds),
	}
	router := chi.NewRouter()
	router.Use(newObserver(config).middleware, unsniffed, s.audited, s.recoverer, compressed, s.budgeted, routeEscaped,
		s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoRoute(r)) })
	for _, route := range s.routes() {
		if route.pattern != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(route.pattern, s.dispatch(route.methods))
		}
	}
	return router
}

// Metrics returns a handler that serves the metrics of a registry without authentication.
func Metrics(registry *prometheus.Registry) http.Handler {
	return unsniffed(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}

// route is a path of the API with its methods.
type route struct {
	pattern string
	methods methods
}

type methods map[string]endpoint

// endpoint is a handler with the rule that its callers must pass (spec/api.md §1.1).
type endpoint struct {
	rule   string // of package authz, or public or authenticated
	handle handler
}

const metricsPath = "/metrics"

func (s *server) routes() []route {
	const v1 = "/api/v1.0"
	const revision = v1 + "/revisions/{revision}"
	return []route{
		{"/", methods{"GET": {public, s.front}}},
		{"/versions", methods{"GET": {public, s.versions}}},
		{"/readyz", methods{"GET": {public, s.ready}}},
		{metricsPath, methods{"GET": {authz.ShowMetrics, s.metrics}}},
		{"/openapi.yaml", methods{"GET": {public, s.openAPI}}},
		{v1 + "/health", methods{"GET": {public, s.health}}},
		{v1 + "/whoami", methods{"GET": {authenticated, s.whoami}}},
		{v1 + "/audit", methods{"GET": {authz.ShowAudit, s.listAudit}}},
		{v1 + "/buckets", methods{"GET": {authz.ListCleartextDocuments, s.listBuckets}}},
		{v1 + "/buckets/{bucket}/documents", methods{"PUT": {authz.CreateCleartextDocuments, s.putBucket}}},
		{v1 + "/documents/{namespace}/{kind}/{version}/{layer}/{name}/history", methods{
			"GET": {authz.ListCleartextDocuments, s.documentHistory},
		}},
		{v1 + "/changesets", methods{"PUT": {authz.CreateCleartextDocuments, s.putChangeSet}}},
		{v1 + "/rollback/{revision}", methods{"POST": {authz.CreateCleartextDocuments, s.rollback}}},
		{v1 + "/revisions", methods{
			"GET": {authz.ListRevisions, s.listRevisions}, "DELETE": {authz.DeleteRevisions, s.purge},
		}},
		{v1 + "/revisions/prune", methods{"POST": {authz.PruneRevisions, s.prune}}},
		{revision, methods{"GET": {authz.ShowRevision, s.showRevision}}},
		{revision + "/documents", methods{"GET": {authz.ListCleartextDocuments, s.listDocuments}}},
		{revision + "/rendered-documents", methods{"GET": {authz.ListCleartextDocuments, s.listRendered}}},
		{revision + "/graph", methods{"GET": {authz.ListCleartextDocuments, s.graph}}},
		{revision + "/rendered-documents/explain", methods{"GET": {authz.ListCleartextDocuments, s.explain}}},
		{revision + "/schemas", methods{"GET": {authz.ListCleartextDocuments, s.listSchemas}}},
		{revision + "/schemas/{namespace}/{kind}/{version}", methods{
			"GET": {authz.ListCleartextDocuments, s.showSchema},
		}},
		{revision + "/schemas/{namespace}/{kind}/{version}/docs", methods{
			"GET": {authz.ListCleartextDocuments, s.showSchemaDocs},
		}},
		{revision + "/diff/{other}", methods{"GET": {authz.ShowRevisionDiff, s.diff}}},
		{revision + "/deepdiff/{other}", methods{"GET": {authz.ShowRevisionDeepDiff, s.deepDiff}}},
		{revision + "/tags", methods{
			"GET": {authz.ListTags, s.listTags}, "DELETE": {authz.DeleteTags, s.deleteTags},
		}},
		{revision + "/tags/{tag}", methods{
			"GET": {authz.ShowTag, s.showTag}, "POST": {authz.CreateTag, s.postTag},
			"DELETE": {authz.DeleteTag, s.deleteTag},
		}},
		{revision + "/status", methods{"GET": {authz.ShowRevision, s.status}}},
		{revision + "/validations", methods{"GET": {authz.ListValidations, s.listValidations}}},
		{revision + "/validations/detail", methods{"GET": {authz.ListValidations, s.listValidationDetails}}},
		{revision + "/validations/{name}", methods{
			"GET": {authz.ListValidations, s.listEntries}, "POST": {authz.CreateValidation, s.postValidation},
		}},
		{revision + "/validations/{name}/entries/{entry}", methods{"GET": {authz.ShowValidation, s.showEntry}}},
	}
}

// Routes returns the methods of each path of the API, for tests that compare them with openapi.yaml.
func Routes() map[string][]string {
	routes := map[string][]string{}
	for _, route := range new(server).routes() {
		for method := range route.methods {
			routes[route.pattern] = append(routes[route.pattern], method)
		}
	}
	return routes
}
