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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

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
}

// newSite makes a site; adapt changes its configuration first.
func newSite(t *testing.T, adapt ...func(*api.Config)) site {
	t.Helper()
	return openSite(t, storetest.URL(t), 0, revisions.Defaults{validations.SchemaValidation}, adapt...)
}

// openSite opens the site in a database, with caches of a size, and validations that count if no policy is in force.
func openSite(t *testing.T, url string, cached int, defaults revisions.Defaults, adapt ...func(*api.Config)) site {
	t.Helper()
	kept, err := store.Open(t.Context(), url, store.Options{CacheSize: cached, Deadlines: store.DefaultDeadlines()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kept.Close)
	rules, err := authz.Open("", authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	limits := document.DefaultLimits()
	engine := validations.NewEngine(validations.Options{Extensions: []validations.Extension{propertygroups.Extension{}}})
	rendered := cache.New[changes.RenderKey, changes.Rendering](max(cached, 1<<20))
	documents := changes.NewDocumentCache(2 * cached)
	service := changes.NewService(changes.Config{
		DefaultValidations: defaults, Store: kept, Engine: engine, Limits: limits, Rendered: rendered,
		Documents: documents, Now: time.Now, Observe: func(string, time.Duration) {},
	})
	questions := queries.NewService(queries.Config{
		DefaultValidations: defaults, Store: kept, Renderer: changes.Renderer{Engine: engine, Documents: documents},
		Rendered: rendered,
	})
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector())
	config := api.Config{
		Service: service, Queries: questions, Pool: budget.NewPool(1, time.Minute), Layout: picture.NewLayout(1), Ping: kept.Ping, Limits: limits, CacheSize: 1 << 20,
		Log: slog.New(api.LogHandler(slog.NewJSONHandler(log, nil))), Registry: registry,
		Observe: func(string, string, int, time.Duration) {},
		OpenAPI: []byte("{openapi: 3.1.0, info: {}, paths: {}}\n"), Now: time.Now, Audit: kept, Feed: newFeed(t, kept),
		Access: api.Access{Authenticator: authn.NoAuth{}, Anonymous: true, Rules: rules},
		Bounds: api.Bounds{Memory: 1 << 30, Patience: time.Minute, Writing: time.Minute},
	}
	for _, change := range adapt {
		change(&config)
	}
	return site{named(api.New(config)), log}
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
func newFeed(t *testing.T, kept feed.Store) *feed.Feed {
	t.Helper()
	told := feed.New(feed.Config{
		Store: kept, Defaults: revisions.Defaults{validations.SchemaValidation}, Keep: time.Hour, MaxWaits: 100,
		Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { told.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return told
}

// response is an answer with its body.
type response struct {
	*http.Response

	text string
}

// do makes a request, and checks it, unless it is refused, and its answer against openapi.yaml. header alternates names
// and values.
func (s site) do(t *testing.T, method, path, body string, header ...string) response {
	t.Helper()
	got := s.ask(t, method, path, body, header...)
	if err := got.breaks(body); err != nil {
		t.Errorf("%s %s (answer %d) breaks openapi.yaml: %v\n%s", method, path, got.StatusCode, err, brief(got.text))
	}
	return got
}

// breaks returns how a request with this body, unless it is refused, and its answer break openapi.yaml.
func (r response) breaks(body string) error {
	c, err := contract.Load()
	if err != nil {
		return err
	}
	if r.StatusCode < http.StatusBadRequest {
		err = c.CheckRequest(r.Request, body)
	}
	return errors.Join(err, c.CheckAnswer(r.Request, r.StatusCode, r.Header, r.text))
}

// ask makes a request that may break the contract.
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
	got.Request = r
	return response{got, string(text)}
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
		append([]string{"Content-Type", "application/x-yaml"}, header...)...)
}

// filled returns a site with revisions 1 to n, each of which adds a bucket.
func filled(t *testing.T, n int) site {
	t.Helper()
	s := newSite(t)
	for i := range n {
		name := fmt.Sprintf("b%d", i+1)
		s.put(t, name, widget(name)).is(t, http.StatusOK)
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

// fails checks that the whole answer is this error.
func (r response) fails(t *testing.T, status int, errorType string) {
	t.Helper()
	r.is(t, status)
	want := map[string]any{
		"apiVersion": "v1.0", "code": fmt.Sprintf("%d %s", status, http.StatusText(status)), "kind": "Status",
		"metadata": map[string]any{}, "reason": "Unspecified", "retry": status == http.StatusInternalServerError,
		"status": "Failure",
	}
	got := r.mapping(t)
	details, _ := got["details"].(map[string]any)
	delete(got, "details")
	delete(got, "message")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
	list, _ := details["messageList"].([]any)
	if diff := cmp.Diff([]any{errorType, float64(len(list))}, []any{details["errorType"], details["errorCount"]}); diff != "" {
		t.Errorf("errorType and errorCount (-want +got):\n%s", diff)
	}
}

// mapping reads a JSON answer.
func (r response) mapping(t *testing.T) map[string]any {
	t.Helper()
	var read map[string]any
	if err := json.Unmarshal([]byte(r.text), &read); err != nil {
		t.Fatalf("%v\n%s", err, r.text)
	}
	return read
}

// widget writes a document.
func widget(name string) string {
	return fmt.Sprintf("---\nschema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: %s, "+
		"storagePolicy: cleartext, layeringDefinition: {layer: site}}\ndata: {}\n", name)
}

// asJSON is the Accept header of requests for JSON.
var asJSON = []string{"Accept", "application/json"}

// down is a database that does not answer.
func down(config *api.Config) {
	config.Ping = func(context.Context) error { return context.DeadlineExceeded }
}
