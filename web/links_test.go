package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestLinks_layers compares documents without a layer, and one whose layer is named as the API's texts name none: the
// links lead to their pages.
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
