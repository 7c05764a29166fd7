package web_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
)

// ofSite lets the users atl and bos read one site each, and the user none nothing.
func ofSite(t *testing.T) func(*api.Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	rules := strings.ReplaceAll(policy, `role:reader"`, `role:reader or role:reader-%(site)s"`)
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := authz.Open(path, authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return func(config *api.Config) {
		config.Access.Rules = opened
		known, _ := config.Access.Authenticator.(people)
		for _, site := range []string{"atl", "bos", "none"} {
			known[site] = authn.Caller{UserID: site, UserName: site, Roles: []string{"reader-" + site + "1"}}
		}
	}
}

// fleet is a server with the sites default, which passes and has 1 revision, atl1, which fails and has 3, and bos1,
// which is empty.
func fleet(t *testing.T, adapt ...func(*api.Config)) *site {
	t.Helper()
	s := newSite(t, adapt...)
	s.put(t, "control", hostSchema, layers)
	s.call(t, http.MethodPut, "/sites/atl1", "labels: {region: us-east, wave: '1'}")
	s.call(t, http.MethodPut, "/sites/bos1", "labels: {region: us-east, wave: '2'}")
	s.call(t, http.MethodPut, "/sites/atl1/api/v1.0/buckets/control/documents", hostSchema+"\n"+layers)
	for _, rack := range []int{2, 99} {
		s.call(t, http.MethodPut, "/sites/atl1/api/v1.0/buckets/site/documents", host("cmp-1", rack))
	}
	for _, prefix := range []string{"", "/sites/atl1"} { // which is when lists of sites have the verdicts
		s.call(t, http.MethodGet, prefix+"/api/v1.0/events?since=now", "")
	}
	return s
}

// rows returns the rows of the page's table.
func (a answer) rows(t *testing.T) (rows []string) {
	t.Helper()
	for n := range a.tree(t).Descendants() {
		if n.Type != html.ElementNode || n.Data != "tr" {
			continue
		}
		var b strings.Builder
		for below := range n.Descendants() {
			if below.Type == html.TextNode {
				b.WriteString(below.Data + " ")
			}
		}
		rows = append(rows, strings.Join(strings.Fields(b.String()), " "))
	}
	return rows[min(1, len(rows)):]
}

// With one site the first page is the overview, and no page names the site; with several it is their list.
func TestSites(t *testing.T) {
	t.Parallel()
	one := newSite(t)
	one.put(t, "control", hostSchema, layers)
	if text := one.as(t, "admin").get(t, "/ui/").is(t, http.StatusOK).text; !strings.Contains(text, "Revision 1 may be deployed") ||
		strings.Contains(text, ">Sites<") || strings.Contains(text, "default") {
		t.Errorf("the overview of the only site:\n%s", text)
	}
	s := fleet(t, ofSite(t))
	for user, c := range map[string]struct {
		query string
		want  []string // sites
	}{
		"admin":  {"", []string{"atl1 ✗ failure 3", "default ✓ success 1", "bos1 no revision 0"}},
		"reader": {"?status=success&label=", []string{"default ✓ success"}},
		"atl":    {"?label=region%3Dus-east&label=wave%3D1", []string{"atl1 ✗ failure"}},
		"bos":    {"?status=failure", nil},
	} {
		page := s.as(t, user).get(t, "/ui/"+c.query).is(t, http.StatusOK)
		wellFormed(t, user, page)
		rows := page.rows(t)
		if !slices.EqualFunc(rows, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", user, rows, c.want)
		}
	}
	b := s.as(t, "admin")
	b.get(t, "/ui/").shows(t, "region=us-east wave=1")
	b.get(t, "/ui/?label=region").is(t, http.StatusOK).shows(t, "KEY=VALUE")
	b.get(t, "/sites/atl1/ui/").is(t, http.StatusOK).shows(t, "Site atl1", "Revision 3 may not be deployed")
	b.get(t, "/sites/default/ui/").is(t, http.StatusOK).shows(t, "Site default", "Revision 1 may be deployed")
	b.get(t, "/ui/revisions").is(t, http.StatusOK).shows(t, "Site default")
	b.get(t, "/sites/bos1/ui/").is(t, http.StatusOK).shows(t, "purser push --server https://purser.example/sites/bos1 site")
	if to := b.get(t, "/sites/atl1/ui").is(t, http.StatusPermanentRedirect).Header.Get("Location"); to != "/sites/atl1/ui/" {
		t.Errorf("sent to %q", to)
	}
	// Who has no right in a site gets the same page, whether it exists or not.
	var texts []string
	for _, name := range []string{"bos1", "cos1"} {
		page := s.as(t, "atl").get(t, "/sites/"+name+"/ui/revisions/1").is(t, http.StatusNotFound)
		wellFormed(t, name, page)
		texts = append(texts, strings.ReplaceAll(page.text, name, "NAME"))
	}
	if texts[0] != texts[1] {
		t.Errorf("a site shows that it exists:\n%s\n%s", texts[0], texts[1])
	}
	if to := s.browser(t).get(t, "/sites/nowhere/ui/search?q=a").is(t, http.StatusSeeOther).Header.Get("Location"); to != "/ui/sign-in?next=%2Fsites%2Fnowhere%2Fui%2Fsearch%3Fq%3Da" {
		t.Errorf("sent to %q", to)
	}
	s.as(t, "none").get(t, "/sites/atl1/ui/").is(t, http.StatusNotFound)
}

// All links, forms and files of the pages of a site stay below its path.
func TestSites_links(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	b := s.as(t, "admin")
	const base = "/sites/atl1/ui/"
	shared := map[string]bool{"/ui/": true}
	crawled := b.crawlFrom(t, base, 120, func(target string, page answer) {
		page.is(t, http.StatusOK)
		if !strings.HasPrefix(target, base) || !strings.HasPrefix(page.Header.Get("Content-Type"), "text/html") {
			return
		}
		wellFormed(t, target, page)
		for n := range page.tree(t).Descendants() {
			if to, ok := attr(n, "action"); ok && !strings.HasPrefix(to, base) && to != "/ui/sign-out" {
				t.Errorf("%s: a form is sent to %s", target, to)
			}
		}
		for _, link := range page.links(t, target) {
			if !strings.HasPrefix(link, base) && !shared[link] && !strings.HasPrefix(link, "/ui/static/") {
				t.Errorf("%s: a link leads to %s", target, link)
			}
		}
	})
	for _, page := range []string{"revisions/3", "revisions/latest/graph", "search", "compare", "audit", "upload", "settings"} {
		if !crawled[base+page] {
			t.Errorf("no link leads to %s", page)
		}
	}
}

// Forms change the site that they are about, and lead to pages of it.
func TestSites_forms(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	b := s.as(t, "admin")
	const base = "/sites/atl1/ui/"
	send := func(page, action string, pairs ...string) string {
		t.Helper()
		fields := b.get(t, base+page).is(t, http.StatusOK).form(t, base+action)
		for i := 0; i+1 < len(pairs); i += 2 {
			fields.Set(pairs[i], pairs[i+1])
		}
		got := b.send(t, http.MethodPost, base+action, fields, "Sec-Fetch-Site", "same-origin").is(t, http.StatusSeeOther)
		return got.Header.Get("Location")
	}
	if to := send("revisions/2", "revisions/2/tags", "name", "good"); to != base+"revisions/2#tags" {
		t.Errorf("sent to %q", to)
	}
	if to := send("revisions/2/rollback", "revisions/2/rollback"); to != base+"revisions/4" {
		t.Errorf("sent to %q", to)
	}
	b.get(t, base).shows(t, "Revision 4 may be deployed", "rollback to 2")
	b.get(t, base+"revisions/tag:good").is(t, http.StatusOK)
	b.get(t, "/sites/default/ui/revisions/2").is(t, http.StatusNotFound)
	b.get(t, "/ui/revisions/tag:good").is(t, http.StatusNotFound)
	b.get(t, base+"revisions/4/document.yaml?schema=acme/Host/v1&layer=site&name=cmp-1").is(t, http.StatusOK).shows(t, "cmp-1")
	b.send(t, http.MethodPost, base+"revisions/2/tags", url.Values{"name": {"x"}}, "Sec-Fetch-Site", "cross-site").is(t, http.StatusForbidden)
	out := s.browser(t).send(t, http.MethodPost, base+"revisions/2/tags", url.Values{"name": {"x"}}).is(t, http.StatusSeeOther)
	if to := out.Header.Get("Location"); to != "/ui/sign-in?next=%2Fsites%2Fatl1%2Fui%2Frevisions%2F2" {
		t.Errorf("sent to %q", to)
	}
}

// The stream of a site has its events, and none of others.
func TestSites_events(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	server := httptest.NewServer(s.pages)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/sites/bos1/ui/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range s.browser(t).send(t, http.MethodPost, "/ui/sign-in", url.Values{"token": {"reader"}}).Cookies() {
		r.AddCookie(cookie)
	}
	got, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Body.Close() })
	lines := bufio.NewScanner(got.Body)
	lines.Scan() // the stream has begun
	s.put(t, "site", host("cmp-1", 5))
	s.call(t, http.MethodPut, "/sites/bos1/api/v1.0/buckets/b/documents", layers)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			if !strings.Contains(text, "/sites/bos1") {
				t.Errorf("an event of another site: %s", text)
			}
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

// An archived site says so, and its pages offer no changes but the form that opens it.
func TestSites_archived(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	s.call(t, http.MethodPut, "/sites/atl1", "archived: true")
	s.call(t, http.MethodPut, "/sites/bos1", "archived: true")
	b := s.as(t, "admin")
	const base, says = "/sites/atl1/ui/", "The site atl1 is archived"
	b.get(t, "/ui/").shows(t, "atl1 archived")
	for _, page := range []string{"", "revisions/3", "revisions/2", "revisions/3/validations/deckhand-schema-validation", "audit"} {
		got := b.get(t, base+page).is(t, http.StatusOK)
		got.shows(t, says)
		for n := range got.tree(t).Descendants() {
			if method, _ := attr(n, "method"); method == "post" {
				if to, _ := attr(n, "action"); to != "/ui/sign-out" {
					t.Errorf("%s has a form for %s", page, to)
				}
			}
			if to, _ := attr(n, "href"); strings.HasSuffix(to, "/rollback") || strings.HasSuffix(to, "/upload") {
				t.Errorf("%s offers %s", page, to)
			}
		}
	}
	if text := b.get(t, "/sites/bos1/ui/").is(t, http.StatusOK).text; strings.Contains(text, "purser push") {
		t.Errorf("an empty archived site:\n%s", text)
	}
	for page, fields := range map[string]url.Values{
		"revisions/2/tags": {"name": {"x"}}, "revisions/2/rollback": {"head": {""}},
	} {
		b.send(t, http.MethodPost, base+page, fields).is(t, http.StatusConflict).shows(t, "atl1 is archived")
	}
	b.get(t, base+"upload").is(t, http.StatusConflict).shows(t, "archived")
	b.get(t, base+"revisions/2/rollback").is(t, http.StatusConflict).shows(t, "archived")
	form := b.get(t, base+"settings").is(t, http.StatusOK).form(t, base+"settings")
	form.Del("archived")
	b.send(t, http.MethodPost, base+"settings", form).is(t, http.StatusSeeOther)
	if text := b.get(t, base).visible(t); strings.Contains(text, says) || !strings.Contains(text, "Upload") {
		t.Errorf("an open site:\n%s", text)
	}
}

// The settings of a site are a form for those who may manage sites.
func TestSites_settings(t *testing.T) {
	t.Parallel()
	s := fleet(t)
	b := s.as(t, "admin")
	const page = "/sites/atl1/ui/settings"
	s.call(t, http.MethodPut, "/sites/atl1", `{"labels": {"a": "x\u202ey "}, "limits": {"keep": 7}}`, "Content-Type", "application/json")
	shown := b.get(t, page).is(t, http.StatusOK)
	wellFormed(t, page, shown)
	shown.shows(t, "a=x⟨U+202E⟩y")
	form := shown.form(t, page)
	if form.Get("keep") != "7" || form.Get("documents") != "" {
		t.Errorf("the form has %v", form)
	}
	form.Del("archived")
	first := form.Get("was")
	send := func(status int, pairs ...string) answer {
		t.Helper()
		for i := 0; i+1 < len(pairs); i += 2 {
			form.Set(pairs[i], pairs[i+1])
		}
		got := b.send(t, http.MethodPost, page, form, "Sec-Fetch-Site", "same-origin").is(t, status)
		if status != http.StatusSeeOther {
			wellFormed(t, page, got)
		}
		return got
	}
	send(http.StatusBadRequest, "labels", "region", "keep", "").shows(t, "KEY=VALUE", "region")
	kept := send(http.StatusBadRequest, "labels", "a=x\r\nc=z", "documents", "many")
	kept.shows(t, "whole number from 1 to 10000000", "a=x c=z")
	send(http.StatusBadRequest, "labels", strings.Repeat("'", 40_000), "documents", strings.Repeat("'", 3_000)).shows(t, "KEY=VALUE")
	send(http.StatusSeeOther, "labels", "a=x⟨U+202E⟩y \r\nb=2", "documents", "5")
	s.call(t, http.MethodPut, "/sites/atl1", `{"labels": {"a": "x\u202ey ", "b": "2"}, "limits": {"documents": 5}}`, "Content-Type", "application/json")
	if now := b.get(t, "/sites/default/ui/audit").visible(t); strings.Count(now, "PUT /sites/atl1") != 4 {
		t.Errorf("the form has set something else:\n%s", now)
	}
	send(http.StatusConflict, "labels", "a=late").shows(t, "Somebody has changed the settings", "b=2")
	if second := b.get(t, page).form(t, page).Get("was"); second == first {
		t.Error("the digest of other settings is the same")
	}
	reader := s.as(t, "reader")
	reader.get(t, page).is(t, http.StatusForbidden)
	reader.send(t, http.MethodPost, page, form).is(t, http.StatusForbidden)
	if text := reader.get(t, "/sites/atl1/ui/").text; strings.Contains(text, "Settings of the site") {
		t.Errorf("a reader is led to the settings:\n%s", text)
	}
	s.browser(t).send(t, http.MethodPost, page, form).is(t, http.StatusSeeOther)
}

// However long their labels are, a page of sites has at most 150 KB, and one comes to all sites.
func TestSites_worst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var labels []string
	for i := range 20 {
		labels = append(labels, fmt.Sprintf("k%s%02d: %s", strings.Repeat("-", 60), i, quoted(strings.Repeat("\U000E0001", 255))))
	}
	const sites = 130
	for i := range sites {
		s.call(t, http.MethodPut, fmt.Sprintf("/sites/s%s%03d", strings.Repeat("-", 59), i), "labels: {"+strings.Join(labels, ", ")+"}")
	}
	b, seen, pages := s.as(t, "admin"), map[string]bool{}, 0
	long := strings.Repeat("&label="+strings.Repeat("-", 60)+"%3D"+strings.Repeat("'", 1), 70)
	wellFormed(t, "filtered", b.get(t, "/ui/?status=failure"+long).is(t, http.StatusOK))
	wellFormed(t, "filtered", b.get(t, "/ui/?x="+strings.Repeat("'", 4900)).is(t, http.StatusOK))
	for target := "/ui/"; target != ""; pages++ {
		page := b.get(t, target).is(t, http.StatusOK)
		wellFormed(t, target, page)
		target = ""
		for n := range page.tree(t).Descendants() {
			href, _ := attr(n, "href")
			if rel, _ := attr(n, "rel"); rel == "next" {
				target = "/ui/" + href
			}
			if strings.HasPrefix(href, "/sites/s-") {
				seen[href] = true
			}
		}
	}
	if len(seen) != sites || pages < 2 {
		t.Errorf("%d sites on %d pages", len(seen), pages)
	}
	page := "/sites/s" + strings.Repeat("-", 59) + "007/ui/settings"
	form := b.get(t, page).is(t, http.StatusOK).form(t, page)
	form.Del("archived")
	wellFormed(t, page, b.get(t, page))
	var lines []string
	for n := range b.get(t, page).tree(t).Descendants() {
		if n.Data == "textarea" {
			lines = append(lines, n.FirstChild.Data)
		}
	}
	form.Set("labels", strings.Join(lines, ""))
	form.Set("keep", "9")
	b.sendParts(t, page, form).is(t, http.StatusSeeOther)
	form = b.get(t, page).form(t, page)
	if form.Get("keep") != "9" || !strings.Contains(b.get(t, "/ui/").text, "and 12 more") {
		t.Errorf("the form has %q", form.Get("keep"))
	}
	form.Set("labels", strings.Join(lines, "")+"\n"+strings.Repeat("\U000E0001", 10_000))
	got := b.sendParts(t, page, form).is(t, http.StatusBadRequest)
	got.shows(t, "too long to be shown again")
	wellFormed(t, page, got)
}

// A server that behaves like Deckhand has no sites.
func TestSites_compat(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) { config.Compat = true })
	s.put(t, "control", layers)
	b := s.as(t, "admin")
	b.get(t, "/ui/").is(t, http.StatusOK).shows(t, "Revision 1")
	b.get(t, "/ui/settings").is(t, http.StatusNotFound)
	b.get(t, "/sites/default/ui/").is(t, http.StatusNotFound)
}
