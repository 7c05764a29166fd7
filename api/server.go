package api

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/semaphore"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/feed"
	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/webhooks"
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

type server struct {
	Config

	texts      *textCache
	exposition http.Handler // the metrics
	bounds     *bounds
	groups     groups              // of requests that wait
	looks      *semaphore.Weighted // limits how many of them look for another answer at once
}

// maxLooks is how many groups of waiting requests may look for another answer at once: an event wakes them all.
const maxLooks = 4

// New returns the handler of the whole API.
func New(config Config) http.Handler {
	s := &server{
		config, cache.New[textKey, []byte](config.CacheSize), Metrics(config.Registry), newBounds(config.Bounds),
		groups{of: map[question]*group{}},
		semaphore.NewWeighted(maxLooks),
	}
	router := chi.NewRouter()
	seen := &observer{config.Log, config.Now, config.Observe}
	router.Use(seen.middleware, unsniffed, s.audited, s.recoverer, compressed, s.budgeted, routeEscaped, s.checkBody)
	router.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoRoute(r)) })
	for _, route := range s.routes() {
		if route.pattern != metricsPath || !config.Access.MetricsElsewhere {
			router.Handle(route.pattern, s.dispatch(route.methods))
		}
	}
	return s.pausing(router)
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

// endpoint is a handler with the rule that its callers must pass (spec/api.md §1.1), and the parameters that it reads.
// Others are refused.
type endpoint struct {
	rule       string // of package authz, or public or authenticated
	handle     handler
	parameters []string // of the query
}

const metricsPath, searchParameter = "/metrics", "search"

func (s *server) routes() []route { //nolint:funlen // a table
	const v1 = "/api/v1.0"
	const revision, webhook = v1 + "/revisions/{revision}", v1 + "/webhooks/{webhook}"
	type names = []string
	change := names{cleartextSecrets, "dry-run", "message"}
	put := append(names{"max-deleted", "findings"}, change...)
	rendered := names{
		"schema", "metadata.name", "metadata.label", "metadata.layeringDefinition.layer", "status.bucket", "sort", "order",
		"limit", "offset", cleartextSecrets,
	}
	documents := append(names{"metadata.layeringDefinition.abstract", searchParameter}, rendered...)
	node := names{"node", "role", "cluster"}
	secrets, page, about := names{cleartextSecrets}, names{"limit", "offset"}, names{"revision-stamp"}
	return waiting([]route{
		{"/", methods{"GET": {public, s.front, nil}}},
		{"/versions", methods{"GET": {public, s.versions, nil}}},
		{"/readyz", methods{"GET": {public, s.ready, nil}}},
		{metricsPath, methods{"GET": {authz.ShowMetrics, s.metrics, names{"name[]"}}}},
		{"/openapi.yaml", methods{"GET": {public, s.openAPI, nil}}},
		{v1 + "/health", methods{"GET": {public, s.health, nil}}},
		{v1 + "/whoami", methods{"GET": {authenticated, s.whoami, nil}}},
		{v1 + "/audit", methods{
			"GET": {authz.ShowAudit, s.listAudit, append(names{"revision", "user", "since", "until"}, page...)},
		}},
		{v1 + "/events", methods{
			"GET": {authz.ListEvents, s.listEvents, names{"since", "limit", "type"}},
		}},
		{v1 + "/webhooks", methods{
			"GET": {authz.ManageWebhooks, s.listWebhooks, nil}, "POST": {authz.ManageWebhooks, s.addWebhook, nil},
		}},
		{webhook, methods{
			"GET": {authz.ManageWebhooks, s.showWebhook, nil}, "PUT": {authz.ManageWebhooks, s.setWebhook, nil},
			"DELETE": {authz.ManageWebhooks, s.deleteWebhook, nil},
		}},
		{webhook + "/ping", methods{"POST": {authz.ManageWebhooks, s.pingWebhook, nil}}},
		{webhook + "/deliveries", methods{"GET": {authz.ManageWebhooks, s.listDeliveries, page}}},
		{webhook + "/deliveries/{delivery}/retry", methods{"POST": {authz.ManageWebhooks, s.retryDelivery, nil}}},
		{v1 + "/buckets", methods{"GET": {authz.ListCleartextDocuments, s.listBuckets, page}}},
		{v1 + "/buckets/{bucket}/documents", methods{"PUT": {authz.CreateCleartextDocuments, s.putBucket, put}}},
		{v1 + "/buckets/{bucket}/packages/{fullName}", methods{
			"PUT": {authz.CreateCleartextDocuments, s.putPackage, change},
		}},
		{v1 + "/packages/check", methods{"POST": {authz.CreateCleartextDocuments, s.checkPackage, nil}}},
		{v1 + "/documents/{namespace}/{kind}/{version}/{layer}/{name}/history", methods{
			"GET": {authz.ListCleartextDocuments, s.documentHistory, append(names{cleartextSecrets}, page...)},
		}},
		{v1 + "/changesets", methods{
			"PUT": {authz.CreateCleartextDocuments, s.putChangeSet, append(names{"buckets"}, put...)},
		}},
		{v1 + "/rollback/{revision}", methods{"POST": {authz.CreateCleartextDocuments, s.rollback, change}}},
		{v1 + "/revisions", methods{
			"GET":    {authz.ListRevisions, s.listRevisions, append(names{"tag", "sort", "order"}, page...)},
			"DELETE": {authz.DeleteRevisions, s.purge, names{"message"}},
		}},
		{v1 + "/revisions/prune", methods{"POST": {authz.PruneRevisions, s.prune, names{"keep", "dry-run"}}}},
		{revision, methods{"GET": {authz.ShowRevision, s.showRevision, nil}}},
		{revision + "/documents", methods{
			"GET": {authz.ListCleartextDocuments, s.listDocuments, documents},
		}},
		{revision + "/rendered-documents", methods{"GET": {authz.ListCleartextDocuments, s.listRendered, rendered}}},
		{revision + "/graph", methods{
			"GET": {authz.ListCleartextDocuments, s.graph, names{"format", "focus", "depth"}},
		}},
		{revision + "/rendered-documents/explain", methods{
			"GET": {authz.ListCleartextDocuments, s.explain, names{"schema", "name", "layer", "path", cleartextSecrets}},
		}},
		{revision + "/schemas", methods{"GET": {authz.ListCleartextDocuments, s.listSchemas, secrets}}},
		{revision + "/schemas/{namespace}/{kind}/{version}", methods{
			"GET": {authz.ListCleartextDocuments, s.showSchema, secrets},
		}},
		{revision + "/schemas/{namespace}/{kind}/{version}/docs", methods{
			"GET": {authz.ListCleartextDocuments, s.showSchemaDocs, secrets},
		}},
		{revision + "/puppet/hiera", methods{"GET": {authz.ListCleartextDocuments, s.hiera, node}}},
		{revision + "/puppet/hiera.yaml", methods{"GET": {authz.ListCleartextDocuments, s.hieraYAML, node}}},
		{revision + "/puppet/hiera.json", methods{"GET": {authz.ListCleartextDocuments, s.hieraJSON, node}}},
		{revision + "/puppet/catalog", methods{
			"POST": {authz.ListCleartextDocuments, s.overrideCatalog, append(names{"report", "explain"}, node...)},
		}},
		{revision + "/puppet/diff/{other}", methods{
			"GET":  {authz.ListCleartextDocuments, s.diffHiera, node},
			"POST": {authz.ListCleartextDocuments, s.diffCatalog, node},
		}},
		{revision + "/packages", methods{"GET": {authz.ListCleartextDocuments, s.listPackages, nil}}},
		{revision + "/packages/{fullName}", methods{"GET": {authz.ListCleartextDocuments, s.showPackage, nil}}},
		{revision + "/packages/{fullName}/report", methods{
			"GET": {authz.ListCleartextDocuments, s.reportPackage, nil},
		}},
		{revision + "/diff/{other}", methods{"GET": {authz.ShowRevisionDiff, s.diff, nil}}},
		{revision + "/deepdiff/{other}", methods{
			"GET": {authz.ShowRevisionDeepDiff, s.deepDiff, names{"format", cleartextSecrets}},
		}},
		{revision + "/tags", methods{
			"GET": {authz.ListTags, s.listTags, nil}, "DELETE": {authz.DeleteTags, s.deleteTags, about},
		}},
		{revision + "/tags/{tag}", methods{
			"GET": {authz.ShowTag, s.showTag, nil}, "POST": {authz.CreateTag, s.postTag, about},
			"DELETE": {authz.DeleteTag, s.deleteTag, about},
		}},
		{revision + "/status", methods{
			"GET": {authz.ShowRevision, s.status, names{cleartextSecrets, "expect"}},
		}},
		{revision + "/validations", methods{"GET": {authz.ListValidations, s.listValidations, nil}}},
		{revision + "/validations/detail", methods{
			"GET": {authz.ListValidations, s.listValidationDetails, append(names{cleartextSecrets}, page...)},
		}},
		{revision + "/findings", methods{
			"GET": {
				authz.ListValidations, s.listFindings, names{cleartextSecrets, "validation", "document", "level", "limit"},
			},
		}},
		{revision + "/validations/{name}", methods{
			"GET":  {authz.ListValidations, s.listEntries, page},
			"POST": {authz.CreateValidation, s.postValidation, about},
		}},
		{revision + "/validations/{name}/entries/{entry}", methods{
			"GET": {authz.ShowValidation, s.showEntry, secrets},
		}},
	})
}

// waiting returns routes with the parameter wait for all that is read below /revisions and /events.
func waiting(routes []route) []route {
	for _, route := range routes {
		if of, reads := route.methods["GET"]; reads && waits.MatchString(route.pattern) {
			of.parameters = append(slices.Clone(of.parameters), waitParameter)
			route.methods["GET"] = of
		}
	}
	return routes
}

var waits = regexp.MustCompile(`^/api/v1\.0/(events|revisions)(/|$)`)

// Routes returns the methods of each path of the API with their parameters, for tests that compare them with
// openapi.yaml.
func Routes() map[string]map[string][]string {
	routes := map[string]map[string][]string{}
	for _, route := range new(server).routes() {
		routes[route.pattern] = map[string][]string{}
		for method, endpoint := range route.methods {
			routes[route.pattern][method] = endpoint.parameters
		}
	}
	return routes
}
