package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	oteltrace "go.opentelemetry.io/otel/trace"
	"gopkg.in/yaml.v3"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/picture"
	"purser/internal/propertygroups"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
	"purser/test/contract"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// site is the handler of the API with an empty database, without a listener.
type site struct {
	http.Handler

	log *bytes.Buffer
	lax bool // does not check requests against openapi.yaml
}

// unchecked is the site for accepted requests that openapi.yaml does not describe.
func (s site) unchecked() site {
	s.lax = true
	return s
}

// newSite makes a site; adapt changes its configuration first.
func newSite(t *testing.T, adapt ...func(*api.Config)) site {
	t.Helper()
	return openSite(t, settings{defaults: validations.DefaultValidations()}, adapt...)
}

// schemasSite is newSite for tests that render nothing.
func schemasSite(t *testing.T, adapt ...func(*api.Config)) site {
	t.Helper()
	return openSite(t, settings{defaults: revisions.Defaults{validations.SchemaValidation}}, adapt...)
}

// compatSite makes a site that behaves as Deckhand where Purser differs.
func compatSite(t *testing.T) site {
	t.Helper()
	return openSite(t, settings{compat: true})
}

// sealedSite is newSite with secrets.
func sealedSite(t *testing.T) site {
	t.Helper()
	return openSite(t, settings{defaults: validations.DefaultValidations(), vault: newVault(t)})
}

// newVault makes a keyset.
func newVault(t *testing.T) changes.Vault {
	t.Helper()
	vault, err := secrets.Open(t.Context(), filepath.Join(t.TempDir(), "keyset.json"), secrets.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return vault
}

// settings are what a site is made with.
type settings struct {
	url      string             // of the database; a new one if it is empty
	cached   int                // the size of the caches, at least 1 MiB
	defaults revisions.Defaults // the validations that count if no policy is in force
	vault    changes.Vault      // nil refuses secrets
	compat   bool               // as Deckhand where Purser differs
	traces   oteltrace.TracerProvider
}

// openSite opens a site; adapt changes its configuration first.
func openSite(t *testing.T, set settings, adapt ...func(*api.Config)) site {
	t.Helper()
	if set.url == "" {
		set.url = storetest.URL(t)
	}
	set.cached = max(set.cached, 1<<20)
	db, err := store.Open(t.Context(), set.url, store.Options{
		CacheSize: set.cached, Deadlines: store.DefaultDeadlines(), Compat: set.compat, Traces: set.traces,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	kept := db.Site(sites.Default)
	rules, err := authz.Open("", authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	limits := document.DefaultLimits()
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
	rendered := cache.New[changes.RenderKey, changes.Rendering](set.cached)
	documents := changes.NewDocumentCache(2 * set.cached)
	service := changes.NewService(changes.Config{
		Site: sites.Default, DefaultValidations: set.defaults, Store: kept, Engine: engine, Limits: limits, Rendered: rendered, Vault: set.vault,
		Compat: set.compat, Documents: documents, Now: time.Now, Observe: func(string, time.Duration) {},
	})
	questions := queries.NewService(queries.Config{
		DefaultValidations: set.defaults, Store: kept, Renderer: service.Renderer(), Rendered: rendered,
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector())
	first := api.Services{
		Service: service, Queries: questions, Audit: kept, Claims: kept, Feed: newFeed(t, db, set.defaults),
	}
	config := api.Config{
		Services: first, Others: func(name string) *api.Services { return reopened(db, first, name) },
		Pool: budget.NewPool(1, time.Minute), Layout: picture.NewLayout(1), Ping: db.Ping, Limits: limits, CacheSize: 1 << 20, Compat: set.compat,
		Log: slog.New(api.LogHandler(slog.NewJSONHandler(log, nil))), Registry: registry,
		Observe: func(string, string, int, time.Duration) {},
		OpenAPI: []byte("{openapi: 3.1.0, info: {}, paths: {}}\n"), Now: time.Now,
		Sites: sites.NewService(db, sites.NewDirectory(db, time.Now)), Everywhere: db,
		Access: api.Access{Authenticator: authn.NoAuth{}, Anonymous: true, Rules: rules},
		Bounds: api.Bounds{Memory: 1 << 30, Patience: time.Minute, Writing: time.Minute},
	}
	for _, change := range adapt {
		change(&config)
	}
	return site{Handler: named(api.New(config)), log: log, lax: set.compat}
}

// reopened opens the services of another site as the server does, for each request, as if they were never kept.
func reopened(db *store.Database, first api.Services, name string) *api.Services {
	kept, config := db.Site(name), first.Service.Config
	config.Site, config.Store = name, kept
	return &api.Services{
		Service: changes.NewService(config), Queries: first.Queries.Of(name, kept), Feed: first.Feed.Of(name), Claims: kept,
		Audit: kept,
	}
}

// named returns a handler of requests that name a host of their own, or else localhost and not httptest's host.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "example.com" {
			r.Host = "localhost"
		}
		next.ServeHTTP(w, r)
	})
}

// silent is an issuer of tokens that does not answer.
type silent struct{}

// Authenticate implements authn.Authenticator.
func (silent) Authenticate(context.Context, string) (authn.Caller, error) {
	return authn.Caller{}, fault.New(fault.Unavailable, "HTTPServiceUnavailable", "Keystone does not respond")
}

// newFeed returns the feed of a site, which wakes waiting requests until the test ends.
func newFeed(t *testing.T, kept feed.Store, defaults revisions.Defaults) feed.Site {
	t.Helper()
	told := feed.New(feed.Config{
		Store: kept, Defaults: defaults, Keep: time.Hour, MaxWaits: 100,
		Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { told.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return told.Of(sites.Default)
}

// response is an answer with its body.
type response struct {
	*http.Response

	path string // as it was asked for
	text string
}

// do makes a request, and checks it, unless it is refused, and its answer against openapi.yaml. header alternates names
// and values.
func (s site) do(t *testing.T, method, path, body string, header ...string) response {
	t.Helper()
	got := s.ask(t, method, path, body, header...)
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	if !s.lax && got.StatusCode < http.StatusBadRequest {
		err = c.CheckRequest(got.Request, body)
	}
	if err := errors.Join(err, c.CheckAnswer(got.Request, got.StatusCode, got.Header, got.text)); err != nil {
		t.Errorf("%s %s (answer %d) breaks openapi.yaml: %v\n%s", method, path, got.StatusCode, err, brief(got.text))
	}
	return got
}

// ask makes a request without checks.
func (s site) ask(t *testing.T, method, path, body string, header ...string) response {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1.0/" + path
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	got := recorder.Result()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got.Request = r; method == http.MethodHead {
		text = nil // as net/http does
	}
	return response{got, path, string(text)}
}

// brief shortens text in the output of failed tests.
func brief(text string) string {
	const most = 1500
	text = strings.ToValidUTF8(text, "?")
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func (s site) get(t *testing.T, path string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodGet, path, "", header...)
}

// put replaces the documents of a bucket; a query may follow its name.
func (s site) put(t *testing.T, bucket, body string, header ...string) response {
	t.Helper()
	bucket, query, _ := strings.Cut(bucket, "?")
	return s.do(t, http.MethodPut, "buckets/"+bucket+"/documents?"+query, body,
		append(inYAML, header...)...)
}

func (s site) post(t *testing.T, path, body string) response {
	t.Helper()
	return s.do(t, http.MethodPost, path, body, inYAML...)
}

// report posts the result of a validation of a revision.
func (s site) report(t *testing.T, revision int, validation, status string) {
	t.Helper()
	s.post(t, fmt.Sprintf("revisions/%d/validations/%s", revision, validation),
		"{status: "+status+", validator: {name: tester, version: '1'}}").is(t, http.StatusCreated)
}

func (s site) purge(t *testing.T) {
	t.Helper()
	s.do(t, http.MethodDelete, "revisions", "").is(t, http.StatusNoContent)
}

// filled returns a site with revisions 1 to n, each of which adds a bucket.
func filled(t *testing.T, n int) site {
	t.Helper()
	s := newSite(t)
	for i := range n {
		name := fmt.Sprintf("b%d", i+1)
		s.put(t, name, widget(name, "{}")).is(t, http.StatusOK)
	}
	return s
}

// is ends the test unless the answer has this status.
func (r response) is(t *testing.T, status int) response {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d\n%s", r.StatusCode, status, r.text)
	}
	return r
}

// isFault checks that the answer is this error, and that its text has all parts.
func (r response) isFault(t *testing.T, status int, errorType string, parts ...string) {
	t.Helper()
	got := r.is(t, status).mapping(t)
	details, _ := got["details"].(map[string]any)
	list, _ := details["messageList"].([]any)
	if diff := cmp.Diff([]string{errorType, strconv.Itoa(len(list))}, []string{
		fmt.Sprint(details["errorType"]), fmt.Sprint(details["errorCount"]),
	}); diff != "" {
		t.Errorf("errorType and errorCount (-want +got):\n%s", diff)
	}
	text := fmt.Sprint(got)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in the error, but would help: %s", part, brief(text))
		}
	}
}

// fails is isFault of an error without more about it.
func (r response) fails(t *testing.T, status int, errorType string) {
	t.Helper()
	r.isFault(t, status, errorType)
	want := map[string]any{
		"apiVersion": "v1.0", "code": fmt.Sprintf("%d %s", status, http.StatusText(status)), "kind": "Status",
		"metadata": map[string]any{}, "reason": "Unspecified", "retry": status == http.StatusInternalServerError,
		"status": "Failure",
	}
	got := r.mapping(t)
	delete(got, "details")
	delete(got, "message")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
}

// mapping reads an answer that is a single mapping. Numbers are float64 in JSON, and int in YAML.
func (r response) mapping(t *testing.T) map[string]any {
	t.Helper()
	if r.isJSON() {
		r.text = "[" + r.text + "]"
	}
	documents := r.documents(t)
	if len(documents) != 1 {
		t.Fatalf("%s: %d documents, want one\n%s", r.path, len(documents), brief(r.text))
	}
	return documents[0]
}

func (r response) isJSON() bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

// documents reads a stream of YAML documents or a JSON array.
func (r response) documents(t *testing.T) (documents []map[string]any) {
	t.Helper()
	if r.isJSON() {
		if err := json.Unmarshal([]byte(r.text), &documents); err != nil {
			t.Fatalf("%s: %v\n%s", r.path, err, brief(r.text))
		}
		return documents
	}
	for decoder := yaml.NewDecoder(strings.NewReader(r.text)); ; {
		var document map[string]any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			t.Fatalf("%s: %v\n%s", r.path, err, brief(r.text))
		}
		documents = append(documents, document)
	}
}

// results returns the items of a list, and checks its count.
func (r response) results(t *testing.T) []any {
	t.Helper()
	listing := r.is(t, http.StatusOK).mapping(t)
	results, _ := listing["results"].([]any)
	if diff := cmp.Diff(strconv.Itoa(len(results)), fmt.Sprint(listing["count"])); diff != "" {
		t.Errorf("count of results (-want +got):\n%s", diff)
	}
	return results
}

// siteURL is where a site is, as it says.
const siteURL = "http://localhost"

const (
	typeXYAML = "application/x-yaml"
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
)

// asJSON is the Accept header of requests for JSON, and inYAML the Content-Type header of those with a YAML body.
var (
	asJSON = []string{"Accept", typeJSON}
	inYAML = []string{"Content-Type", typeXYAML}
)

// down is a database that does not answer.
func down(config *api.Config) {
	config.Ping = func(context.Context) error { return context.DeadlineExceeded }
}
