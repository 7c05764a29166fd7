package web_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/html"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/feed"
	"purser/internal/picture"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/secrets"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/validations"
	"purser/web"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// people authenticates users by their names as tokens.
type people map[string]authn.Caller

func (p people) Authenticate(_ context.Context, token string) (authn.Caller, error) {
	if caller, ok := p[token]; ok {
		return caller, nil
	}
	return authn.Caller{}, &authn.Rejected{Reason: "unknown"}
}

// policy lets readers see all but encrypted documents.
const policy = `
"deckhand:list_cleartext_documents": "role:admin or role:reader"
"deckhand:show_revision": "role:admin or role:reader"
"deckhand:list_revisions": "role:admin or role:reader"
"deckhand:show_revision_deepdiff": "role:admin or role:reader"
"deckhand:show_revision_diff": "role:admin or role:reader"
"deckhand:list_tags": "role:admin or role:reader"
"deckhand:list_validations": "role:admin or role:reader"
"deckhand:show_validation": "role:admin or role:reader"
"purser:list_events": "role:admin or role:reader"
`

// site is a store with its API and its pages.
type site struct {
	api   http.Handler
	pages http.Handler
	clock *clock
	calls *calls
	stop  chan struct{} // closed when the server stops
}

// clock is the time of the pages.
type clock struct {
	mutex sync.Mutex
	now   time.Time
}

func (c *clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(d)
}

// calls counts the requests that pages make of the API.
type calls struct {
	http.Handler

	mutex sync.Mutex
	made  int
}

func (c *calls) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	c.made++
	c.mutex.Unlock()
	c.Handler.ServeHTTP(w, r)
}

// newSite returns an empty site with sign-in; adapt changes the configuration of its API first.
func newSite(t *testing.T, adapt ...func(*api.Config)) *site {
	t.Helper()
	db, err := store.Open(t.Context(), storetest.URL(t), store.Options{Deadlines: store.DefaultDeadlines()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	rules, err := authz.Open(path, authz.AdminsOnly, quiet, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secrets.Open(t.Context(), filepath.Join(t.TempDir(), "keys.json"), secrets.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	limits := document.DefaultLimits()
	engine, rendered := validations.NewEngine(validations.Options{}), cache.New[changes.RenderKey, changes.Rendering](64<<20)
	defaults := revisions.Defaults{validations.SchemaValidation}
	told := feed.New(feed.Config{Store: db, Defaults: defaults, Keep: time.Hour, MaxWaits: 100, Log: quiet})
	inBackground(t, told.Run)
	services := func(name string) *api.Services {
		kept := db.Site(name)
		return &api.Services{
			Service: changes.NewService(changes.Config{
				Site: name, DefaultValidations: defaults, Store: kept, Engine: engine, Limits: limits, Rendered: rendered, Vault: vault,
				Now: time.Now, Observe: func(string, time.Duration) {},
			}),
			Queries: queries.NewService(queries.Config{
				DefaultValidations: defaults, Store: kept, Renderer: changes.Renderer{Site: name, Engine: engine, Vault: vault},
				Rendered: rendered,
			}), Audit: kept, Claims: kept, Feed: told.Of(name),
		}
	}
	config := api.Config{
		Services: *services(sites.Default), Others: services, Sites: sites.NewService(db, sites.NewDirectory(db, time.Now)),
		Pool: budget.NewPool(4, time.Minute), Layout: picture.NewLayout(1), Ping: db.Ping, Limits: limits,
		CacheSize: 1 << 20, Log: quiet, Registry: prometheus.NewRegistry(),
		Observe: ignore, Now: time.Now,
		Access: api.Access{Rules: rules, Authenticator: people{
			"admin":  {UserID: "admin", UserName: "Ada", Roles: []string{"admin"}},
			"reader": {UserID: "reader", UserName: "Rea", Roles: []string{"reader"}},
		}},
		Bounds: api.Bounds{Memory: 1 << 30, Patience: time.Minute, Writing: time.Minute},
	}
	for _, change := range adapt {
		change(&config)
	}
	if config.Compat {
		config.Sites, config.Others = nil, nil
	}
	s := &site{api: api.New(config), clock: &clock{now: time.Now()}, stop: make(chan struct{})}
	s.calls = &calls{Handler: api.PartOf(s.api)}
	s.pages, err = web.New(web.Config{API: s.calls, Compat: config.Compat, Key: bytes.Repeat([]byte("k"), 32), Now: s.clock.Now, Log: config.Log, Observe: config.Observe, Stopping: s.stop})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ignore counts no requests.
func ignore(string, string, int, time.Duration) {}

// anonymous lets everybody do everything.
func anonymous(config *api.Config) {
	config.Access.Authenticator, config.Access.Anonymous = authn.NoAuth{}, true
	config.PublicURL = "https://purser.example" // the host of all requests
}

// inBackground runs something until the test ends.
func inBackground(t *testing.T, run func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
}

// call sends a request to the API as the admin, and ends the test unless it succeeds.
func (s *site) call(t *testing.T, method, path, body string, header ...string) {
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/api/v1.0/" + path
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "https://purser.example"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", "application/x-yaml")
	r.Header.Set("Accept", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	if w.Code/100 != 2 {
		t.Fatalf("%s %s: status %d\n%s", method, path, w.Code, w.Body)
	}
}

func (s *site) put(t *testing.T, bucket string, documents ...string) {
	t.Helper()
	s.call(t, http.MethodPut, "buckets/"+url.PathEscape(bucket)+"/documents", strings.Join(documents, "\n"))
}

// doc writes a document; metadata and data are given in flow-style YAML or JSON.
func doc(schema, name, policy, metadata, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, storagePolicy: %s, "+
		"layeringDefinition: {abstract: false, layer: site}%s}\ndata: %s\n", schema, quoted(name), policy, metadata, data)
}

func quoted(text string) string {
	breaks := strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`) // YAML ends lines there
	return breaks.Replace(string(document.AppendJSON(nil, text)))
}

// browser keeps the cookies of one user.
type browser struct {
	*site

	jar http.CookieJar
}

func (s *site) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{s, jar}
}

// answer is an answer with its body.
type answer struct {
	*http.Response

	text string
}

// send requests a page; header alternates names and values.
func (b *browser) send(t *testing.T, method, target string, form url.Values, header ...string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "https://purser.example"+target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	for _, cookie := range b.jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	b.pages.ServeHTTP(w, r)
	got := w.Result()
	b.jar.SetCookies(r.URL, got.Cookies())
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{got, string(text)}
}

func (b *browser) get(t *testing.T, target string, header ...string) answer {
	t.Helper()
	return b.send(t, http.MethodGet, target, nil, header...)
}

// as signs a user in.
func (s *site) as(t *testing.T, user string) *browser {
	t.Helper()
	b := s.browser(t)
	if got := b.send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {user}}); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("sign in: status %d\n%s", got.StatusCode, got.text)
	}
	return b
}

// is ends the test unless the answer has this status.
func (a answer) is(t *testing.T, status int) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("status %d, want %d\n%s", a.StatusCode, status, a.text)
	}
	return a
}

// shows checks that the page's text has these parts, white space aside.
func (a answer) shows(t *testing.T, parts ...string) {
	t.Helper()
	text := a.visible(t)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the page does not show %q:\n%s", part, text)
		}
	}
}

// tree parses the page as a browser does.
func (a answer) tree(t *testing.T) *html.Node {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(a.text))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// visible returns the page's text with single spaces.
func (a answer) visible(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for n := range a.tree(t).Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// links returns the targets within /ui/, or that of a site, of the page's links, pictures and forms that change nothing; those of forms
// include their values.
func (a answer) links(t *testing.T, from string) (all []string) {
	t.Helper()
	base, err := url.Parse("https://purser.example" + from)
	if err != nil {
		t.Fatal(err)
	}
	for n := range a.tree(t).Descendants() {
		for _, name := range []string{"href", "src", "action"} {
			value, ok := attr(n, name)
			method, _ := attr(n, "method")
			if !ok || method == "post" {
				continue
			}
			if name == "action" {
				value += "?" + fields(n).Encode()
			}
			at, err := base.Parse(value)
			if err != nil {
				t.Errorf("%s: link %q: %v", from, value, err)
				continue
			}
			if at.Path == "/docs" || at.Path == "/openapi.yaml" {
				continue // of the API
			}
			rel, _ := attr(n, "rel")
			if name == "href" && (rel == "noreferrer" && at.Scheme == "https" || rel == "noopener noreferrer nofollow") {
				continue // the source of a revision, or the log of a result
			}
			if at.Scheme != "https" || at.Host != "purser.example" || !(web.Config{}).Has(at) {
				t.Errorf("%s: a link leads elsewhere: %q", from, value)
				continue
			}
			at.Fragment = ""
			all = append(all, at.RequestURI())
		}
	}
	return all
}

// crawl follows all links from the overview, up to most pages, and passes each page to a function.
func (b *browser) crawl(t *testing.T, most int, each func(target string, page answer)) (seen map[string]bool) {
	t.Helper()
	return b.crawlFrom(t, "/ui/", most, each)
}

// crawlFrom is crawl from another page.
func (b *browser) crawlFrom(t *testing.T, start string, most int, each func(string, answer)) (seen map[string]bool) {
	t.Helper()
	seen = map[string]bool{start: true}
	for queue := []string{start}; len(queue) > 0 && most > 0; most-- {
		target := queue[0]
		queue = queue[1:]
		page := b.get(t, target)
		each(target, page)
		if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, link := range page.links(t, target) {
			if !seen[link] {
				seen[link] = true
				queue = append(queue, link)
			}
		}
	}
	return seen
}

// withUser adds an admin called Long, with this token.
func withUser(token string) func(*api.Config) {
	return func(config *api.Config) {
		known, _ := config.Access.Authenticator.(people)
		known[token] = authn.Caller{UserID: "long", UserName: "Long", Roles: []string{"admin"}}
	}
}
