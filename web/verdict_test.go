package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A rollback past the policy is announced by its preview, and pages do not say afterwards that policies are satisfied.
func TestVerdict_withoutPolicy(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "site", doc("acme/Host/v1", "cmp-1", "cleartext", "", "{rack: 1}"))
	s.put(t, "control", hostSchema, layers, gate)
	b := s.browser(t)
	const notice, gone = "There is no ValidationPolicy: only the server's own checks counted", "The ValidationPolicy gate no longer applies"
	fields := url.Values{"message": {"back"}}
	preview := b.send(t, http.MethodPost, "/ui/revisions/1/rollback", fields, "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	preview.shows(t, notice, gone, "No ValidationPolicy requires drydock-validation any more")
	wellFormed(t, "rollback", preview)
	b.send(t, http.MethodPost, "/ui/revisions/1/rollback", preview.form(t, "/ui/revisions/1/rollback")).is(t, http.StatusSeeOther)
	for _, target := range []string{"/ui/", "/ui/revisions/3"} {
		page := b.get(t, target)
		page.shows(t, "✓ Revision 3 may be deployed", notice, gone+" since revision 2")
		wellFormed(t, target, page)
		if strings.Contains(page.text, "Everything that its policies require") {
			t.Errorf("%s says that policies are satisfied, but there is none", target)
		}
	}
	if strings.Contains(b.get(t, "/ui/revisions/2").text, notice) {
		t.Error("a revision with a policy is said to have none")
	}
}

// After a prune, the page of a revision links to its neighbours that are left, and compares with the one before.
func TestRevision_neighbours(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	for rack := range 5 {
		s.put(t, "site", host("cmp-1", rack))
	}
	s.call(t, http.MethodPost, "revisions/2/tags/kept", "")
	s.call(t, http.MethodPost, "revisions/prune?keep=1", "")
	b := s.browser(t)
	b.get(t, "/ui/revisions/5").shows(t, "← Revision 2", "Changes since revision 2", "changed acme/Host/v1 cmp-1")
	b.get(t, "/ui/revisions/2").shows(t, "Revision 5 →", "Its documents (the revisions before it were deleted)", "added acme/Host/v1 cmp-1")
	b.crawl(t, 30, func(target string, page answer) {
		if page.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d\n%s", target, page.StatusCode, page.visible(t))
		}
	})
}

// The page of a validation has its status in the verdict, with the findings, whatever its last entry says.
func TestValidation(t *testing.T) {
	t.Parallel()
	s := newSite(t, anonymous)
	s.put(t, "control", hostSchema, layers, strings.ReplaceAll(gate, "PT2H}", "PT2H}, {name: late-validation}"))
	s.put(t, "site", host("cmp-1", 99), host("cmp-2", 1)) // the last entry is a success
	for _, status := range []string{"failure, errors: [{message: no disk}]", "success"} {
		s.call(t, http.MethodPost, "revisions/2/validations/drydock-validation", "{validator: {name: d, version: '1'}, status: "+status+"}")
	}
	b := s.browser(t)
	for name, want := range map[string][]string{
		"deckhand-schema-validation": {
			"For revision 2 : ✗ failure", "deckhand-schema-validation failed: 1 finding in 1 document.", "cmp-1 layer site",
			"99 is greater than the maximum of 40",
		},
		"drydock-validation": {"For revision 2 : ✓ success", "The newest result ✓ success", "✗ failure result 0", "✓ success result 1"},
		"late-validation":    {"For revision 2 : ○ missing", "No result has been posted for late-validation."},
		"unknown-validation": {"For revision 2 : no result"},
	} {
		page := b.get(t, "/ui/revisions/2/validations/"+name).is(t, http.StatusOK)
		page.shows(t, want...)
		wellFormed(t, name, page)
		if name == "late-validation" && strings.Contains(page.text, "✗ failure") {
			t.Errorf("a missing result is shown as a failure:\n%s", page.visible(t))
		}
	}
	b.get(t, "/ui/revisions/2/validations/drydock-validation?entry=0").shows(t, "Result 0 ✗ failure", "no disk")
}

// Banners and lists of findings give the numbers of all, grouped by cause.
func TestOverview_counts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]string{
		50: {"deckhand-schema-validation failed: 50 findings in 50 documents."},
		51: {"deckhand-schema-validation failed: 51 findings in 51 documents.", "51 documents : error .data.rack 99 is greater", "1 more finding not shown here"},
		1661: {
			"deckhand-schema-validation failed: 1661 findings in 1661 documents.", "1661 documents : error .data.rack 99 is greater",
			"1611 more findings not shown here",
		},
	} {
		s := newSite(t, anonymous)
		s.put(t, "control", hostSchema, layers)
		var all []string
		for i := range n {
			all = append(all, doc("acme/Host/v1", fmt.Sprintf("host-%04d", i), "cleartext", "", "{rack: 99}"))
		}
		s.put(t, "site", all...)
		page := s.browser(t).get(t, "/ui/").is(t, http.StatusOK)
		page.shows(t, want...)
		wellFormed(t, "overview", page)
	}
}
