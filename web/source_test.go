package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// The commit that a revision was made from is a link if a browser can open it.
func TestSource(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const link, plain = "https://git.example/a&b/commit/8f2c41d", "git+https://git.example/a.git@8f2c41d"
	for i, source := range []string{plain, link} {
		s.call(t, http.MethodPut, "buckets/site/documents", host("cmp-1", i), "X-Purser-Source", source)
	}
	b := s.as(t, "admin")
	const anchor = `<a href="https://git.example/a&amp;b/commit/8f2c41d" rel="noreferrer"><bdi>`
	for path, links := range map[string]int{
		"/ui/": 2, "/ui/revisions": 1, "/ui/revisions/2": 1, "/ui/revisions/1": 0,
		"/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=cmp-1&as=history": 1,
	} {
		page := b.get(t, path).is(t, http.StatusOK)
		if got := strings.Count(page.text, anchor); got != links {
			t.Errorf("%s has %d links to the commit, want %d", path, got, links)
		}
		if links != 0 {
			page.shows(t, link)
		}
		if path != "/ui/revisions/2" {
			page.shows(t, plain)
		}
	}
}
