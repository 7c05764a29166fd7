package web_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
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
		"":                {"60 findings, 2 causes.", "59 documents : error .data.rack 99 is greater than the maximum of 40 such as", "After these"},
		"?order=document": {"host-00", "After these"},
		"?q=TEXT":         {"1 finding, 1 cause, of those that you chose.", "host-07", "'text' is not of type 'integer'"},
		"?q=nothing":      {"0 findings, of those that you chose.", "There are none with this text."},
		"?level=warning":  {"0 findings", "There are none."},
		"?validation=deckhand-schema-validation&level=error": {"60 findings"},
		"?level=bad": {"It can be error, warning or info."},
	} {
		page := b.get(t, base+query)
		page.shows(t, want...)
		wellFormed(t, base+query, page)
	}
	s.put(t, "policies", gate)
	b.get(t, "/ui/revisions/3/findings?q=posted").shows(t, "1 finding, 1 cause, of those that you chose.", "The revision as a whole", "drydock-validation")
	if text := b.get(t, base+"?order=document").is(t, http.StatusOK).visible(t); strings.Index(text, "host-07 ") > strings.Index(text, "host-08 ") {
		t.Errorf("the documents are not sorted:\n%s", text)
	}
}

// The filter, the order, the causes and the pages cover all findings, also those behind the first thousand: a cause leads
// to exactly its findings.
func TestFindings_many(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, layers)
	const documents = 1100
	all := make([]string, documents)
	for i := range all {
		data := "{rack: 99}"
		if i == documents-1 || i == 7 {
			data = "{rack: needle}"
		}
		all[i] = doc("acme/Host/v1", fmt.Sprintf("host-%04d", documents-i), "cleartext", "", data)
	}
	s.put(t, "site", all...)
	b := s.browser(t)
	const base = "/ui/revisions/2/findings"
	page := b.get(t, base+"?q=needle")
	page.shows(t, "2 findings, 1 cause", "host-0001", "host-1093")
	if strings.Contains(page.visible(t), "There may be others") {
		t.Errorf("all were examined:\n%s", page.visible(t))
	}
	page = b.get(t, base+"?order=document")
	page.shows(t, "1100 findings, 2 causes", "host-0001", "host-0050")
	for range 21 {
		page = b.get(t, base+page.next(t))
	}
	page.shows(t, "host-1051", "host-1100", "The first ones")
	if page.next(t) != "" {
		t.Errorf("there is a page after the last one:\n%s", page.visible(t))
	}
	page = b.get(t, base)
	page.shows(t, "1098 documents", "2 documents")
	causes := 0
	for _, link := range page.links(t, base) {
		if at, err := url.Parse(link); err == nil && at.Query().Has("cause") {
			causes++
			b.get(t, link).shows(t, "Only those of one cause", "1 cause, of those")
		}
	}
	if causes != 2 {
		t.Errorf("%d links to causes", causes)
	}
}

// next returns the query of the link to the next page of a list, "" if there is none.
func (a answer) next(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(a.text)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

// The page of one of the server's own validations names the documents without findings, after those with findings, page
// by page.
func TestValidation_documents(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, layers)
	all := []string{host("wrong", 99)}
	for i := range 110 {
		all = append(all, host(fmt.Sprintf("host-%03d", i), 1))
	}
	s.put(t, "site", all...)
	b := s.browser(t)
	const target = "/ui/revisions/2/validations/deckhand-schema-validation"
	page := b.get(t, target)
	page.shows(t, "99 is greater", "Documents without findings", "Of the documents 1 to 100 of the revision.", "✓ acme/Host/v1 host-000", "✓ acme/Host/v1 host-099")
	wellFormed(t, target, page)
	text := page.visible(t)
	if strings.Contains(text, "✓ acme/Host/v1 wrong") || strings.Contains(text, "host-100") || strings.Index(text, "99 is greater") > strings.Index(text, "✓ acme") {
		t.Errorf("the page shows\n%s", text)
	}
	last := b.get(t, target+page.next(t))
	last.shows(t, "Of the documents 101 to 113 of the revision.", "host-109", "deckhand/DataSchema/v1 acme/Host/v1")
	if strings.Contains(last.visible(t), "✓ acme/Host/v1 wrong") {
		t.Errorf("the last page shows\n%s", last.visible(t))
	}
	b.get(t, "/ui/revisions/1/validations/deckhand-schema-validation").shows(t, "of the revision, which are all that you may see.")
}
