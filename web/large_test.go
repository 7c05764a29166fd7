package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// On sites of 430 and 10,000 documents, each page has at most 150 KB and makes a bounded number of API calls,
// regardless of the size of the site.
func TestLarge(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	asked := map[string]int{}
	for _, documents := range []int{430, 10_000} {
		s := newSite(t, anonymous)
		s.put(t, "control", hostSchema, layers, strings.ReplaceAll(gate, "drydock", "other"))
		all := make([]string, documents)
		for i := range all {
			rack := 1
			if i%4 == 0 {
				rack = 99 // a quarter of them is wrong
			}
			all[i] = doc("acme/Host/v1", fmt.Sprintf("host-%05d", i), "cleartext", ", labels: {rack: r1}",
				fmt.Sprintf("{address: 10.0.0.1, rack: %d, text: %s}", rack, strings.Repeat("x", 200)))
		}
		s.put(t, "site", all...)
		b := s.browser(t)
		for _, target := range []string{
			"/ui/", "/ui/revisions", "/ui/revisions/2", "/ui/search", "/ui/search?q=host-00001", "/ui/search?offset=400",
			"/ui/compare?from=1&to=2", "/ui/compare?from=1&to=2&view=split&skip=100", "/ui/revisions/2/graph",
			"/ui/revisions/2/schemas", "/ui/revisions/2/validations/deckhand-schema-validation", "/ui/audit",
			"/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=host-00004",
			"/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=host-00004&as=graph",
		} {
			b.get(t, target) // fills the caches
			before, began := s.calls.made, time.Now()
			page := b.get(t, target).is(t, http.StatusOK)
			calls := s.calls.made - before
			t.Logf("%d documents: %s: %d calls, %d bytes, %v", documents, target, calls, len(page.text), time.Since(began))
			wellFormed(t, target, page)
			const most = 20
			if known, ok := asked[target]; calls > most || ok && calls > known {
				t.Errorf("%d documents: %s asks the API %d times, %d with fewer documents", documents, target, calls, known)
			}
			asked[target] = calls
		}
		if documents >= 10_000 {
			const searched = "The first 10000 documents were searched"
			b.get(t, "/ui/search?q=host-00001").shows(t, "host-00001", searched)
			b.get(t, "/ui/search?q=no+such").shows(t, "None of these documents matches", searched)
			b.get(t, "/ui/search?q=no+such&searched=10000").shows(t, "No document matches")
		}
	}
}

// A document with many lines and one with long lines can be paged through.
func TestLarge_document(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", layers)
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "k%05d: '<%d>', ", i, i)
	}
	s.put(t, "site", doc("acme/Host/v1", "many", "cleartext", "", "{"+many.String()+"last: end}"),
		doc("acme/Host/v1", "long", "cleartext", "", "{a: '"+strings.Repeat("<\u202e", 200_000)+"'}"))
	b := s.browser(t)
	for _, as := range []string{"written", "rendered", "explained", "history"} {
		for _, name := range []string{"many", "long"} {
			target := "/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=" + name + "&as=" + as
			wellFormed(t, target, b.get(t, target).is(t, http.StatusOK))
		}
	}
	b.get(t, "/ui/revisions/2/document?schema=acme/Host/v1&layer=site&name=many&path=.data.last").shows(t, "last: end", "Lines before these")
	b.get(t, "/ui/compare?from=1&to=2").is(t, http.StatusOK)
	wellFormed(t, "compare", b.get(t, "/ui/compare?from=1&to=2&skip=1"))
}
