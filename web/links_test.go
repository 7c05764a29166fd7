package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Links lead to the pages of compared documents without a layer, and of one whose layer is named like the API's text
// for no layer.
func TestLinks_layers(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, strings.Replace(layers, "site]", "site, None]", 1))
	s.put(t, "site", strings.Replace(host("cmp-1", 2), "layer: site", "layer: None", 1), gate)
	b := s.browser(t)
	page := b.get(t, "/ui/compare?from=1&to=2").is(t, http.StatusOK)
	page.shows(t, "added deckhand/ValidationPolicy/v1 gate +", "added acme/Host/v1 cmp-1 layer None +")
	found := 0
	for _, link := range page.links(t, "/ui/compare") {
		if strings.Contains(link, "/document?") {
			b.get(t, link).is(t, http.StatusOK)
			found++
		}
	}
	if found < 4 {
		t.Errorf("%d links to documents", found)
	}
}

// TestLinks follows hundreds of links and forms of a site whose revisions fail in several ways, as two users: each leads
// to a page that has headings and no leftovers of the server's own words for nothing.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	substituting := func(source string) string {
		return doc("acme/Service/v1", "api", "cleartext", ", substitutions: [{src: {schema: "+source+
			", path: .}, dest: {path: .url}}]", "{url: x, rack: 1}")
	}
	s.put(t, "control", hostSchema) // it renders by the LayeringPolicy of the next revision
	s.put(t, "control", hostSchema, layers, gate, `---
schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: own}
data: {validations: [{name: deckhand-policy-validation}, {name: deckhand-rendering-validation},
  {name: purser-coverage-validation}, {name: puppet-override-validation}, {name: murano-package-validation}, {name: purser-unknown}]}
`)
	s.put(t, "secret", doc("deckhand/Passphrase/v1", "pass", "encrypted", "", "hidden-value"))
	s.put(t, "site", host("cmp-1", 2), substituting("deckhand/Passphrase/v1, name: pass"))
	s.put(t, "site", host("cmp-1", 99), substituting("deckhand/Passphrase/v1, name: pass"))
	s.put(t, "site", host("cmp-1", 2), substituting("acme/Gone/v1, name: gone"))
	s.call(t, http.MethodPost, "revisions/6/validations/drydock-validation", "{status: failure, validator: {name: drydock, version: '1'}}")
	s.call(t, http.MethodPost, "revisions/4/tags/blessed", "")
	leftovers := regexp.MustCompile(`<nil>|<no value>|\bNone\b|\bnull\b|%!|\{\{|map\[|\b1 (documents|findings|links|reasons|notes)\b`)
	for user, links := range map[string]int{"admin": 300, "reader": 150} {
		b := s.as(t, user)
		seen := b.crawl(t, links, func(target string, page answer) {
			if page.StatusCode != http.StatusOK {
				t.Errorf("%s: %s: status %d\n%s", user, target, page.StatusCode, page.visible(t))
			}
			if !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
				return
			}
			wellFormed(t, target, page)
			// The documentation of a built-in schema says which types values have.
			if found := leftovers.FindString(page.visible(t)); found != "" && !strings.Contains(target, "/schemas/") {
				t.Errorf("%s: %s: %q\n%s", user, target, found, page.visible(t))
			}
		})
		if len(seen) < links {
			t.Errorf("%s: only %d links were found", user, len(seen))
		}
	}
}
