package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/sites"
)

// putSite makes or changes a site.
func (s site) putSite(t *testing.T, name, body string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodPut, "/sites/"+name, body, slices.Concat(inYAML, asJSON, header)...)
}

func TestSites(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	const settings = "name: atl1\nlabels: {region: us-east, wave: '1'}\nlimits: {documents: 5, changes: 6, keep: 7}\n"
	made := s.putSite(t, "atl1", settings, "If-None-Match", "*").is(t, http.StatusCreated).mapping(t)
	want := map[string]any{
		"name": "atl1", "labels": map[string]any{"region": "us-east", "wave": "1"},
		"limits":   map[string]any{"documents": 5., "changes": 6., "keep": 7.},
		"archived": false, "revision": 0., "stamp": nil, "status": nil, "documents": 0.,
		"createdAt": made["createdAt"], "changedAt": made["createdAt"],
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(made, s.get(t, "/sites/atl1", asJSON...).is(t, http.StatusOK).mapping(t)); diff != "" {
		t.Errorf("(-made +shown)\n%s", diff)
	}
	s.putSite(t, "atl1", settings, "If-None-Match", "*").isFault(t, http.StatusPreconditionFailed,
		"HTTPPreconditionFailed", "atl1 exists")
	s.putSite(t, "atl1", settings).is(t, http.StatusOK) // which changes nothing
	got := s.putSite(t, "atl1", "{}").is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff([]any{map[string]any{}, map[string]any{}}, []any{got["labels"], got["limits"]}); diff != "" {
		t.Errorf("of settings that are replaced as a whole (-want +got)\n%s", diff)
	}
	first := s.get(t, "/sites/default", asJSON...).is(t, http.StatusOK).mapping(t)
	if first["revision"] != 1. || first["documents"] != 1. || first["stamp"] == nil {
		t.Errorf("the default site: %v", first)
	}
	s.do(t, http.MethodDelete, "/sites/atl1?confirm=atl1", "", asJSON...).isFault(t, http.StatusConflict, "SiteNotArchived")
	s.putSite(t, "atl1", "archived: true").is(t, http.StatusOK)
	for query, word := range map[string]string{"": "confirm", "?confirm=atl2": "must be the name"} {
		s.ask(t, http.MethodDelete, "/sites/atl1"+query, "", asJSON...).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", word)
	}
	s.do(t, http.MethodDelete, "/sites/default?confirm=default", "", asJSON...).isFault(t, http.StatusConflict, "SiteNotDeletable")
	s.do(t, http.MethodDelete, "/sites/atl2?confirm=atl2", "", asJSON...).isFault(t, http.StatusNotFound, "UnknownSite", "did you mean atl1?")
	s.do(t, http.MethodDelete, "/sites/atl1?confirm=atl1", "").is(t, http.StatusAccepted)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		path := "/sites/atl1"
		if method == http.MethodDelete {
			path += "?confirm=atl1"
		}
		body := map[string]string{"PUT": "{}"}[method]
		s.do(t, method, path, body, slices.Concat(inYAML, asJSON)...).isFault(t, http.StatusGone, "SiteDeleted", "atl1")
	}
	s.hasSites(t, "", "default")
}

// The audit of the default site has an entry of each change, and of those that were refused.
// The default site can be archived, and opened again; other sites are made and changed meanwhile.
func TestSites_archivedDefault(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.putSite(t, "default", "archived: true").is(t, http.StatusOK)
	s.put(t, "b", widget("w", "{}")).isFault(t, http.StatusConflict, "SiteArchived")
	s.putSite(t, "atl1", "{}").is(t, http.StatusCreated)
	s.putSite(t, "default", "archived: false").is(t, http.StatusOK)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
}

func TestSites_audit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.putSite(t, "a", "{}").is(t, http.StatusCreated)
	s.putSite(t, "a", "{}").is(t, http.StatusOK)
	s.putSite(t, "a", "archived: true").is(t, http.StatusOK)
	s.putSite(t, "a", "x: 1").is(t, http.StatusBadRequest)
	s.do(t, http.MethodDelete, "/sites/default?confirm=default", "").is(t, http.StatusConflict)
	s.do(t, http.MethodDelete, "/sites/a?confirm=a", "").is(t, http.StatusAccepted) // which is told once nothing is left
	var got []string
	for _, item := range s.get(t, "audit", asJSON...).results(t) {
		entry, _ := item.(map[string]any)
		got = append(got, fmt.Sprint(entry["rule"], " ", entry["method"], " ", entry["target"], " ", entry["status"]))
	}
	want := []string{
		"purser:manage_sites DELETE /sites/default?confirm=default 409", "purser:manage_sites PUT /sites/a 400",
		"purser:manage_sites PUT /sites/a 200", "purser:manage_sites PUT /sites/a 201",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// outage is a store of sites whose next readings of settings fail.
type outage struct {
	sites.Store

	left int
}

// Settings implements sites.Store.
func (o *outage) Settings(ctx context.Context, name string) (sites.Settings, error) {
	if o.left--; o.left >= 0 {
		return sites.Settings{}, fault.New(fault.Unavailable, "HTTPServiceUnavailable", "down")
	}
	return o.Store.Settings(ctx, name)
}

// A request about a site that could not be looked up is in the audit of that site and in no other, if it exists.
func TestSites_auditAfterOutage(t *testing.T) {
	t.Parallel()
	down, now := &outage{}, time.Now()
	s := newSite(t, func(config *api.Config) {
		down.Store = config.Sites.Store
		config.Sites = sites.NewService(down, sites.NewDirectory(down, func() time.Time {
			now = now.Add(time.Minute) // so that nothing is kept
			return now
		}))
	})
	s.putSite(t, "a", "{}").is(t, http.StatusCreated)
	s.putSite(t, "b", "archived: true").is(t, http.StatusCreated)
	s.do(t, http.MethodDelete, "/sites/b?confirm=b", "").is(t, http.StatusAccepted)
	for name, readings := range map[string]int{"a": 1, "b": 1, "c": 1, "default": 2} {
		down.left = readings
		s.do(t, http.MethodDelete, "/sites/"+name+"/api/v1.0/revisions", "").is(t, http.StatusServiceUnavailable)
	}
	down.left = 0
	targets := func(path string) (all []string) {
		for _, item := range s.get(t, path, asJSON...).results(t) {
			entry, _ := item.(map[string]any)
			if entry["status"] == float64(http.StatusServiceUnavailable) {
				all = append(all, entry["target"].(string))
			}
		}
		slices.Sort(all)
		return all
	}
	if got, want := targets("/sites/a/api/v1.0/audit"), []string{"/sites/a/api/v1.0/revisions"}; !slices.Equal(got, want) {
		t.Errorf("the site has %q, want %q", got, want)
	}
	want := []string{"/sites/b/api/v1.0/revisions", "/sites/c/api/v1.0/revisions"}
	if got := targets("audit"); !slices.Equal(got, want) {
		t.Errorf("the default site has %q, want %q", got, want)
	}
}

func TestSites_bad(t *testing.T) {
	t.Parallel()
	s := newSite(t).unchecked()
	for name, c := range map[string]struct {
		site, body string
		header     []string
		errorType  string
		want       []string
	}{
		"a name":         {"Atl1", "{}", nil, "HTTPBadRequest", []string{`"Atl1" cannot be the name of a site`}},
		"no name":        {"-", "{}", nil, "HTTPBadRequest", []string{"cannot be the name"}},
		"no body":        {"a", "", nil, "HTTPBadRequest", []string{"must be a mapping"}},
		"two mistakes":   {"a", "{labels: {wave: 1}, archive: true}", nil, "HTTPBadRequest", []string{`"wave"`, "did you mean archived?"}},
		"a precondition": {"a", "{}", []string{"If-None-Match", `"1"`}, "HTTPInvalidHeader", []string{"It must be *"}},
		"If-Match":       {"a", "{}", []string{"If-Match", `"1"`}, "HTTPInvalidHeader", []string{"the ETag of GET"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.putSite(t, c.site, c.body, c.header...).isFault(t, http.StatusBadRequest, c.errorType, c.want...)
		})
	}
	for query, want := range map[string]string{
		"label=x": "KEY=VALUE", "label=a=1&label=a=2": "once for each key", "status=x": "success", "sort=x": "changedAt",
		"order=up": "asc", "archived=maybe": "true", "limit=1001": "1000", "status=success&status=failure": "only once",
	} {
		s.get(t, "/sites?"+query, asJSON...).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", want)
	}
}

// hasSites checks the names in a list of sites.
func (s site) hasSites(t *testing.T, query string, want ...string) {
	t.Helper()
	s.showsSites(t, query, asJSON, want...)
}

func (s site) showsSites(t *testing.T, query string, header []string, want ...string) {
	t.Helper()
	var got []string
	for _, item := range s.get(t, "/sites"+query, header...).results(t) {
		one, _ := item.(map[string]any)
		got = append(got, fmt.Sprint(one["name"]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", query, diff)
	}
}

func TestSites_list(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.putSite(t, "b", "labels: {region: eu, wave: '1'}").is(t, http.StatusCreated)
	s.putSite(t, "a", "labels: {region: eu, wave: '2'}\narchived: true").is(t, http.StatusCreated)
	s.putSite(t, "c", "labels: {region: us, eq: a=b}").is(t, http.StatusCreated)
	s.hasSites(t, "", "a", "b", "c", "default")
	s.hasSites(t, "?label=region%3Deu", "a", "b")
	s.hasSites(t, "?label=region%3Deu&label=wave%3D2", "a")
	s.hasSites(t, "?label=eq%3Da%3Db", "c")
	s.hasSites(t, "?archived=true", "a")
	s.hasSites(t, "?archived=false&order=desc", "default", "c", "b")
	s.hasSites(t, "?sort=changedAt&order=desc&limit=2", "c", "a")
	s.hasSites(t, "?status=failure")
	page := s.get(t, "/sites?limit=2&offset=1", asJSON...).is(t, http.StatusOK).mapping(t)
	want := []any{siteURL + "/sites?limit=2&offset=3", siteURL + "/sites?limit=1&offset=0"}
	if diff := cmp.Diff(want, []any{page["next"], page["prev"]}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A caller sees the sites in which he may list revisions. The answer about another one is the same whether it exists or
// not, and so is that of a name that is none.
func TestSites_access(t *testing.T) {
	t.Parallel()
	s := byRules(t, authz.AdminsOnly, "'deckhand:list_revisions': role:admin or role:reader-%(site)s\n"+
		"'purser:manage_sites': role:admin or role:owner-%(site)s\n")
	for _, name := range []string{"atl1", "atl2", "bos1"} {
		s.putSite(t, name, "{}", as("admin")...).is(t, http.StatusCreated)
	}
	one := as("reader-atl1", asJSON...)
	s.showsSites(t, "", one, "atl1")
	s.showsSites(t, "", as("reader-none", asJSON...))
	s.showsSites(t, "", as("admin", asJSON...), "atl1", "atl2", "bos1", "default")
	s.get(t, "/sites/atl1", one...).is(t, http.StatusOK)
	answer := func(name string, header []string) string {
		got := s.get(t, "/sites/"+name, header...).is(t, http.StatusNotFound)
		return strings.ReplaceAll(got.text, name, "NAME")
	}
	for _, header := range [][]string{one, as("nobody", asJSON...)} {
		for _, pair := range [][2]string{{"atl2", "atl3"}, {"bos1", "bos2"}, {"default", "defaulu"}} {
			if diff := cmp.Diff(answer(pair[0], header), answer(pair[1], header)); diff != "" {
				t.Errorf("(-%s, which exists, +%s)\n%s", pair[0], pair[1], diff)
			}
		}
	}
	s.get(t, "/sites/atl2", one...).isFault(t, http.StatusNotFound, "UnknownSite", "There is no site atl2; did you mean atl1?")
	s.get(t, "/sites/bos9", as("admin", asJSON...)...).isFault(t, http.StatusNotFound, "UnknownSite", "did you mean bos1?")
	s.get(t, "/sites/"+strings.Repeat("x", 300), as("admin", asJSON...)...).isFault(t, http.StatusNotFound, "UnknownSite")
	for _, name := range []string{"atl1", "atl9"} {
		s.putSite(t, name, "{}", one...).isFault(t, http.StatusForbidden, "HTTPForbidden", "purser:manage_sites")
		s.do(t, http.MethodDelete, "/sites/"+name+"?confirm="+name, "", one...).isFault(t, http.StatusForbidden, "HTTPForbidden")
	}
	s.putSite(t, "new", "{}", as("owner-new")...).is(t, http.StatusCreated)
	s.putSite(t, "newer", "{}", as("owner-new")...).isFault(t, http.StatusForbidden, "HTTPForbidden")
}

// Metrics are those of the server with all sites: below the path of a site they need the right in the default one.
func TestSites_metrics(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, authz.AdminsOnly, "'deckhand:list_revisions': role:admin or role:reader-%(site)s\n"+
		"'deckhand:show_metrics': role:admin or role:reader-%(site)s\n")
	s := newSite(t, func(c *api.Config) {
		c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
		c.Others = func(string) *api.Services { return &c.Services }
	})
	s.putSite(t, "atl1", "{}", as("admin")...).is(t, http.StatusCreated)
	for role, want := range map[string]int{
		"admin": http.StatusOK, "reader-default": http.StatusOK, "reader-atl1": http.StatusForbidden,
	} {
		s.get(t, "/metrics", as(role)...).is(t, want)
	}
	s.ask(t, http.MethodGet, "/sites/atl1/metrics", "", as("admin")...).is(t, http.StatusOK)
	s.ask(t, http.MethodGet, "/sites/atl1/metrics", "", as("reader-atl1")...).isFault(t, http.StatusForbidden, "HTTPForbidden", "show_metrics")
}

// A change or a deletion with If-Match is made only if the settings are those that were read. What else the answer shows
// does not count.
func TestSites_ifMatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	stale := func(got response) { got.isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed") }
	stale(s.putSite(t, "atl1", "{}", "If-Match", "*"))
	made := s.putSite(t, "atl1", "labels: {a: b}").is(t, http.StatusCreated).Header.Get("ETag")
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	first := s.get(t, "/sites/default").is(t, http.StatusOK).Header.Get("ETag")
	s.put(t, "b", widget("w", "{a: 1}")).is(t, http.StatusOK)
	if second := s.get(t, "/sites/default").is(t, http.StatusOK).Header.Get("ETag"); second == first {
		t.Errorf("with another revision the answer has the same ETag %s", first)
	}
	s.putSite(t, "default", "labels: {a: b}", "If-Match", first).is(t, http.StatusOK) // in spite of the new revision
	stale(s.putSite(t, "default", "labels: {a: c}", "If-Match", first))
	shown := s.get(t, "/sites/atl1").is(t, http.StatusOK).Header.Get("ETag")
	next := s.putSite(t, "atl1", "archived: true", "If-Match", shown).is(t, http.StatusOK).Header.Get("ETag")
	for _, old := range []string{made, shown, `"0123456789abcdef", ` + made} {
		stale(s.putSite(t, "atl1", "labels: {a: c}", "If-Match", old))
		stale(s.do(t, http.MethodDelete, "/sites/atl1?confirm=atl1", "", slices.Concat(asJSON, []string{"If-Match", old})...))
	}
	s.putSite(t, "atl1", "archived: true", "If-Match", made+", W/"+next).is(t, http.StatusOK)
	s.do(t, http.MethodDelete, "/sites/atl1?confirm=atl1", "", "If-Match", next).is(t, http.StatusAccepted)
}

// The front page names the sites, unless it is below the path of one.
func TestSites_front(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]bool{"/": true, "/sites/default//": false} {
		found := false
		for _, link := range s.ask(t, http.MethodGet, path, "", asJSON...).is(t, http.StatusOK).mapping(t)["links"].([]any) {
			url, _ := link.(map[string]any)["url"].(string)
			found = found || strings.HasSuffix(url, "/sites")
		}
		if found != want {
			t.Errorf("%s names the sites: %v", path, found)
		}
	}
}

func TestSites_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	for _, path := range []string{"/sites", "/sites/default"} {
		s.get(t, path, asJSON...).isFault(t, http.StatusNotFound, "HTTPRouteNotFound")
	}
}
