package web_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// form returns the fields of the form with the given action, as a browser would send them.
func (a answer) form(t *testing.T, action string) url.Values {
	t.Helper()
	for n := range a.tree(t).Descendants() {
		if to, _ := attr(n, "action"); n.Type != html.ElementNode || n.Data != "form" || to != action {
			continue
		}
		return fields(n)
	}
	t.Fatalf("there is no form for %s:\n%s", action, a.text)
	return nil
}

// fields returns the fields of a form with their values; those of a select are empty.
func fields(form *html.Node) url.Values {
	all := url.Values{}
	for below := range form.Descendants() {
		if name, ok := attr(below, "name"); ok {
			value, _ := attr(below, "value")
			all.Set(name, value)
		}
	}
	return all
}

func TestActing(t *testing.T) {
	t.Parallel()
	s := broken(t)
	b := s.as(t, "admin")
	const page = "/ui/revisions/2"
	send := func(action string, status int, pairs ...string) answer {
		t.Helper()
		fields := b.get(t, page).is(t, http.StatusOK).form(t, page+action)
		for i := 0; i+1 < len(pairs); i += 2 {
			fields.Set(pairs[i], pairs[i+1])
		}
		return b.send(t, http.MethodPost, page+action, fields, "Sec-Fetch-Site", "same-origin").is(t, status)
	}
	const tag, remove = "good/\u202eone", "/tags/delete?name=good%2F%E2%80%AEone"
	send("/tags", http.StatusSeeOther, "name", tag)
	b.get(t, page).shows(t, "good/⟨U+202E⟩one")
	b.get(t, "/ui/revisions/tag:"+url.PathEscape(tag)).is(t, http.StatusOK).shows(t, "Revision 2")
	for _, none := range []string{"", "%20"} { // which must not mean all tags
		b.send(t, http.MethodPost, page+"/tags/delete?name="+none, b.get(t, page).form(t, page+remove), "Sec-Fetch-Site", "same-origin")
		b.get(t, page).shows(t, "good/⟨U+202E⟩one")
	}
	send(remove, http.StatusSeeOther)
	if strings.Contains(b.get(t, page).text, "good/") {
		t.Error("the tag is still there")
	}
	send("/tags", http.StatusPreconditionFailed, "name", "late", "stamp", "0123456789abcdef")

	send("/validations", http.StatusSeeOther, "name", "drydock-validation", "status", "failure", "message", "no disk")
	b.get(t, page).shows(t, "Revision 2 may not be deployed", "no disk")
	send("/validations", http.StatusSeeOther, "name", "drydock-validation", "status", "success")
	b.get(t, page).shows(t, "Revision 2 may be deployed")
	send("/validations", http.StatusBadRequest, "name", "drydock-validation", "status", "perhaps")

	preview := send("/rollback", http.StatusOK, "message", "as before")
	preview.shows(t, "Roll back to revision 2?", "changed acme/Host/v1 cmp-2", "The new revision may be deployed")
	wellFormed(t, "rollback", preview)
	if got := b.get(t, "/ui/revisions/4").StatusCode; got != http.StatusNotFound {
		t.Fatalf("the preview has made a revision: status %d", got)
	}
	fields := preview.form(t, page+"/rollback")
	done := b.send(t, http.MethodPost, page+"/rollback", fields).is(t, http.StatusSeeOther)
	if to := done.Header.Get("Location"); to != "/ui/revisions/4" {
		t.Errorf("sent to %q", to)
	}
	b.get(t, "/ui/").shows(t, "Revision 4 may be deployed", "rollback to 2", "as before")
	b.send(t, http.MethodPost, page+"/rollback", fields).is(t, http.StatusPreconditionFailed) // there is a newer one
	b.get(t, "/ui/audit").shows(t, "POST /api/v1.0/rollback/2", "Ada")
}

// TestActing_forbidden checks that a reader sees no forms, and that submitting one is refused anyway.
func TestActing_forbidden(t *testing.T) {
	t.Parallel()
	s := broken(t)
	reader := s.as(t, "reader")
	if text := reader.get(t, "/ui/revisions/2").is(t, http.StatusOK).text; strings.Contains(text, `action="/ui/revisions`) {
		t.Errorf("the reader is shown a form:\n%s", text)
	}
	for action, fields := range map[string]url.Values{
		"tags": {"name": {"x"}}, "tags/delete": {"name": {"x"}}, "rollback": {"head": {""}},
		"validations": {"name": {"x-validation"}, "status": {"success"}},
	} {
		reader.send(t, http.MethodPost, "/ui/revisions/2/"+action, fields).is(t, http.StatusForbidden)
		s.as(t, "admin").send(t, http.MethodPost, "/ui/revisions/2/"+action, fields, "Sec-Fetch-Site", "cross-site").
			is(t, http.StatusForbidden)
		out := s.browser(t).send(t, http.MethodPost, "/ui/revisions/2/"+action, fields).is(t, http.StatusSeeOther)
		if to := out.Header.Get("Location"); to != "/ui/sign-in?next=%2Fui%2Frevisions%2F2" {
			t.Errorf("%s: sent to %q", action, to)
		}
	}
	if text := s.as(t, "admin").get(t, "/ui/").text; !strings.Contains(text, "Revision 3") {
		t.Errorf("something has changed:\n%s", text)
	}
}

// The stream of events can be read over a connection.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := broken(t)
	server := httptest.NewServer(s.pages)
	t.Cleanup(server.Close)
	get := func(cookies []*http.Cookie) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/ui/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		got, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = got.Body.Close() })
		return got
	}
	if got := get(nil); got.StatusCode != http.StatusUnauthorized { //nolint:bodyclose // get closes it
		t.Errorf("status %d without a session", got.StatusCode)
	}
	signed := s.browser(t).send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {"reader"}})
	stream := get(signed.Cookies()) //nolint:bodyclose // the same
	if kind := stream.Header.Get("Content-Type"); stream.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("status %d, %s", stream.StatusCode, kind)
	}
	lines := bufio.NewScanner(stream.Body)
	lines.Scan() // the stream has begun
	s.put(t, "site", host("cmp-1", 5))
	for lines.Scan() {
		if lines.Text() == "event: purser.revision.created" {
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}
