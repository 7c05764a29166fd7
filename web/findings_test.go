package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The page of findings has the numbers of all and of each cause, and filters, sorts and pages through them.
func TestFindings(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, layers)
	var all []string
	for i := range 60 {
		data := "{rack: 99}"
		if i == 7 {
			data = "{rack: text}"
		}
		all = append(all, doc("acme/Host/v1", fmt.Sprintf("host-%02d", i), "cleartext", "", data))
	}
	s.put(t, "site", all...)
	b := s.browser(t)
	b.get(t, "/ui/").shows(t, "All findings")
	const base = "/ui/revisions/2/findings"
	for query, want := range map[string][]string{
		"":                          {"60 findings, 2 causes.", "59 documents : error .data.rack 99 is greater than the maximum of 40 such as", "1 to 50"},
		"?offset=50&order=document": {"host-59", "51 to 60"},
		"?q=TEXT":                   {"1 finding with this text", "host-07", "'text' is not of type 'integer'"},
		"?q=nothing":                {"0 findings with this text", "There are none with this text."},
		"?level=warning":            {"0 findings", "There are none."},
		"?validation=deckhand-schema-validation&level=error": {"60 findings"},
		"?level=bad": {"It can be error, warning or info."},
	} {
		page := b.get(t, base+query)
		page.shows(t, want...)
		wellFormed(t, base+query, page)
	}
	s.put(t, "policies", gate)
	b.get(t, "/ui/revisions/3/findings?q=posted").shows(t, "1 finding with this text", "The revision as a whole", "drydock-validation")
	if text := b.get(t, base+"?order=document").is(t, http.StatusOK).visible(t); strings.Index(text, "host-07 ") > strings.Index(text, "host-08 ") {
		t.Errorf("the documents are not sorted:\n%s", text)
	}
}
