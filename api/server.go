package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
}

type server struct {
	Config

	texts      *textCache
	exposition http.Handler // of the metrics
}

// New returns the handler of the whole interface.
func New(config Config) http.Handler {
	s := &server{
		config, newTextCache(config.CacheSize), promhttp.HandlerFor(config.Registry, promhttp.HandlerOpts{}),
	}
	router := chi.NewRouter()
	router.Use(newObserver(config).middleware, s.recoverer, routeEscaped, s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoRoute(r)) })
	for _, route := range s.routes() {
		router.Handle(route.pattern, s.dispatch(route.methods))
	}
	return router
}

// route is a path of the interface and the methods it knows.
type route struct {
	pattern string
	methods methods
}

type methods map[string]handler

func (s *server) routes() []route {
	const v1 = "/api/v1.0"
	return []route{
		{"/versions", methods{"GET": s.versions}},
		{"/readyz", methods{"GET": s.ready}},
		{"/metrics", methods{"GET": s.metrics}},
		{"/openapi.yaml", methods{"GET": s.openAPI}},
		{v1 + "/health", methods{"GET": s.health}},
		{v1 + "/buckets/{bucket}/documents", methods{"PUT": s.putBucket}},
		{v1 + "/changesets", methods{"PUT": s.putChangeSet}},
		{v1 + "/rollback/{revision}", methods{"POST": s.rollback}},
		{v1 + "/revisions", methods{"GET": s.listRevisions, "DELETE": s.purge}},
		{v1 + "/revisions/prune", methods{"POST": s.prune}},
		{v1 + "/revisions/{revision}", methods{"GET": s.showRevision}},
		{v1 + "/revisions/{revision}/documents", methods{"GET": s.listDocuments}},
		{v1 + "/revisions/{revision}/rendered-documents", methods{"GET": s.listRendered}},
		{v1 + "/revisions/{revision}/graph", methods{"GET": s.graph}},
		{v1 + "/revisions/{revision}/rendered-documents/explain", methods{"GET": s.explain}},
		{v1 + "/revisions/{revision}/schemas", methods{"GET": s.listSchemas}},
		{v1 + "/revisions/{revision}/schemas/{namespace}/{kind}/{version}", methods{"GET": s.showSchema}},
		{v1 + "/revisions/{revision}/schemas/{namespace}/{kind}/{version}/docs", methods{"GET": s.showSchemaDocs}},
		{v1 + "/revisions/{revision}/diff/{other}", methods{"GET": s.diff}},
		{v1 + "/revisions/{revision}/deepdiff/{other}", methods{"GET": s.deepDiff}},
		{v1 + "/revisions/{revision}/tags", methods{"GET": s.listTags, "DELETE": s.deleteTags}},
		{v1 + "/revisions/{revision}/tags/{tag}", methods{"GET": s.showTag, "POST": s.postTag, "DELETE": s.deleteTag}},
		{v1 + "/revisions/{revision}/status", methods{"GET": s.status}},
		{v1 + "/revisions/{revision}/validations", methods{"GET": s.listValidations}},
		{v1 + "/revisions/{revision}/validations/detail", methods{"GET": s.listValidationDetails}},
		{v1 + "/revisions/{revision}/validations/{name}", methods{"GET": s.listEntries, "POST": s.postValidation}},
		{v1 + "/revisions/{revision}/validations/{name}/entries/{entry}", methods{"GET": s.showEntry}},
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
