package api_test

import (
	"log/slog"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"purser/api"
	"purser/internal/fault"
)

// Browsers guess the type of no answer, whatever it is.
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
		for _, method := range append(routes[path], http.MethodOptions, http.MethodPatch) {
			check(s, method, path) // the parts in braces name nothing: most answers are errors
		}
	}
	etag := s.get(t, "revisions").Header.Get("ETag")
	check(s, http.MethodGet, "revisions", "If-None-Match", etag)
	check(s, http.MethodPut, "buckets/b/documents", "Content-Type", "text/html")
	check(s, http.MethodGet, "nowhere")
	starting := api.Starting(fault.New(fault.Unavailable, "Starting", ""), slog.New(slog.DiscardHandler), time.Now)
	check(site{Handler: starting}, http.MethodGet, "health")
	check(site{Handler: starting}, http.MethodGet, "revisions")
	check(site{Handler: api.Metrics(prometheus.NewRegistry())}, http.MethodGet, "/metrics")
}

// Pages are shown without running or loading anything, and with the styles that they have.
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
