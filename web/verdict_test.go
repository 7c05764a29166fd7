package web_test

import (
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
	const notice, gone = "No ValidationPolicy is in force: only the server's own checks counted", "The ValidationPolicy gate is not in force any more"
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
	b.get(t, "/ui/revisions/2").shows(t, "Revision 5 →", "Changes since revision 0", "added acme/Host/v1 cmp-1")
	b.crawl(t, 30, func(target string, page answer) {
		if page.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d\n%s", target, page.StatusCode, page.visible(t))
		}
	})
}
