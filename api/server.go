package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"purser/internal/access"
	"purser/internal/document"
	"purser/internal/picture"
	"purser/internal/revisions"
)

// Config is what the interface is served from. All fields must be set.
type Config struct {
	Service *revisions.Service
	// Layout makes SVG of graphs.
	Layout *picture.Layout
	// Ping tells whether the database answers.
	Ping   func(context.Context) error
	Limits document.Limits
	// CacheSize is how many bytes of answers are kept in memory.
	CacheSize int
	Compat    bool
	Log       *slog.Logger
	Registry  *prometheus.Registry
	OpenAPI   []byte
	Now       func() time.Time

	Audit  revisions.Audit
	Access Access
	Bounds Bounds
}

type server struct {
	Config

	texts      *textCache
	exposition http.Handler // of the metrics
	bounds     *bounds
}

// New returns the handler of the whole interface.
func New(config Config) http.Handler {
	s := &server{
		config, newTextCache(config.CacheSize), Metrics(config.Registry), newBounds(config.Bounds),
	}
	router := chi.NewRouter()
	router.Use(newObserver(config).middleware, s.audited, s.recoverer, routeEscaped, s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoRoute(r)) })
	for _, route := range s.routes() {
		if route.pattern != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(route.pattern, s.dispatch(route.methods))
		}
	}
	return router
}

// Metrics shows the metrics of a registry to everybody.
func Metrics(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// route is a path of the interface and the methods it knows.
type route struct {
	pattern string
	methods methods
}

type methods map[string]endpoint

// endpoint is a handler and the rule that its callers must pass (spec/api.md §1.1).
type endpoint struct {
	rule   string // of package access, or open or known
	handle handler
}

const metricsPath = "/metrics"

func (s *server) routes() []route {
	const v1 = "/api/v1.0"
	const revision = v1 + "/revisions/{revision}"
	return []route{
		{"/versions", methods{"GET": {open, s.versions}}},
		{"/readyz", methods{"GET": {open, s.ready}}},
		{metricsPath, methods{"GET": {access.ShowMetrics, s.metrics}}},
		{"/openapi.yaml", methods{"GET": {open, s.openAPI}}},
		{v1 + "/health", methods{"GET": {open, s.health}}},
		{v1 + "/whoami", methods{"GET": {known, s.whoami}}},
		{v1 + "/audit", methods{"GET": {access.ShowAudit, s.listAudit}}},
		{v1 + "/buckets/{bucket}/documents", methods{"PUT": {access.CreateCleartextDocuments, s.putBucket}}},
		{v1 + "/changesets", methods{"PUT": {access.CreateCleartextDocuments, s.putChangeSet}}},
		{v1 + "/rollback/{revision}", methods{"POST": {access.CreateCleartextDocuments, s.rollback}}},
		{v1 + "/revisions", methods{
			"GET": {access.ListRevisions, s.listRevisions}, "DELETE": {access.DeleteRevisions, s.purge},
		}},
		{v1 + "/revisions/prune", methods{"POST": {access.PruneRevisions, s.prune}}},
		{revision, methods{"GET": {access.ShowRevision, s.showRevision}}},
		{revision + "/documents", methods{"GET": {access.ListCleartextDocuments, s.listDocuments}}},
		{revision + "/rendered-documents", methods{"GET": {access.ListCleartextDocuments, s.listRendered}}},
		{revision + "/graph", methods{"GET": {access.ListCleartextDocuments, s.graph}}},
		{revision + "/rendered-documents/explain", methods{"GET": {access.ListCleartextDocuments, s.explain}}},
		{revision + "/schemas", methods{"GET": {access.ListCleartextDocuments, s.listSchemas}}},
		{revision + "/schemas/{namespace}/{kind}/{version}", methods{
			"GET": {access.ListCleartextDocuments, s.showSchema},
		}},
		{revision + "/schemas/{namespace}/{kind}/{version}/docs", methods{
			"GET": {access.ListCleartextDocuments, s.showSchemaDocs},
		}},
		{revision + "/diff/{other}", methods{"GET": {access.ShowRevisionDiff, s.diff}}},
		{revision + "/deepdiff/{other}", methods{"GET": {access.ShowRevisionDeepDiff, s.deepDiff}}},
		{revision + "/tags", methods{
			"GET": {access.ListTags, s.listTags}, "DELETE": {access.DeleteTags, s.deleteTags},
		}},
		{revision + "/tags/{tag}", methods{
			"GET": {access.ShowTag, s.showTag}, "POST": {access.CreateTag, s.postTag},
			"DELETE": {access.DeleteTag, s.deleteTag},
		}},
		{revision + "/status", methods{"GET": {access.ShowRevision, s.status}}},
		{revision + "/validations", methods{"GET": {access.ListValidations, s.listValidations}}},
		{revision + "/validations/detail", methods{"GET": {access.ListValidations, s.listValidationDetails}}},
		{revision + "/validations/{name}", methods{
			"GET": {access.ListValidations, s.listEntries}, "POST": {access.CreateValidation, s.postValidation},
		}},
		{revision + "/validations/{name}/entries/{entry}", methods{"GET": {access.ShowValidation, s.showEntry}}},
	}
}

// Routes lists the paths of the interface with their methods, for tests that hold them against openapi.yaml.
func Routes() map[string][]string {
	routes := map[string][]string{}
	for _, route := range new(server).routes() {
		for method := range route.methods {
			routes[route.pattern] = append(routes[route.pattern], method)
		}
	}
	return routes
}
