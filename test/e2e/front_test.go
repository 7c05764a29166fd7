package e2e_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The front page is available to everybody in all formats, and its links work.
func TestFront(t *testing.T) {
	t.Parallel()
	s := newKeys(t, "admin").startWith(t, "")
	want := []string{
		"/ui/", "/docs", "/openapi.yaml", "/versions", "/api/v1.0/health", "/readyz", "/metrics", "/sites",
		"/api/v1.0/buckets", "/api/v1.0/revisions", "/api/v1.0/revisions/latest/status",
	}
	for accept, c := range map[string]struct{ kind, link string }{
		"":                                {"text/plain; charset=utf-8", `(?m)^` + regexp.QuoteMeta(s.url) + `(/\S+)$`},
		"*/*":                             {"text/plain; charset=utf-8", `(?m)^` + regexp.QuoteMeta(s.url) + `(/\S+)$`},
		"text/html,application/xml;q=0.9": {"text/html; charset=utf-8", `<a href="([^"]+)">`},
		typeXYAML:                         {typeXYAML, `url: ` + regexp.QuoteMeta(s.url) + `(/\S+)`},
		"application/json":                {"application/json", `"url":"` + regexp.QuoteMeta(s.url) + `(/[^"]+)"`},
	} {
		got := s.get(t, "/", "Accept", accept).is(t, http.StatusOK)
		if kind := got.got.Get("Content-Type"); kind != c.kind {
			t.Errorf("as %q: %s", accept, kind)
		}
		var links []string
		for _, found := range regexp.MustCompile(c.link).FindAllStringSubmatch(got.text, -1) {
			links = append(links, "/"+strings.TrimPrefix(found[1], "/"))
		}
		if diff := cmp.Diff(want, links); diff != "" {
			t.Errorf("links as %q (-want +got):\n%s\n%s", accept, diff, got.text)
		}
	}
	for _, path := range want[1:] { // the pages have tests of their own
		status := s.get(t, path).status
		if !slices.Contains([]int{http.StatusOK, http.StatusNoContent, http.StatusUnauthorized}, status) {
			t.Errorf("%s: status %d", path, status)
		}
	}
	if text := s.get(t, "/", "Accept", "text/html").text; strings.Contains(text, s.url) {
		t.Errorf("the page shows the host of the request:\n%s", text)
	}
}
