package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	oteltrace "go.opentelemetry.io/otel/trace"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/feed"
	"purser/internal/store/storetest"
)

const everywhere = "/sites/-/api/v1.0/"

// opensWork makes sites with work on some validations each.
func (s site) opensWork(t *testing.T, names map[string][]string, header ...string) {
	t.Helper()
	for name, of := range names {
		s.putSite(t, name, "{}", header...)
		s.do(t, http.MethodPut, "/sites/"+name+"/api/v1.0/buckets/p/documents", requiring(of...),
			slices.Concat(inYAML, header)...).is(t, http.StatusOK)
	}
}

// claimAnywhere asks for work of all sites.
func (s site) claimAnywhere(t *testing.T, names, query string, header ...string) response {
	t.Helper()
	return s.do(t, http.MethodPost, everywhere+"claims"+query,
		"{validations: ["+names+"], worker: w, timeout: PT10M}", slices.Concat(inYAML, asJSON, header)...)
}

// listed returns the values of some keys of each item in a list.
func (s site) listed(t *testing.T, path string, keys []string, header ...string) (items []string) {
	t.Helper()
	for _, item := range s.get(t, path, slices.Concat(asJSON, header)...).is(t, http.StatusOK).results(t) {
		var of []any
		for _, key := range keys {
			of = append(of, item.(map[string]any)[key])
		}
		items = append(items, strings.TrimSuffix(fmt.Sprintln(of...), "\n"))
	}
	return items
}

// A claim to the work of any site names the site, and its links lead there.
func TestEverywhere_claim(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusNoContent)
	s.opensWork(t, map[string][]string{"atl1": {"a-validation", "b-validation"}, "bos1": {"b-validation"}})
	claim := s.claimAnywhere(t, "a-validation", "").is(t, http.StatusCreated).mapping(t)
	stamp := s.get(t, "/sites/atl1/api/v1.0/revisions/1", asJSON...).mapping(t)["stamp"]
	at := siteURL + "/sites/atl1/api/v1.0/revisions/1/"
	want := map[string]any{
		"id": claim["id"], "site": "atl1", "revision": 1., "stamp": stamp, "validation": "a-validation", "attempt": 1.,
		"expiresAt": claim["expiresAt"], "progress": nil, "documents": at + "rendered-documents",
		"result": fmt.Sprintf("%svalidations/a-validation?claim=%v&revision-stamp=%v", at, claim["id"], stamp),
	}
	if diff := cmp.Diff(want, claim); diff != "" {
		t.Errorf("the claim (-want +got):\n%s", diff)
	}
	keys := []string{"site", "revision", "validation", "state", "worker"}
	work := []string{
		"atl1 1 a-validation claimed w", "atl1 1 b-validation open <nil>", "bos1 1 b-validation open <nil>",
	}
	if diff := cmp.Diff(work, s.listed(t, everywhere+"claims", keys)); diff != "" {
		t.Errorf("the work (-want +got):\n%s", diff)
	}
	page := s.get(t, everywhere+"claims?limit=1&offset=1", asJSON...).is(t, http.StatusOK).mapping(t)
	links := []any{siteURL + everywhere + "claims?limit=1&offset=2", siteURL + everywhere + "claims?limit=1&offset=0"}
	if diff := cmp.Diff(links, []any{page["next"], page["prev"]}); diff != "" {
		t.Errorf("the page (-want +got):\n%s", diff)
	}
	// A claim is one of its site alone.
	path := fmt.Sprint("/api/v1.0/claims/", claim["id"])
	s.do(t, http.MethodPut, "/sites/bos1"+path, "", asJSON...).isFault(t, http.StatusNotFound, "UnknownClaim")
	s.do(t, http.MethodPut, "/sites/atl1"+path, "{progress: half}", inYAML...).is(t, http.StatusOK)
	s.do(t, http.MethodPost, strings.TrimPrefix(claim["result"].(string), siteURL), "{status: success, validator: {name: v}}",
		inYAML...).is(t, http.StatusCreated)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusNoContent)
	// A site that is archived has no work; one that is opened again has.
	s.putSite(t, "bos1", "archived: true").is(t, http.StatusOK)
	if diff := cmp.Diff([]string{"atl1 1 b-validation open <nil>"}, s.listed(t, everywhere+"claims", keys)); diff != "" {
		t.Errorf("the work without that of an archived site (-want +got):\n%s", diff)
	}
	claim = s.claimAnywhere(t, "b-validation", "").is(t, http.StatusCreated).mapping(t)
	s.claimAnywhere(t, "b-validation", "").is(t, http.StatusNoContent)
	s.putSite(t, "bos1", "archived: false").is(t, http.StatusOK)
	other := s.claimAnywhere(t, "b-validation", "").is(t, http.StatusCreated).mapping(t)
	if claim["site"] != "atl1" || other["site"] != "bos1" {
		t.Errorf("claims in %v and %v", claim["site"], other["site"])
	}
	// That the default site is archived closes no other.
	s.do(t, http.MethodDelete, fmt.Sprint("/sites/bos1/api/v1.0/claims/", other["id"]), "").is(t, http.StatusNoContent)
	s.putSite(t, "default", "archived: true").is(t, http.StatusOK)
	s.claimAnywhere(t, "b-validation", "").is(t, http.StatusCreated)
}

// Work that somebody has asked for, and that of claims that ran out, is found; that of a site which is being deleted is not.
func TestEverywhere_states(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openSite(t, settings{url: url, defaults: []string{}})
	s.opensWork(t, map[string][]string{"default": {"a-validation"}, "atl1": {"a-validation"}})
	const at = "/sites/atl1/api/v1.0/revisions/1/validations/a-validation"
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusCreated)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusCreated)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusNoContent)
	storetest.Execute(t, storetest.Connect(t, url),
		"UPDATE claims SET expires_at = now() - interval '1 minute' WHERE site = 'atl1'")
	states := []string{"atl1 lapsed", "default claimed"}
	if diff := cmp.Diff(states, s.listed(t, everywhere+"claims", []string{"site", "state"})); diff != "" {
		t.Errorf("the work (-want +got):\n%s", diff)
	}
	again := s.claimAnywhere(t, "a-validation", "").is(t, http.StatusCreated).mapping(t)
	if again["site"] != "atl1" || again["attempt"] != 2. {
		t.Errorf("after a claim ran out: %v", again)
	}
	s.do(t, http.MethodPost, at, "{status: success, validator: v}", inYAML...).is(t, http.StatusCreated)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusNoContent)
	s.do(t, http.MethodPost, at+"/request", "{reason: r}", inYAML...).is(t, http.StatusAccepted)
	asked := s.claimAnywhere(t, "a-validation", "").is(t, http.StatusCreated).mapping(t)
	if asked["site"] != "atl1" {
		t.Errorf("after a request: %v", asked)
	}
	s.do(t, http.MethodDelete, fmt.Sprint("/sites/atl1/api/v1.0/claims/", asked["id"]), "").is(t, http.StatusNoContent)
	s.putSite(t, "atl1", "archived: true").is(t, http.StatusOK)
	s.do(t, http.MethodDelete, "/sites/atl1?confirm=atl1", "").is(t, http.StatusAccepted)
	s.claimAnywhere(t, "a-validation", "").is(t, http.StatusNoContent)
	if diff := cmp.Diff([]string{"default claimed"}, s.listed(t, everywhere+"claims", []string{"site", "state"})); diff != "" {
		t.Errorf("the work without that of a site that is being deleted (-want +got):\n%s", diff)
	}
}

// No site is always asked first: a worker that does one piece of work after the other soon comes to each, although one
// has more to do.
func TestEverywhere_fair(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.opensWork(t, map[string][]string{"a": {"v-validation"}, "b": {"v-validation"}, "c": {"v-validation"}})
	for i := range 30 {
		s.do(t, http.MethodPut, "/sites/a/api/v1.0/buckets/b/documents", widget("w", fmt.Sprintf("{n: %d}", i)), inYAML...).
			is(t, http.StatusOK)
		s.do(t, http.MethodPost, "/sites/a/api/v1.0/revisions/latest/tags/"+fmt.Sprintf("t%d", i), "").is(t, http.StatusCreated)
	}
	seen, most := map[any]int{}, 20
	for seen["b"]+seen["c"] < 2 && seen["a"] < most { // less than once in a million runs, if a is chosen once in three times
		seen[s.claimAnywhere(t, "v-validation", "").is(t, http.StatusCreated).mapping(t)["site"]]++
	}
	if seen["a"] == most {
		t.Errorf("claims by site: %v", seen)
	}
}

// A caller gets work, and sees lists, of the sites in which he has the right, and 403 if that is none.
func TestEverywhere_access(t *testing.T) {
	t.Parallel()
	s := byRules(t, authz.AdminsOnly, "'deckhand:create_validation': role:admin or role:worker-%(site)s or "+
		"role:%(validation)s-%(site)s\n'deckhand:list_validations': role:admin or role:reader-%(site)s\n")
	admin := as("admin", asJSON...)
	s.opensWork(t, map[string][]string{
		"atl1": {"a-validation", "b-validation"}, "atl2": {"a-validation"}, "bos1": {"a-validation"},
	}, admin...)
	two := as("worker-atl1,worker-atl2,reader-atl2,reader-bos1")
	got := map[any]bool{}
	for range 2 {
		got[s.claimAnywhere(t, "a-validation", "", two...).is(t, http.StatusCreated).mapping(t)["site"]] = true
	}
	s.claimAnywhere(t, "a-validation", "", two...).is(t, http.StatusNoContent) // although bos1 has work
	s.claimAnywhere(t, "a-validation", "?wait=300ms", two...).is(t, http.StatusNoContent)
	if !got["atl1"] || !got["atl2"] {
		t.Errorf("claims in %v", got)
	}
	for path, want := range map[string][]string{
		everywhere + "claims": {"atl2 a-validation", "bos1 a-validation"},
	} {
		if diff := cmp.Diff(want, s.listed(t, path, []string{"site", "validation"}, two...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	// A right to one validation in one site.
	one := as("b-validation-atl1")
	s.claimAnywhere(t, "a-validation", "", one...).isFault(t, http.StatusForbidden, "HTTPForbidden", "depending on",
		"the site")
	s.claimAnywhere(t, "a-validation, b-validation", "", one...).isFault(t, http.StatusForbidden, "HTTPForbidden")
	claim := s.claimAnywhere(t, "b-validation", "", one...).is(t, http.StatusCreated).mapping(t)
	if claim["site"] != "atl1" || claim["validation"] != "b-validation" {
		t.Errorf("the claim %v", claim)
	}
	for _, nobody := range [][]string{as("reader-none"), as("nobody"), one} {
		s.get(t, everywhere+"claims", slices.Concat(asJSON, nobody)...).isFault(t, http.StatusForbidden, "HTTPForbidden")
		s.get(t, everywhere+"waivers", slices.Concat(asJSON, nobody)...).isFault(t, http.StatusForbidden, "HTTPForbidden")
	}
	s.claimAnywhere(t, "a-validation", "?wait=1m", as("nobody")...).isFault(t, http.StatusForbidden, "HTTPForbidden")
	if got := s.listed(t, everywhere+"claims", []string{"site"}, admin...); len(got) != 4 {
		t.Errorf("an admin sees %v", got)
	}
	// The claim is in the audit of its site, with who made it.
	audit := s.listed(t, "/sites/atl1/api/v1.0/audit", []string{"method", "target", "status"}, admin...)
	if want := "POST " + everywhere + "claims 201"; len(audit) == 0 || audit[0] != want {
		t.Errorf("the audit of the site: %q", audit)
	}
}

// Waivers of all sites, also archived ones, come in the order in which they end.
func TestEverywhere_waivers(t *testing.T) {
	t.Parallel()
	s := byRules(t, authz.AdminsOnly, "'deckhand:list_validations': role:admin or role:reader-%(site)s\n")
	admin := as("admin", asJSON...)
	s.opensWork(t, map[string][]string{"a": {"v-validation"}, "b": {"v-validation"}, "c": {"v-validation"}}, admin...)
	waive := func(site, lasts string) map[string]any {
		return s.do(t, http.MethodPost, "/sites/"+site+"/api/v1.0/revisions/1/waivers",
			"{validation: v-validation, reason: r, for: "+lasts+"}", slices.Concat(inYAML, admin)...).
			is(t, http.StatusCreated).mapping(t)
	}
	ended := waive("c", "PT3H")
	waive("b", "PT1H")
	waive("a", "PT2H")
	waive("c", "PT4H")
	s.do(t, http.MethodDelete, fmt.Sprint("/sites/c/api/v1.0/revisions/1/waivers/", ended["id"]), "", admin...).
		is(t, http.StatusNoContent)
	s.putSite(t, "b", "archived: true", admin...).is(t, http.StatusOK)
	keys := []string{"site", "validation", "status"}
	reader := as("reader-a,reader-c")
	for _, c := range []struct {
		query  string
		header []string
		want   []string
	}{
		{"", admin, []string{"c v-validation ended", "b v-validation active", "a v-validation active", "c v-validation active"}},
		{"?active=true", admin, []string{"b v-validation active", "a v-validation active", "c v-validation active"}},
		{"?active=true&limit=1&offset=1", admin, []string{"a v-validation active"}},
		{"", reader, []string{"c v-validation ended", "a v-validation active", "c v-validation active"}},
		{"?active=true&limit=1", reader, []string{"a v-validation active"}},
	} {
		if diff := cmp.Diff(c.want, s.listed(t, everywhere+"waivers"+c.query, keys, c.header...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.query, diff)
		}
	}
}

// Nothing else is below the name of all sites, and there is nothing with --compat=deckhand.
func TestEverywhere_nothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t).unchecked()
	for _, path := range []string{
		"api/v1.0/revisions", "api/v1.0/claims/0f8d4c1e-8f6e-4a53-9b0d-3d2f1f0c7a55", "api/v1.0/whoami", "versions",
		"api/v1.0/health", "ui/", "api/v1.0/revisions/1/waivers",
	} {
		s.get(t, "/sites/-/"+path, asJSON...).isFault(t, http.StatusNotFound, "HTTPRouteNotFound", "only "+everywhere+"claims")
	}
	s.get(t, "/sites/-", asJSON...).isFault(t, http.StatusNotFound, "UnknownSite")
	s.get(t, "/sites/%2D/api/v1.0/claims", asJSON...).isFault(t, http.StatusNotFound, "UnknownSite")
	s.do(t, http.MethodPut, everywhere+"waivers", "{}", slices.Concat(inYAML, asJSON)...).isFault(t, http.StatusMethodNotAllowed, "HTTPMethodNotAllowed")
	s.claimAnywhere(t, "", "").isFault(t, http.StatusBadRequest, "HTTPBadRequest", "1 to 50 names")
	s.claimAnywhere(t, "a-validation", "?wait=1h").isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "10 minutes")
	s.get(t, everywhere+"claims?active=true", asJSON...).isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "active")
	deckhand := compatSite(t)
	for _, name := range []string{"claims", "waivers"} {
		deckhand.get(t, everywhere+name, asJSON...).isFault(t, http.StatusNotFound, "HTTPRouteNotFound")
	}
}

// A worker that waits gets work of a site that is made meanwhile, and when a claim of others runs out.
func TestEverywhere_wait(t *testing.T) {
	t.Parallel()
	var told feed.Site
	s := byRulesWith(t, "'deckhand:create_validation': role:admin or role:worker-%(site)s\n", func(c *api.Config) { told = c.Feed })
	admin := as("admin", asJSON...)
	wait := func(name string, header []string) func() map[string]any {
		done := make(chan response, 1)
		before := told.Waiting()
		go func() { done <- s.claimAnywhere(t, name, "?wait=1m", header...) }()
		for told.Waiting() == before && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		return func() map[string]any { return (<-done).is(t, http.StatusCreated).mapping(t) }
	}
	s.putSite(t, "late", "{}", admin...)
	for _, header := range [][]string{admin, as("worker-late")} {
		answer := wait("a-validation", header)
		s.opensWork(t, map[string][]string{"late": {"a-validation", fmt.Sprint("x", len(header), "-validation")}}, admin...)
		if claim := answer(); claim["site"] != "late" {
			t.Errorf("the claim %v", claim)
		}
	}
	const path = "/sites/late/api/v1.0/"
	yaml := slices.Concat(inYAML, admin)
	s.do(t, http.MethodPost, path+"revisions/1/validations/c-validation/request", "{}", yaml...).is(t, http.StatusAccepted)
	s.do(t, http.MethodPost, path+"claims", "{validations: [c-validation], worker: w, timeout: PT1S}", yaml...).
		is(t, http.StatusCreated)
	if claim := wait("c-validation", admin)(); claim["attempt"] != 2. {
		t.Errorf("after a claim ran out: %v", claim)
	}
}

// byRulesWith is byRules of admins only with a changed configuration.
func byRulesWith(t *testing.T, file string, change func(*api.Config)) site {
	t.Helper()
	rules := rulesOf(t, authz.AdminsOnly, file)
	return schemasSite(t, func(c *api.Config) { c.Access = api.Access{Authenticator: byRole{}, Rules: rules} }, change)
}

// A hundred workers that wait for work of any site cost a few statements a second, while fifty sites change all the time.
func TestEverywhere_manyWaiting(t *testing.T) {
	t.Parallel()
	const workers, many = 100, 50
	s, told, spans, stop := tracedSite(t, workers)
	for i := range many {
		s.putSite(t, fmt.Sprintf("s%02d", i), "{}").is(t, http.StatusCreated)
	}
	answers := make(chan response, workers)
	for range workers {
		go func() { answers <- s.claimAnywhere(t, "a-validation", "?wait=10m") }()
	}
	for told.Waiting() < workers && t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	count := func() (looks, others int) {
		counted := map[oteltrace.SpanID]bool{}
		for _, span := range slices.Backward(spans.Ended()) { // a statement has ended after it was prepared, in a part of it
			text := fmt.Sprint(span.Attributes())
			isLook := strings.Contains(text, "offers AS")
			if counted[span.Parent().SpanID()] ||
				!isLook && !strings.Contains(text, "PARTITION BY s.name") && !strings.Contains(text, "before uuid") {
				continue
			}
			counted[span.SpanContext().SpanID()] = true
			if isLook {
				looks++
			} else {
				others++
			}
		}
		return looks, others
	}
	before, _ := count()
	began := time.Now()
	for round := range 4 {
		for i := range many {
			s.do(t, http.MethodPut, fmt.Sprintf("/sites/s%02d/api/v1.0/buckets/b/documents", i),
				widget("w", fmt.Sprintf("{n: %d}", round)), inYAML...).is(t, http.StatusOK)
		}
	}
	took := time.Since(began)
	looks, others := count()
	t.Logf("%d looks in %v for %d changes of %d sites, and %d statements in them", looks-before, took, 4*many, many, others)
	if most := int(took/(150*time.Millisecond)) + 2; looks-before > most || others > 0 {
		t.Errorf("%d looks, at most %d are allowed; %d statements about sites without work", looks-before, most, others)
	}
	// When work appears in all sites, as many workers get some, a statement or two for each site.
	for i := range many {
		s.do(t, http.MethodPut, fmt.Sprintf("/sites/s%02d/api/v1.0/buckets/p/documents", i), requiring("a-validation"),
			inYAML...).is(t, http.StatusOK)
	}
	claimed := map[any]bool{}
	for range many {
		claimed[(<-answers).is(t, http.StatusCreated).mapping(t)["site"]] = true
	}
	_, others = count()
	t.Logf("%d claims by %d statements", len(claimed), others)
	if most := 3 * many; len(claimed) != many || others > most {
		t.Errorf("%d claims by %d statements, more than %d", len(claimed), others, most)
	}
	close(stop)
	for range workers - many {
		(<-answers).is(t, http.StatusServiceUnavailable)
	}
}
