package api

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/wire"
)

// route is an operation of the API.
type route struct {
	method, path string
	rule         string // that its callers must pass: one of package authz or access
	handle       handler
	parameters   []string // of the query; all others are refused
}

// methods are the operations of a path by method.
type methods map[string]route

const (
	metricsPath = "/metrics"
	eventsPath  = v1 + "/events"
	checkPath   = v1 + "/packages/check"
	sitesPath   = "/sites"

	v1             = "/api/v1.0"
	readDocuments  = authz.ListCleartextDocuments
	writeDocuments = authz.CreateCleartextDocuments
)

// names are parameters of the query.
type names = []string

// routes returns all operations. Those that read a path below /revisions or /events can wait, except for an
// attestation, which is another one each time.
func (s *server) routes() []route {
	routes := append(s.siteRoutes(), s.revisionRoutes()...)
	if !s.Compat {
		routes = append(routes, s.requirementRoutes()...)
	}
	for i, route := range routes {
		isOnce := strings.HasSuffix(route.path, "/attestation")
		if route.method == http.MethodGet && mayWait.MatchString(route.path) && !isOnce {
			routes[i].parameters = append(slices.Clone(route.parameters), waitParameter)
		}
	}
	return routes
}

var mayWait = regexp.MustCompile(`^/api/v1\.0/(events|revisions)(/|$)`)

// siteRoutes returns the operations that are not about one revision.
func (s *server) siteRoutes() []route {
	const webhook = v1 + "/webhooks/{webhook}"
	page, change := names{"limit", "offset"}, names{cleartextSecrets, "dry-run", "message"}
	rollback := append(names{"max-deleted", "rendered", "diff"}, change...)
	put := append(names{"findings", "from", "expect", "detach"}, rollback...)
	return []route{
		{"GET", "/", public, s.front, nil},
		{"GET", "/versions", public, s.versions, nil},
		{"GET", wire.ResourcePath, public, s.resource, nil},
		{"GET", readyPath, public, s.ready, nil},
		{"GET", metricsPath, authz.ShowMetrics, s.metrics, names{"name[]"}},
		{"GET", "/openapi.yaml", public, s.openAPI, nil},
		{"GET", "/openapi.json", public, s.openAPIAsJSON, nil},
		{"GET", "/docs", public, s.docs, nil},
		{"GET", v1 + "/health", public, s.health, nil},
		{"GET", v1 + "/whoami", authenticated, s.whoami, nil},
		{
			"GET", v1 + "/audit", authz.ShowAudit, s.listAudit,
			append(names{"revision", "user", "since", "until"}, page...),
		},
		{"GET", eventsPath, authz.ListEvents, s.listEvents, names{"since", "limit", "type"}},
		{"GET", v1 + "/webhooks", authz.ManageWebhooks, s.listWebhooks, nil},
		{"POST", v1 + "/webhooks", authz.ManageWebhooks, s.addWebhook, nil},
		{"GET", webhook, authz.ManageWebhooks, ofWebhook(s.showWebhook), nil},
		{"PUT", webhook, authz.ManageWebhooks, ofWebhook(s.setWebhook), nil},
		{"DELETE", webhook, authz.ManageWebhooks, ofWebhook(s.deleteWebhook), nil},
		{"POST", webhook + "/ping", authz.ManageWebhooks, ofWebhook(s.pingWebhook), nil},
		{"GET", webhook + "/deliveries", authz.ManageWebhooks, ofWebhook(s.listDeliveries), page},
		{"POST", webhook + "/deliveries/{delivery}/retry", authz.ManageWebhooks, ofWebhook(s.retryDelivery), nil},
		{"GET", v1 + "/buckets", readDocuments, s.listBuckets, page},
		{"PUT", v1 + "/buckets/{bucket}/documents", writeDocuments, s.putBucket, put},
		{
			"PUT", v1 + "/buckets/{bucket}/packages/{fullName}", writeDocuments, s.putPackage,
			append(names{"detach"}, change...),
		},
		{"POST", checkPath, writeDocuments, s.checkPackage, nil},
		{
			"GET", v1 + "/documents/{namespace}/{kind}/{version}/{layer}/{name}/history", readDocuments, s.documentHistory,
			append(names{cleartextSecrets}, page...),
		},
		{"PUT", v1 + "/changesets", writeDocuments, s.putChangeSet, append(names{"buckets"}, put...)},
		{"POST", v1 + "/rollback/{revision}", writeDocuments, s.rollback, rollback},
		{
			"GET", v1 + "/revisions", authz.ListRevisions, s.listRevisions,
			append(names{"tag", "source", "sort", "order"}, page...),
		},
		{"DELETE", v1 + "/revisions", authz.DeleteRevisions, s.purge, names{"message"}},
		{"POST", v1 + "/revisions/prune", authz.PruneRevisions, s.prune, names{"keep", "dry-run"}},
	}
}

// revisionRoutes returns the operations about one revision.
func (s *server) revisionRoutes() []route {
	const revision = v1 + "/revisions/{revision}"
	rendered := names{
		"schema", "metadata.name", "metadata.label", "metadata.layeringDefinition.layer", "status.bucket", "sort", "order",
		"limit", "offset", cleartextSecrets,
	}
	documents := append(names{
		"metadata.layeringDefinition.abstract", searchParameter, "searched", formParameter,
	}, rendered...)
	node := names{"node", "role", "cluster"}
	secrets, page, about := names{cleartextSecrets}, names{"limit", "offset"}, names{"revision-stamp"}
	return []route{
		{"GET", revision, authz.ShowRevision, s.showRevision, nil},
		{"GET", revision + "/documents", readDocuments, s.listDocuments, documents},
		{"GET", revision + "/rendered-documents", readDocuments, s.listRendered, rendered},
		{"GET", revision + "/chain", readDocuments, s.showChain, nil},
		{"GET", revision + "/graph", readDocuments, s.graph, names{"format", "focus", "depth"}},
		{
			"GET", revision + "/rendered-documents/explain", readDocuments, s.explain,
			names{"schema", "name", "layer", "path", cleartextSecrets},
		},
		{"GET", revision + "/schemas", readDocuments, s.listSchemas, secrets},
		{"GET", revision + "/schemas/{namespace}/{kind}/{version}", readDocuments, s.showSchema, secrets},
		{"GET", revision + "/schemas/{namespace}/{kind}/{version}/docs", readDocuments, s.showSchemaDocs, secrets},
		{"GET", revision + "/puppet/hiera", readDocuments, s.hiera, node},
		{"GET", revision + "/puppet/hiera.yaml", readDocuments, s.hieraYAML, node},
		{"GET", revision + "/puppet/hiera.json", readDocuments, s.hieraJSON, node},
		{
			"POST", revision + "/puppet/catalog", readDocuments, s.overrideCatalog,
			append(names{"report", "explain"}, node...),
		},
		{"GET", revision + "/puppet/diff/{other}", readDocuments, s.diffHiera, node},
		{"POST", revision + "/puppet/diff/{other}", readDocuments, s.diffCatalog, node},
		{"GET", revision + "/packages", readDocuments, s.listPackages, nil},
		{"GET", revision + "/packages/{fullName}", readDocuments, s.showPackage, nil},
		{"GET", revision + "/packages/{fullName}/report", readDocuments, s.reportPackage, nil},
		{"GET", revision + "/diff/{other}", authz.ShowRevisionDiff, s.diff, nil},
		{
			"GET", revision + "/deepdiff/{other}", authz.ShowRevisionDeepDiff, s.deepDiff,
			names{"format", "rendered", "diff", cleartextSecrets, "limit", "offset"},
		},
		{"GET", revision + "/tags", authz.ListTags, s.listTags, nil},
		{"DELETE", revision + "/tags", authz.DeleteTags, s.deleteTags, about},
		{"GET", revision + "/tags/{tag}", authz.ShowTag, s.showTag, nil},
		{"POST", revision + "/tags/{tag}", authz.CreateTag, s.postTag, about},
		{"DELETE", revision + "/tags/{tag}", authz.DeleteTag, s.deleteTag, about},
		{"GET", revision + "/status", authz.ShowRevision, s.status, names{
			cleartextSecrets, "expect", "waivers", "details", "limit",
		}},
		{"GET", revision + "/validations", authz.ListValidations, s.listValidations, names{"newest"}},
		{
			"GET", revision + "/validations/detail", authz.ListValidations, s.listValidationDetails,
			append(names{cleartextSecrets}, page...),
		},
		{
			"GET", revision + "/findings", authz.ListValidations, s.listFindings,
			names{cleartextSecrets, "validation", "document", "level", searchParameter, "cause", "order", "limit", "after"},
		},
		{"GET", revision + "/validations/{name}", authz.ListValidations, s.listEntries, page},
		{
			"POST", revision + "/validations/{name}", authz.CreateValidation, s.postValidation,
			append(names{claimParameter}, about...),
		},
		{"GET", revision + "/validations/{name}/entries/{entry}", authz.ShowValidation, s.showEntry, secrets},
	}
}

// requirementRoutes returns the operations about work, waivers and sites, which Deckhand does not have.
func (s *server) requirementRoutes() []route {
	const revision = v1 + "/revisions/{revision}"
	about, page := names{"revision-stamp"}, names{"limit", "offset"}
	return []route{
		{"GET", keysPath, public, s.publicKeys, nil},
		{"GET", revision + "/attestation", authz.ShowRevision, s.attestation, nil},
		{"GET", v1 + "/claims", authz.ListValidations, s.listWork, page},
		{"POST", v1 + "/claims", authz.CreateValidation, s.claim, names{waitParameter}},
		{"PUT", v1 + "/claims/{claim}", authz.CreateValidation, s.ofClaim(s.extendClaim), nil},
		{"DELETE", v1 + "/claims/{claim}", authz.CreateValidation, s.ofClaim(s.giveBack), nil},
		{"POST", revision + "/validations/{name}/request", authz.CreateValidation, s.requestResult, about},
		{"GET", revision + "/waivers", authz.ListValidations, s.listWaivers, nil},
		{"POST", revision + "/waivers", authz.CreateWaiver, s.postWaiver, about},
		{"DELETE", revision + "/waivers/{id}", authz.CreateWaiver, s.endWaiver, about},
		{"GET", v1 + "/waivers", authz.ListValidations, s.listAllWaivers, append(names{"active"}, page...)},
		{"GET", everywhere + "api/v1.0/claims", authz.ListValidations, s.listWorkEverywhere, page},
		{"POST", everywhere + "api/v1.0/claims", authz.CreateValidation, s.claimAnywhere, names{waitParameter}},
		{
			"GET", everywhere + "api/v1.0/waivers", authz.ListValidations, s.listWaiversEverywhere,
			append(names{"active"}, page...),
		},
		{
			"GET", sitesPath, authenticated, s.listSites,
			append(names{"label", "status", "archived", "follows", "behind", "sort", "order"}, page...),
		},
		{"GET", sitesPath + "/{site}", authenticated, s.showSite, nil},
		{"PUT", sitesPath + "/{site}", authz.ManageSites, s.putSite, nil},
		{"DELETE", sitesPath + "/{site}", authz.ManageSites, s.deleteSite, names{"confirm"}},
	}
}

// byPath groups routes by their path.
func byPath(routes []route) map[string]methods {
	paths := map[string]methods{}
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = methods{}
		}
		paths[r.path][r.method] = r
	}
	return paths
}

// Routes returns the methods of each path of the API with their parameters, for tests that compare them with
// openapi.yaml.
func Routes() map[string]map[string][]string {
	paths := map[string]map[string][]string{}
	for path, methods := range byPath(new(server).routes()) {
		paths[path] = map[string][]string{}
		for method, route := range methods {
			paths[path][method] = route.parameters
		}
	}
	return paths
}
