package api_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/fault"
)

// Every answer tells browsers not to guess its type.
func TestHandler_nosniff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	check := func(s site, method, path string, header ...string) {
		if got := s.do(t, method, path, "", header...); got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: status %d and headers %v", method, path, got.StatusCode, got.Header)
		}
	}
	routes := api.Routes()
	for _, path := range slices.Sorted(maps.Keys(routes)) {
		for _, method := range slices.AppendSeq([]string{http.MethodOptions, http.MethodPatch}, maps.Keys(routes[path])) {
			check(s, method, path) // the parts in braces are not valid names: most answers are errors
		}
	}
	etag := s.get(t, "revisions").Header.Get("ETag")
	check(s, http.MethodGet, "revisions", "If-None-Match", etag)
	check(s, http.MethodPut, "buckets/b/documents", "Content-Type", "text/html")
	check(s, http.MethodGet, "nowhere")
	starting := api.Starting(fault.New(fault.Unavailable, "Starting", ""), slog.New(slog.DiscardHandler), func(string, string, int, time.Duration) {}, time.Now)
	check(site{Handler: starting}, http.MethodGet, "health")
	check(site{Handler: starting}, http.MethodGet, "revisions")
	check(site{Handler: api.Metrics(prometheus.NewRegistry())}, http.MethodGet, "/metrics")
}

// Pages cannot run or load anything, but keep their styles.
func TestHandler_pages(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	const schema = "revisions/1/schemas/deckhand/LayeringPolicy/v1"
	const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, c := range []struct{ path, accept, kind, policy string }{
		{schema + "/docs", "text/html", "text/html; charset=utf-8", nothing + "; style-src 'unsafe-inline'"},
		{schema + "/docs", "text/markdown", "text/markdown; charset=utf-8", ""},
		{"revisions/1/graph", "image/svg+xml", "image/svg+xml", nothing},
		{"revisions/1/graph?format=dot", "", "text/vnd.graphviz; charset=utf-8", ""},
	} {
		if _, err := exec.LookPath("dot"); err != nil && c.accept == "image/svg+xml" {
			t.Log("without Graphviz there is no SVG:", err)
			continue
		}
		got := s.get(t, c.path, "Accept", c.accept).is(t, http.StatusOK)
		is := []string{got.Header.Get("Content-Type"), got.Header.Get("Content-Security-Policy")}
		if diff := cmp.Diff([]string{c.kind, c.policy}, is); diff != "" {
			t.Errorf("%s as %s: type and policy (-want +got):\n%s", c.path, c.accept, diff)
		}
		styled := strings.Contains(got.text, "<style") || strings.Contains(got.text, " style=")
		if c.policy == nothing && styled {
			t.Errorf("%s has styles that its policy forbids:\n%s", c.path, got.text)
		}
	}
}

// Links begin with the public URL. Without one, YAML and JSON have the host of the request, but pages never do, because
// a cache may show them to others.
func TestHandler_publicURL(t *testing.T) {
	t.Parallel()
	const public, named = "https://purser.example/site", "http://localhost"
	s := newSite(t)
	known := newSite(t, func(config *api.Config) { config.PublicURL = public })
	for _, s := range []site{s, known} {
		s.put(t, "a", widget("w", "{}")).is(t, http.StatusOK)
		s.put(t, "b", widget("v", "{}")).is(t, http.StatusOK)
	}
	parts := strings.NewReplacer("{revision}", "1", "{other}", "2", "{name}", "deckhand-schema-validation", "{entry}", "0",
		"{namespace}", "deckhand", "{kind}", "LayeringPolicy", "{version}", "v1")
	linked, pages := 0, 0
	for path, methods := range api.Routes() {
		parameters, ok := methods[http.MethodGet]
		if !ok {
			continue
		}
		path = parts.Replace(path)
		if slices.Contains(parameters, "offset") {
			path += "?limit=1&offset=1"
		}
		for _, accept := range []string{"application/json", "text/html, image/svg+xml"} {
			kind, text := whole(s.get(t, path, "Accept", accept))
			_, fromKnown := whole(known.get(t, path, "Accept", accept))
			links := strings.Count(text, named+"/api/")
			if strings.Contains(fromKnown, named) || strings.Count(fromKnown, public+"/api/") != links {
				t.Errorf("%s as %s with a public URL, %d links without one:\n%s", path, kind, links, fromKnown)
			}
			if page := strings.HasPrefix(kind, "text/html") || kind == "image/svg+xml"; page {
				pages++
				if strings.Contains(text, "localhost") {
					t.Errorf("%s as %s names the request's host:\n%s", path, kind, text)
				}
			}
			linked += min(links, 1)
		}
	}
	if linked < 10 || pages < 1 {
		t.Errorf("only %d answers have links, and %d are pages", linked, pages)
	}
}

// whole returns the media type of an answer, and its headers with its text.
func whole(r response) (kind, text string) {
	var b strings.Builder
	_ = r.Header.Write(&b) // to memory
	return r.Header.Get("Content-Type"), b.String() + r.text
}

// A page of another site cannot make changes with the client certificate that a browser sends automatically.
func TestHandler_otherSites(t *testing.T) {
	t.Parallel()
	holder := selfSigned(t, pkix.Name{CommonName: "u", OrganizationalUnit: []string{"role:admin"}})
	var removed atomic.Bool
	s := newSite(t, withUsers(new(users)), func(config *api.Config) {
		config.Access.Authorities = func() *authn.Authorities { return authoritiesOf(t, holder, removed.Load()) }
	})
	s.put(t, "b", widget("w", "{}"), "X-Auth-Token", "u").is(t, http.StatusOK)
	for _, c := range []struct {
		method, path string
		header       []string
		want         int
	}{
		{"POST", "revisions/prune?keep=1", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"POST", "revisions/1/tags/t", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"POST", "rollback/0", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"POST", "revisions/1/tags/t", []string{"Sec-Fetch-Site", "cross-site", "X-Auth-Token", "u"}, http.StatusCreated},
		{"POST", "revisions/1/tags/u", []string{"Sec-Fetch-Site", "same-origin"}, http.StatusCreated},
		{"POST", "revisions/1/tags/v", nil, http.StatusCreated},
		{"GET", "revisions", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusOK},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "/api/v1.0/"+c.path, http.NoBody)
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{holder}}}
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		got := httptest.NewRecorder()
		if s.ServeHTTP(got, r); got.Code != c.want {
			t.Errorf("%s %s %v: %d %s, want %d", c.method, c.path, c.header, got.Code, got.Body, c.want)
		}
	}
	// The certificate no longer counts on an open connection, which ends, once its authority was removed.
	removed.Store(true)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1.0/revisions", http.NoBody)
	r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{holder}}}
	got := httptest.NewRecorder()
	if s.ServeHTTP(got, r); got.Code != http.StatusUnauthorized || got.Header().Get("Connection") != "close" {
		t.Errorf("without the authority: %d %v", got.Code, got.Header())
	}
}

// selfSigned returns a certificate that is its own authority.
func selfSigned(t *testing.T, subject pkix.Name) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: subject, NotAfter: time.Now().AddDate(9, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// authoritiesOf returns a certificate as the only authority or, if it was removed, another one.
func authoritiesOf(t *testing.T, certificate *x509.Certificate, removed bool) *authn.Authorities {
	t.Helper()
	if removed {
		certificate = selfSigned(t, pkix.Name{CommonName: "other"})
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
	authorities, err := authn.ParseAuthorities(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return authorities
}

// If no token is needed, pages of other sites cannot make changes either.
func TestHandler_otherSites_anonymous(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) { config.PublicURL, config.Compat = "https://purser.example/site", true })
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	for _, c := range []struct {
		header []string
		want   int
	}{
		{[]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{[]string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{[]string{"Origin", "null"}, http.StatusForbidden},
		{[]string{"Origin", "https://localhost.evil.example"}, http.StatusForbidden},
		{[]string{"Origin", "http://purser.example"}, http.StatusForbidden},
		{[]string{"Origin", "https://purser.example"}, http.StatusCreated},
		{[]string{"Origin", "http://localhost"}, http.StatusCreated},
		{[]string{"Sec-Fetch-Site", "same-origin"}, http.StatusCreated},
		{nil, http.StatusCreated},
	} {
		if got := s.do(t, http.MethodPost, "revisions/1/tags/t", "", c.header...); got.StatusCode != c.want {
			t.Errorf("%v: %d %s, want %d", c.header, got.StatusCode, got.text, c.want)
		}
	}
}

// Without authentication, all routes with content refuse the names of other hosts. Probes and public routes answer.
func TestHandler_hosts(t *testing.T) {
	t.Parallel()
	none := newSite(t, func(config *api.Config) { config.PublicURL = "https://purser.example:8443/site" })
	authenticated := newSite(t, withUsers(new(users)))
	at := func(s site, host, local, method, path string) response {
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		r.Header.Set("Accept", "application/json")
		if r.Host = host; local != "" {
			address := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local))
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
		}
		recorder := httptest.NewRecorder()
		s.ServeHTTP(recorder, r)
		return response{recorder.Result(), path, recorder.Body.String()}
	}
	const whoami = "/api/v1.0/whoami"
	for _, c := range []struct {
		host, local string
		own         bool
	}{
		{"localhost", "", true},
		{"localhost:9000", "", true},
		{"LocalHost.:80", "", true},
		{"127.0.0.1:9000", "", true},
		{"127.8.9.1", "", true},
		{"[::1]:9000", "", true},
		{"[::1]", "", true},
		{"[::ffff:127.0.0.1]", "", true},
		{"purser.example", "", true},
		{"Purser.Example:8443", "", true},
		{"10.0.0.5:9000", "10.0.0.5:9000", true},
		{"10.0.0.5", "[::ffff:10.0.0.5]:9000", true},
		{"[fd00::5]:9000", "[fd00::5]:9000", true},
		{"10.0.0.6:9000", "10.0.0.5:9000", false},
		{"10.0.0.5", "", false},
		{"evil.example", "127.0.0.1:9000", false},
		{"0.0.0.0:9000", "127.0.0.1:9000", true}, // an address: no name leads there
		{"localhost.evil.example", "", false},
		{"127.0.0.1.evil.example", "", false},
		{"evil.localhost", "", false},
		{"a.purser.example", "", false},
		{"", "", false},
		{"2130706433", "", false},
		{"127.1", "", false},
		{"localhost@evil.example", "", false},
	} {
		got := at(none, c.host, c.local, http.MethodGet, whoami)
		if c.own && got.StatusCode != http.StatusOK || !c.own && got.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("Host: %q at %q: status %d\n%s", c.host, c.local, got.StatusCode, got.text)
		}
		at(authenticated, c.host, c.local, http.MethodGet, whoami).is(t, http.StatusOK)
	}
	at(none, "evil.example:9000", "", http.MethodGet, whoami).fails(t, http.StatusMisdirectedRequest, "HTTPMisdirectedRequest")
	if text := at(none, "evil.example:9000", "", http.MethodGet, whoami).text; !strings.Contains(text, "--public-url http://evil.example:9000") {
		t.Errorf("the message does not name the way out: %s", text)
	}
	public := []string{
		"/", "/versions", "/readyz", "/openapi.yaml", "/openapi.json", "/docs", "/api/v1.0/health",
		"/.well-known/oauth-protected-resource", "/.well-known/purser-keys",
	}
	for path, methods := range api.Routes() {
		for method := range methods {
			got := at(none, "evil.example", "", method, path)
			if refused := got.StatusCode == http.StatusMisdirectedRequest; refused == slices.Contains(public, path) {
				t.Errorf("%s %s: status %d", method, path, got.StatusCode)
			}
		}
	}
}
