package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"purser/api"
)

// sharing is a server with the site shared, whose bucket layers has a host of rack 99, and three sites of the type
// foundry: new1 and new2 of the waves 1 and 3, which take it, and bad1 of wave 2, whose racks end at 40. All users may
// read all sites.
func sharing(t *testing.T, adapt ...func(*api.Config)) *site {
	t.Helper()
	s := newSite(t, adapt...)
	s.call(t, http.MethodPut, "/sites/shared", "{}")
	for i, name := range []string{"new1", "bad1", "new2"} {
		s.call(t, http.MethodPut, "/sites/"+name, fmt.Sprintf("labels: {type: foundry, wave: '%d'}", i+1))
	}
	s.call(t, http.MethodPut, "/sites/bad1/api/v1.0/buckets/control/documents", hostSchema)
	for _, rack := range []int{1, 99} {
		s.call(t, http.MethodPut, "/sites/shared/api/v1.0/buckets/layers/documents", layers+"\n"+host("cmp-1", rack))
	}
	return s
}

// foundry is the form of a push to the sites of the type foundry, in waves.
func foundry(pairs ...string) url.Values {
	form := url.Values{
		"from": {"shared@latest"}, "bucket": {"layers"}, "label": {"type=foundry", ""}, "waves": {"wave"}, "failures": {"1"},
		"deleted": {"0"}, "message": {""},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// startOf returns where the form leads that makes the change of a dry run.
func (a answer) startOf(t *testing.T) string {
	t.Helper()
	for n := range a.tree(t).Descendants() {
		if to, _ := attr(n, "action"); n.Data == "form" && strings.HasPrefix(to, "/ui/fleet/start?") {
			return to
		}
	}
	t.Fatalf("there is no form that makes the change:\n%s", a.visible(t))
	return ""
}

// A push asks all sites, changes them in waves until one would fail, and the pages then say which follow the source.
func TestFleet(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	b := s.as(t, "admin")
	form := b.get(t, "/ui/fleet?label=type%3Dfoundry&from=shared%40latest").is(t, http.StatusOK)
	wellFormed(t, "form", form)
	form.shows(t, "Copy a bucket to many sites", "Sites that follow shared", "None that you may see")
	if got := form.form(t, "/ui/fleet"); got.Get("from") != "shared@latest" || got.Get("failures") != "1" || got.Get("deleted") != "0" {
		t.Errorf("the form has %v", got)
	}

	dry := b.send(t, http.MethodPost, "/ui/fleet", foundry(), "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	wellFormed(t, "dry run", dry)
	dry.shows(t, "shared@latest is revision 2 of shared", "of 3 sites", "2 would change, and become success new1 new2",
		"1 would FAIL [acme/Host/v1, site] cmp-1 .data.rack: 99 is greater than the maximum of 40 bad1", "Copy to 2 sites",
		"Each site is asked once more, and changed unless it would fail. 1 site would not be changed: after 1 of these, no further site is begun.")
	const preview = "/sites/bad1/ui/copy?bucket=layers&from=shared%402%2Flayers"
	if links := dry.links(t, "/ui/fleet"); !slices.Contains(links, preview) {
		t.Errorf("no link leads to %s: %q", preview, links)
	}
	b.get(t, preview).is(t, http.StatusOK).shows(t, "may not be deployed", "99 is greater than the maximum of 40")
	if rows := b.get(t, "/ui/?follows=shared").is(t, http.StatusOK).rows(t); len(rows) > 0 {
		t.Errorf("a dry run has changed sites: %q", rows)
	}

	// The change is of the revision that the dry run was about.
	s.call(t, http.MethodPut, "/sites/shared/api/v1.0/buckets/layers/documents", layers+"\n"+host("cmp-1", 98))
	start := dry.startOf(t)
	done := b.send(t, http.MethodPost, start, url.Values{}, "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	wellFormed(t, "start", done)
	done.shows(t, "is revision 2 of shared", "1 changed, and became success new1", "1 would FAIL",
		"Stopped after 1 failure: 1 site not begun.", "Not begun: 1 site of wave 3")
	if strings.Contains(done.text, "<form class") {
		t.Errorf("the end offers to begin:\n%s", done.visible(t))
	}
	want := []string{"new1 ✓ success layers from shared @2/ layers behind: 1 1 2"}
	for _, target := range []string{"/ui/?follows=shared", "/ui/fleet?from=shared"} {
		page := b.get(t, target).is(t, http.StatusOK)
		wellFormed(t, target, page)
		if rows := page.rows(t); len(rows) != 1 || !strings.HasPrefix(rows[0], want[0]) {
			t.Errorf("%s: %q, want %q", target, rows, want)
		}
	}

	// Again: what is done stays, and more failures let it come to the end.
	again := strings.Replace(start, "failures=1", "failures=2", 1)
	b.send(t, http.MethodPost, again, url.Values{}).is(t, http.StatusOK).shows(t, "1 did not change new1", "1 changed, and became success new2")
	latest := b.send(t, http.MethodPost, "/ui/fleet", url.Values{"from": {"shared@latest/layers"}, "followers": {"true"}}).is(t, http.StatusOK)
	latest.shows(t, "2 would change, and stay success new1 new2")
	if text := latest.visible(t); strings.Contains(text, "bad1") {
		t.Errorf("a site is asked that does not follow:\n%s", text)
	}
	b.send(t, http.MethodPost, strings.Replace(start, "stamp=", "stamp=0", 1), url.Values{}).is(t, http.StatusConflict).
		shows(t, "Revision 2 of shared is another one", "Copy a bucket to many sites")
}

// What is wrong with a form is said on the page of the form, which keeps what was entered.
func TestFleet_refused(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	s.call(t, http.MethodPut, "/sites/shared/api/v1.0/buckets/control/documents", hostSchema) // revision 3 is a failure
	b := s.as(t, "admin")
	for name, c := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{
		"no revision":       {foundry("from", "shared"), http.StatusBadRequest, "The source must be SITE@REVISION"},
		"no bucket":         {foundry("bucket", ""), http.StatusBadRequest, "Name the bucket"},
		"no sites":          {foundry("label", ""), http.StatusBadRequest, "Name the sites"},
		"no label":          {foundry("label", "type"), http.StatusBadRequest, "KEY=VALUE"},
		"of no site":        {foundry("label", "type=x"), http.StatusBadRequest, "has the labels type=x"},
		"nobody follows":    {foundry("followers", "true"), http.StatusBadRequest, "that follows bucket layers of shared"},
		"no failures":       {foundry("failures", "0"), http.StatusBadRequest, "at least 1"},
		"no number":         {foundry("deleted", "some"), http.StatusBadRequest, "empty for any number"},
		"unknown site":      {foundry("from", "nowhere@1"), http.StatusNotFound, "nowhere"},
		"unknown revision":  {foundry("from", "shared@9"), http.StatusNotFound, "9"},
		"not a success":     {foundry("success", "true"), http.StatusConflict, "Revision 3 of shared is a failure, and the form asks for a success"},
		"not printable":     {foundry("bucket", "a\u202eb", "label", "type=x"), http.StatusBadRequest, "has the labels"},
		"much of one thing": {foundry("from", "shared@9", "message", strings.Repeat("'", 4000)), http.StatusNotFound, "9"},
	} {
		for _, target := range []string{"/ui/fleet", "/ui/fleet/start"} {
			page := b.send(t, http.MethodPost, target, c.form)
			if page.StatusCode != c.status {
				t.Errorf("%s: status %d", name, page.StatusCode)
			}
			wellFormed(t, name, page)
			page.shows(t, c.says)
			if got := page.form(t, "/ui/fleet"); got.Get("waves") != "wave" || got.Get("message") != c.form.Get("message") {
				t.Errorf("%s: the form keeps %v", name, got)
			}
		}
	}
	b.send(t, http.MethodPost, "/ui/fleet", foundry("message", strings.Repeat("x", 5000))).is(t, http.StatusBadRequest)
	b.send(t, http.MethodPost, "/ui/fleet", foundry(), "Sec-Fetch-Site", "cross-site").is(t, http.StatusForbidden)
	out := s.browser(t).send(t, http.MethodPost, "/ui/fleet/start?from=shared%402&failures=1", url.Values{}).is(t, http.StatusSeeOther)
	if to := out.Header.Get("Location"); to != "/ui/sign-in?next=%2Fui%2Ffleet%3Ffrom%3Dshared%25402%26failures%3D1" {
		t.Errorf("sent to %q", to)
	}
}

// The pages are for users who see several sites; what they may not do there, each site says.
func TestFleet_rights(t *testing.T) {
	t.Parallel()
	s := sharing(t, ofSite(t))
	reader := s.as(t, "reader")
	reader.get(t, "/ui/fleet").is(t, http.StatusOK)
	reader.send(t, http.MethodPost, "/ui/fleet", foundry()).is(t, http.StatusOK).shows(t, "3 would be refused", "No site would be changed")
	atl := s.as(t, "atl") // who may read no site
	for _, of := range []struct {
		*browser

		target string
	}{
		{atl, "/ui/fleet"}, {reader, "/sites/shared/ui/fleet"},
	} {
		of.get(t, of.target).is(t, http.StatusNotFound)
		of.send(t, http.MethodPost, of.target, foundry()).is(t, http.StatusNotFound)
	}
	if text := atl.get(t, "/ui/").text; strings.Contains(text, `ui/fleet"`) {
		t.Errorf("a user who sees no sites is led to the page:\n%s", text)
	}
	if text := s.as(t, "admin").get(t, "/ui/").text; !strings.Contains(text, `href="/ui/fleet"`) {
		t.Errorf("no link leads to the page:\n%s", text)
	}
	reader.get(t, "/sites/new1/ui/copy?from=shared%402&bucket=layers").is(t, http.StatusForbidden)
	one := newSite(t)
	one.as(t, "admin").get(t, "/ui/fleet").is(t, http.StatusNotFound).shows(t, "you may see one site only")
	compat := newSite(t, func(config *api.Config) { config.Compat = true }).as(t, "admin")
	for _, target := range []string{"/ui/fleet", "/ui/copy"} {
		compat.get(t, target).is(t, http.StatusNotFound)
	}
}

// onPut calls a function for the first change that is made of a site, before the API does.
func (s *site) onPut(call func()) {
	var once sync.Once
	handler := s.calls.Handler
	s.calls.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && r.URL.Query().Get("dry-run") == "" {
			once.Do(call)
		}
		handler.ServeHTTP(w, r)
	})
}

// followers returns the rows of the sites that follow shared.
func (b *browser) followers(t *testing.T) (names []string) {
	t.Helper()
	for _, row := range b.get(t, "/ui/?follows=shared").is(t, http.StatusOK).rows(t) {
		name, _, _ := strings.Cut(row, " ")
		names = append(names, name)
	}
	return names
}

// Once the browser has disconnected, the site that was begun is finished, and no other one is begun.
func TestFleet_brokenOff(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	b := s.as(t, "admin")
	start := b.send(t, http.MethodPost, "/ui/fleet", foundry("failures", "9")).is(t, http.StatusOK).startOf(t)
	ctx, disconnect := context.WithCancel(t.Context())
	s.onPut(disconnect)
	b.sendTo(ctx, t, httptest.NewRecorder(), start)
	if got := b.followers(t); !slices.Equal(got, []string{"new1"}) {
		t.Errorf("changed %q", got)
	}
}

// sendTo sends a form without fields.
func (b *browser) sendTo(ctx context.Context, t *testing.T, w http.ResponseWriter, target string) {
	t.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "https://purser.example"+target, http.NoBody)
	for _, cookie := range b.jar.Cookies(r.URL) {
		r.AddCookie(cookie)
	}
	b.pages.ServeHTTP(w, r)
}

// idle tells when a part of a page is sent that has nothing new.
type idle struct {
	*httptest.ResponseRecorder

	told func()
}

func (i idle) Write(text []byte) (int, error) {
	if len(text) == 0 {
		i.told()
	}
	return i.ResponseRecorder.Write(text)
}

// When the server stops, the site that was begun is finished, and the page says which were not begun.
func TestFleet_stopping(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	b := s.as(t, "admin")
	start := b.send(t, http.MethodPost, "/ui/fleet", foundry("failures", "9")).is(t, http.StatusOK).startOf(t)
	noticed := make(chan struct{})
	s.onPut(func() {
		close(s.stop)
		<-noticed
	})
	w := idle{httptest.NewRecorder(), sync.OnceFunc(func() { close(noticed) })}
	b.sendTo(t.Context(), t, w, start)
	page := answer{w.Result(), w.Body.String()}
	page.is(t, http.StatusOK).shows(t, "1 changed, and became success new1", "The server is stopping: 2 sites not begun.",
		"Not begun: 1 site of wave 2", "Not begun: 1 site of wave 3")
	if got := b.followers(t); !slices.Equal(got, []string{"new1"}) {
		t.Errorf("changed %q", got)
	}
}

// The page of one site shows what a copy would change, also in rendered documents, and copies in the state that it was
// about.
func TestCopy(t *testing.T) {
	t.Parallel()
	s := sharing(t)
	b := s.as(t, "admin")
	const base = "/sites/new1/ui/copy"
	empty := b.get(t, base).is(t, http.StatusOK)
	wellFormed(t, "form", empty)
	empty.shows(t, "Copy a bucket from another site")
	for query, says := range map[string]string{
		"?from=nowhere%401&bucket=layers": "nowhere", "?from=shared%409&bucket=layers": "9", "?from=shared%402&bucket=none": "none",
		"?from=shared&bucket=layers": "SITE@REVISION", "?from=new1%401&bucket=layers": "names the site that the request changes",
	} {
		page := b.get(t, base+query).is(t, http.StatusOK)
		wellFormed(t, query, page)
		page.shows(t, says)
		page.form(t, base)
	}
	const target = base + "?bucket=layers&from=shared%402"
	s.call(t, http.MethodPut, "/sites/new1/api/v1.0/buckets/layers/documents", layers+"\n"+host("cmp-1", 7))
	page := b.get(t, target, "Sec-Fetch-Site", "same-origin").is(t, http.StatusOK)
	wellFormed(t, target, page)
	page.shows(t, "Copy shared@2 to bucket layers ?", "The new revision may be deployed", "changed acme/Host/v1 cmp-1",
		"What changes in rendered documents", "1 document: 0 added, 1 changed", "− rack: 7", "+ rack: 99")
	b.get(t, target, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors").is(t, http.StatusForbidden)
	form := page.form(t, target)
	late := b.get(t, target).form(t, target)
	form.Set("message", "as agreed")
	done := b.send(t, http.MethodPost, target, form, "Sec-Fetch-Site", "same-origin").is(t, http.StatusSeeOther)
	if to := done.Header.Get("Location"); to != "/sites/new1/ui/revisions/2" {
		t.Errorf("sent to %q", to)
	}
	b.get(t, "/sites/new1/ui/revisions/2").shows(t, "as agreed")
	same := b.get(t, "/sites/new1/ui/copy?bucket=layers&from=shared%40latest").is(t, http.StatusOK)
	same.shows(t, "The bucket has these documents already. A copy only notes that it follows shared@latest .")
	b.send(t, http.MethodPost, "/sites/new1/ui/copy?bucket=layers&from=shared%40latest",
		same.form(t, "/sites/new1/ui/copy?bucket=layers&from=shared%40latest")).is(t, http.StatusSeeOther)
	if got := b.followers(t); !slices.Equal(got, []string{"new1"}) {
		t.Errorf("%q follow", got)
	}
	b.send(t, http.MethodPost, target, late).is(t, http.StatusPreconditionFailed) // there is a newer revision
	out := s.browser(t).send(t, http.MethodPost, target, form).is(t, http.StatusSeeOther)
	if to := out.Header.Get("Location"); to != "/ui/sign-in?next=%2Fsites%2Fnew1%2Fui%2Fcopy%3Fbucket%3Dlayers%26from%3Dshared%25402" {
		t.Errorf("sent to %q", to)
	}
}
