package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"purser/api"
	"purser/internal/authn"
)

// demanding is a policy with all kinds of requirements.
const demanding = `---
schema: deckhand/ValidationPolicy/v1
metadata: {schema: metadata/Control/v1, name: gate}
data:
  validations:
  - {name: deckhand-schema-validation}
  - {name: drydock-validation}
  - {name: review-validation, approvals: 2}
  - {name: network-validation, when: {schemas: [acme/Network/*]}}
  - {name: power-validation, advisory: true}
  - {name: hosts-validation}
`

// tried is a site whose newest revision, 2, has results of all kinds, of admins called Ada and Bea.
func tried(t *testing.T, changes ...func(*api.Config)) *site {
	t.Helper()
	s := newSite(t, append(changes, func(config *api.Config) {
		if known, ok := config.Access.Authenticator.(people); ok {
			known["bea"] = authn.Caller{UserID: "bea", UserName: "Bea", Roles: []string{"admin"}}
		}
	})...)
	s.put(t, "control", hostSchema, layers, demanding)
	s.put(t, "site", host("cmp-1", 2))
	s.call(t, http.MethodPost, "revisions/2/validations/drydock-validation", "{status: failure, validator: {name: drydock, version: '1'}, "+
		"url: 'https://ci.example/runs/4711?a=1&b=<x>', errors: [{message: no disk}]}")
	s.call(t, http.MethodPost, "revisions/2/validations/power-validation", "{status: failure, validator: {name: p, version: '1'}, "+
		"url: 'http://ci.example/runs/4712', errors: [{message: no power}]}")
	return s
}

// sent fills in a form of a page and sends it.
func (b *browser) sent(t *testing.T, page, action string, status int, pairs ...string) answer {
	t.Helper()
	fields := b.get(t, page).is(t, http.StatusOK).form(t, action)
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Set(pairs[i], pairs[i+1])
	}
	return b.send(t, http.MethodPost, action, fields, "Sec-Fetch-Site", "same-origin").is(t, status)
}

// claim asks for work on a validation, as a worker whose name has markup.
func (s *site) claim(t *testing.T, name string) (status int, text []byte) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://purser.example/api/v1.0/claims",
		strings.NewReader(`{"validations": ["`+name+`"], "worker": "cmp-7<b>"}`))
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes()
}

// A claim is shown with its progress, and a request for a new result with its reason.
func TestWork(t *testing.T) {
	t.Parallel()
	s := tried(t)
	b := s.as(t, "admin")
	if status, text := s.claim(t, "hosts-validation"); status != http.StatusNoContent { // another one has failed for good
		t.Fatalf("status %d: %s", status, text)
	}
	const drydock = "/ui/revisions/2/validations/drydock-validation"
	b.sent(t, drydock, drydock+"/result", http.StatusSeeOther, "status", "success", "message", "looked & found")
	b.get(t, drydock).shows(t, "✓ success", "purser-ui", "looked & found")
	var claim struct {
		ID string `json:"id"`
	}
	if status, text := s.claim(t, "hosts-validation"); status != http.StatusCreated || json.Unmarshal(text, &claim) != nil {
		t.Fatalf("status %d: %s", status, text)
	}
	for _, target := range []string{"/ui/", "/ui/revisions/2", "/ui/revisions/2/validations/hosts-validation"} {
		b.get(t, target).is(t, http.StatusOK).shows(t, "claimed by cmp-7<b> now")
	}
	s.call(t, http.MethodPut, "claims/"+claim.ID, "{progress: 12 of 40 <hosts>}")
	for _, target := range []string{"/ui/", "/ui/revisions/2", "/ui/revisions/2/validations/hosts-validation"} {
		b.get(t, target).is(t, http.StatusOK).shows(t, "claimed by cmp-7<b> now : 12 of 40 <hosts>")
	}
	b.sent(t, drydock, drydock+"/request", http.StatusSeeOther, "message", "the racks have changed")
	for _, target := range []string{"/ui/revisions/2", drydock} {
		b.get(t, target).shows(t, "✓ success", "asked for again now : the racks have changed")
	}
	if strings.Contains(b.get(t, "/ui/revisions/2/validations/hosts-validation").text, "Ask again") {
		t.Error("a result that nobody has posted can be asked for again")
	}
}

func TestJudging(t *testing.T) {
	t.Parallel()
	s := tried(t)
	b := s.as(t, "admin")
	const page, drydock, review, hosts = "/ui/revisions/2", "/ui/revisions/2/validations/drydock-validation",
		"/ui/revisions/2/validations/review-validation", "/ui/revisions/2/validations/hosts-validation"
	b.get(t, page).is(t, http.StatusOK).shows(t, "Revision 2 may not be deployed", "drydock-validation failed: No disk.",
		"network-validation – not applicable : no document matches when gate", "power-validation ✗ failure advisory",
		"Note: power-validation: failure (policy gate, advisory): no power", "Approve, reject, ask again or waive")
	const link = `<a href="https://ci.example/runs/4711?a=1&amp;b=%3cx%3e" rel="noopener noreferrer nofollow">Log at <bdi>ci.example</bdi></a>`
	for _, target := range []string{"/ui/", page, drydock, drydock + "?entry=0"} {
		if text := b.get(t, target).is(t, http.StatusOK).text; !strings.Contains(text, link) {
			t.Errorf("%s has no link to the log:\n%s", target, text)
		}
	}

	b.sent(t, review, review+"/result", http.StatusSeeOther, "status", "success")
	b.get(t, page).shows(t, "review-validation is missing: 1 of 2 approvals, by Ada.", "Have more users approve the revision.")
	s.as(t, "bea").sent(t, review, review+"/result", http.StatusSeeOther, "status", "failure", "message", "not <yet>")
	b.get(t, page).shows(t, "review-validation failed: Rejected by Bea: not <yet>.")
	s.as(t, "bea").sent(t, review, review+"/result", http.StatusSeeOther, "status", "success")
	b.get(t, review).shows(t, "review-validation For revision 2 : ✓ success")
	b.sent(t, review, review+"/result", http.StatusBadRequest, "status", "perhaps").shows(t, "Approve or reject")
	b.sent(t, review, review+"/result", http.StatusBadRequest, "status", "success", "message", strings.Repeat("é", 600)).
		shows(t, "The message is too long to be shown with an approval.")

	// What is wrong is shown beside the form, which keeps what was entered.
	wrong := b.sent(t, hosts, hosts+"/waivers", http.StatusBadRequest, "message", "ticket & 4711", "for", "P3D", "until", "2999-01-01T00:00")
	wrong.shows(t, "Waive", "A waiver may last at most 30 days")
	if fields := wrong.form(t, hosts+"/waivers"); fields.Get("message") != "ticket & 4711" || fields.Get("until") != "2999-01-01T00:00" {
		t.Errorf("the form has %v", fields)
	}
	if !strings.Contains(wrong.text, `<option value="P3D" selected>`) || !strings.Contains(wrong.text, `role="alert"`) {
		t.Errorf("the form has lost its period:\n%s", wrong.text)
	}
	wellFormed(t, "waiver", wrong)
	b.sent(t, hosts, hosts+"/waivers", http.StatusBadRequest, "message", "", "for", "P3D").shows(t, "a reason of 1 to 1000 characters")
	b.sent(t, hosts, hosts+"/waivers", http.StatusSeeOther, "message", "the <lab> is closed", "for", "P3D")
	b.sent(t, drydock, drydock+"/waivers", http.StatusSeeOther, "message", "disks come on Monday", "for", "PT1H")

	// No place shows its success in green alone.
	const by = "by Ada until 20"
	for target, parts := range map[string][]string{
		"/ui/":          {"⚠ Revision 2 may be deployed because of 2 waivers", "2 ⚠ success, 2 waived drydock-validation : " + by, "hosts-validation ○ missing ⚠ waived " + by, ": the <lab> is closed"},
		"/ui/revisions": {"2 ⚠ success, 2 waived drydock-validation : " + by, "disks come on Monday hosts-validation : " + by, ": the <lab> is closed"},
		page: {
			"⚠ Revision 2 may be deployed because of 2 waivers", "drydock-validation ✗ failure ⚠ waived " + by, ": disks come on Monday",
			"drydock-validation ⚠ active End disks come on Monday Ada now 20",
		},
		drydock:                       {"For revision 2 : ✗ failure ⚠ waived " + by, ": disks come on Monday"},
		"/ui/compare?from=1&to=2":     {"Revision 2 : ⚠ success, 2 waived", "disks come on Monday", "Revision 1 : ✗ failure"},
		"/ui/compare?from=2&to=2":     {"From revision 2 to revision 2"},
		page + "/rollback?message=x":  {"⚠ The new revision may be deployed because of 2 waivers."},
		"/ui/audit":                   {"waived a validation of revision 2", "posted a result of review-validation for revision 2"},
		"/ui/revisions/tag:nothing":   {"Not found"},
		"/ui/revisions/2/validations": {"Not found"},
	} {
		got := b.get(t, target)
		got.shows(t, parts...)
		wellFormed(t, target, got)
		if strings.Contains(got.text, `<div class="verdict ok`) || strings.Contains(got.visible(t), "2 ✓ success") {
			t.Errorf("%s shows the revision in green:\n%s", target, got.text)
		}
	}

	// A rollback takes the waivers along, and its preview says so.
	s.put(t, "site", host("cmp-1", 3))
	back := b.get(t, page+"/rollback")
	back.shows(t, "⚠ The new revision may be deployed because of 2 waivers.", "hosts-validation ○ missing ⚠ waived "+by)
	b.get(t, "/ui/").shows(t, "Compare with revision 2, the newest that may be deployed (because of 2 waivers)")
	b.send(t, http.MethodPost, page+"/rollback", back.form(t, page+"/rollback")).is(t, http.StatusSeeOther)
	b.get(t, "/ui/revisions/4").shows(t, "⚠ Revision 4 may be deployed because of 2 waivers", "carried over from revision 2")

	var end string
	for n := range b.get(t, page).tree(t).Descendants() {
		if to, _ := attr(n, "action"); n.Type == html.ElementNode && strings.HasSuffix(to, "/end") {
			end = to // the last one: of hosts-validation
		}
	}
	fields := b.get(t, page).form(t, end)
	for range 2 { // reloading changes nothing
		b.send(t, http.MethodPost, end, fields, "Sec-Fetch-Site", "same-origin").is(t, http.StatusSeeOther)
	}
	b.get(t, page).shows(t, "Revision 2 may not be deployed", "hosts-validation ended now by Ada", "drydock-validation ✗ failure ⚠ waived")
	b.get(t, "/ui/audit").shows(t, "ended waiver 1 of revision 2")
	fields.Set("stamp", "0123456789abcdef")
	b.send(t, http.MethodPost, end, fields, "Sec-Fetch-Site", "same-origin").is(t, http.StatusPreconditionFailed)
}

// A result that was carried over says from where, of when and with which inputs.
func TestJudging_carried(t *testing.T) {
	t.Parallel()
	s := tried(t)
	s.call(t, http.MethodPost, "revisions/2/validations/drydock-validation",
		"{status: success, validator: {name: d, version: '1'}, inputs: {schemas: [acme/Host/*]}}")
	s.put(t, "other", doc("acme/Other/v1", "o", "cleartext", "", "{a: 1}"))
	b := s.as(t, "admin")
	const carried = `carried over from revision 2 · while these stay the same: {"schemas":["acme/Host/*"]}`
	for _, target := range []string{"/ui/", "/ui/revisions/3", "/ui/revisions/3/validations/drydock-validation?entry=0"} {
		b.get(t, target).is(t, http.StatusOK).shows(t, carried)
	}
	b.get(t, "/ui/revisions/3/validations/drydock-validation").shows(t, carried, "result 0 carried over from revision 2, of now")
}

// The forms are for those who may send them, about what others validate and policies require, and not in compat mode.
func TestJudging_rights(t *testing.T) {
	t.Parallel()
	s := tried(t)
	s.call(t, http.MethodPost, "revisions/2/validations/extra-validation", "{status: failure, validator: {name: x, version: '1'}}")
	const base = "/ui/revisions/2/validations/"
	for _, c := range []struct{ user, name, has, lacks string }{
		{"admin", "drydock-validation", "/result /request /waivers", ""},
		{"admin", "hosts-validation", "/result /waivers", "/request"},
		{"admin", "power-validation", "/result /request", "/waivers"},
		{"admin", "network-validation", "", "/result /request /waivers"},
		{"admin", "extra-validation", "", "/result /request /waivers"},
		{"admin", "deckhand-schema-validation", "", "/result /request /waivers"},
		{"reader", "drydock-validation", "", "/result /request /waivers"},
	} {
		text := s.as(t, c.user).get(t, base+c.name).is(t, http.StatusOK).text
		for step := range strings.FieldsSeq(c.has) {
			if !strings.Contains(text, `action="`+base+c.name+step+`"`) {
				t.Errorf("%s may not %s %s", c.user, step, c.name)
			}
		}
		for step := range strings.FieldsSeq(c.lacks) {
			if strings.Contains(text, `action="`+base+c.name+step+`"`) {
				t.Errorf("%s may %s %s", c.user, step, c.name)
			}
		}
	}
	reader, admin := s.as(t, "reader"), s.as(t, "admin")
	for _, step := range []string{"validations/hosts-validation/result", "validations/hosts-validation/request", "validations/hosts-validation/waivers", "waivers/1/end"} {
		fields := url.Values{"status": {"success"}, "message": {"m"}, "for": {"P1D"}}
		reader.send(t, http.MethodPost, "/ui/revisions/2/"+step, fields, "Sec-Fetch-Site", "same-origin").is(t, http.StatusForbidden)
		admin.send(t, http.MethodPost, "/ui/revisions/2/"+step, fields, "Sec-Fetch-Site", "cross-site").is(t, http.StatusForbidden)
		s.browser(t).send(t, http.MethodPost, "/ui/revisions/2/"+step, fields).is(t, http.StatusSeeOther)
	}
	admin.get(t, base+"hosts-validation").shows(t, "○ missing")
	old := broken(t, func(config *api.Config) { config.Compat = true }).as(t, "admin")
	page := old.get(t, "/ui/revisions/3").is(t, http.StatusOK)
	page.shows(t, "Post a result")
	if strings.Contains(page.text, "#act") || strings.Contains(old.get(t, "/ui/revisions/3/validations/drydock-validation").text, `id="act"`) {
		t.Error("the forms are there in compat mode")
	}
	for _, step := range []string{"result", "request", "waivers"} {
		old.send(t, http.MethodPost, "/ui/revisions/3/validations/drydock-validation/"+step, url.Values{"message": {"m"}}, "Sec-Fetch-Site", "same-origin").
			is(t, http.StatusNotFound)
	}
}
