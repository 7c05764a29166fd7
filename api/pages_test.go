package api_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var link = regexp.MustCompile(`^<(http[^>]+)>; rel="(next|prev)"$`)

// links returns the links of an answer to other pages, relative to /api/v1.0/.
func (s site) links(t *testing.T, a response) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, header := range a.Header.Values("Link") {
		parts := link.FindStringSubmatch(header)
		if parts == nil {
			t.Fatalf("a Link that nobody understands: %q", header)
		}
		found[parts[2]] = s.below(t, parts[1])
	}
	return found
}

// below returns a URL of this server in the form that a request takes.
func (s site) below(t *testing.T, at string) string {
	t.Helper()
	path, ok := strings.CutPrefix(at, siteURL+"/api/v1.0/")
	if !ok {
		t.Fatalf("%s is no URL of this server", at)
	}
	return path
}

func TestSelection_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSelection(t)
	for query, want := range map[string][]string{
		"limit=3": {"w1@1 w2@1 g1@1", "o1@2 o2@2 lp@3", "vp@3"},
		"limit=2&schema=acme&sort=name&order=desc&metadata.label=x": {""},
		"limit=2&schema=acme&schema=acmeb&sort=name&order=desc":     {"w2@1 w1@1", "o2@2 o1@2", "g1@1"},
		"limit=7":                        {"w1@1 w2@1 g1@1 o1@2 o2@2 lp@3 vp@3"},
		"limit=-1&metadata.label=role=b": {"g1@1"},
		"offset=5&limit=1":               {"lp@3", "vp@3"},
		"limit=1&search=ROLE=A":          {"w1@1", "w2@1"},
		"limit=2&search=1&schema=acme&sort=name&order=desc": {"w1@1 o1@2", "g1@1"},
	} {
		var pages []string
		previous := ""
		for path := "revisions/3/documents?" + query; path != "" && len(pages) < 9; {
			page := s.get(t, path).is(t, http.StatusOK)
			pages = append(pages, strings.Join(names(page.documents(t)), " "))
			around := s.links(t, page)
			if len(pages) > 1 && names(s.get(t, around["prev"]).documents(t))[0] != strings.Fields(previous)[0] {
				t.Errorf("%s: prev of page %d is not the page before", query, len(pages))
			}
			previous, path = pages[len(pages)-1], around["next"]
		}
		if diff := cmp.Diff(want, pages); diff != "" {
			t.Errorf("pages of %s (-want +got):\n%s", query, diff)
		}
	}
	for query, want := range map[string]map[string]string{
		"":                 {},
		"limit=7":          {},
		"offset=2":         {"prev": "revisions/3/documents?limit=2&offset=0"},
		"offset=9&limit=2": {"prev": "revisions/3/documents?limit=2&offset=7"},
		"limit=2&offset=1": {"prev": "revisions/3/documents?limit=1&offset=0", "next": "revisions/3/documents?limit=2&offset=3"},
		"metadata.name=" + url.QueryEscape("a&b#c %é") + "&offset=1": {
			"prev": "revisions/3/documents?limit=1&metadata.name=a%26b%23c+%25%C3%A9&offset=0",
		},
	} {
		got := s.links(t, s.get(t, "revisions/3/documents?"+query))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("links of %q (-want +got):\n%s", query, diff)
		}
	}
}
