package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/validations"
)

// forSites are access rules by which an admin may do everything, and member-SITE everything in one site.
func forSites() string {
	var text strings.Builder
	for _, rule := range []string{
		authz.CreateCleartextDocuments, authz.CreateEncryptedDocuments, authz.ListCleartextDocuments,
		authz.ListEncryptedDocuments, authz.ShowRevision, authz.ListRevisions, authz.DeleteRevisions,
		authz.ShowRevisionDeepDiff, authz.ShowRevisionDiff, authz.CreateTag, authz.ShowTag, authz.ListTags, authz.DeleteTag,
		authz.DeleteTags, authz.CreateValidation, authz.ListValidations, authz.ShowValidation, authz.PruneRevisions,
		authz.ShowAudit, authz.ShowMetrics, authz.ListEvents, authz.ManageWebhooks, authz.CreateWaiver, authz.ManageSites,
	} {
		fmt.Fprintf(&text, "%q: role:admin or role:member-%%(site)s\n", rule)
	}
	return text.String()
}

// strangeSites returns a server with the site aaa, and others whose names have as much in common with that one as eee,
// which does not exist: bbb has documents, ccc is archived, ddd is being deleted.
func strangeSites(t *testing.T) site {
	t.Helper()
	rules := rulesOf(t, authz.AdminsOnly, forSites())
	s := openSite(t, settings{defaults: validations.DefaultValidations()}, func(c *api.Config) {
		c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
	})
	for _, name := range []string{"aaa", "bbb", "ccc", "ddd"} {
		s.putSite(t, name, "{}", as("admin")...).is(t, http.StatusCreated)
		s.do(t, http.MethodPut, "/sites/"+name+"/api/v1.0/buckets/b/documents", widget("w", "{}"), as("admin", inYAML...)...).
			is(t, http.StatusOK)
	}
	s.putSite(t, "ccc", "archived: true", as("admin")...).is(t, http.StatusOK)
	s.putSite(t, "ddd", "archived: true", as("admin")...).is(t, http.StatusOK)
	s.do(t, http.MethodDelete, "/sites/ddd?confirm=ddd", "", as("admin")...).is(t, http.StatusAccepted)
	return s
}

// strangersPath is a path with NAME in the place of a site.
type strangersPath struct{ method, path string }

// strangersPaths returns all routes below a site with all methods, and those of sites themselves.
func strangersPaths() (all []strangersPath) {
	filled := regexp.MustCompile(`\{[^}]*\}`)
	methods := []string{"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"}
	paths := slices.Sorted(maps.Keys(api.Routes()))
	for _, path := range append(paths, "/nowhere", "/ui/", "/api/v1.0/revisions/latest/status", "/sites/NAME", "/sites/aaa") {
		path = filled.ReplaceAllString(path, "1")
		for _, method := range methods {
			all = append(all, strangersPath{method, "/sites/NAME" + path})
		}
	}
	for _, path := range []string{"/sites/NAME", "/sites/NAME/", "/sites/NAME//", "/sites/NAME?confirm=NAME"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PATCH"} { // who may make a site, may know it
			all = append(all, strangersPath{method, path})
		}
	}
	return all
}

// twisted are ways to write the name of a site in a path.
var twisted = []string{
	"/sites/NAME/api/v1.0/revisions/", "/sites/NAME/api/v1.0/revisions//", "/sites/NAME//api/v1.0/revisions",
	"/sites//NAME/api/v1.0/revisions", "//sites/NAME/api/v1.0/revisions", "/sites/./NAME/api/v1.0/revisions",
	"/sites/aaa/../NAME/api/v1.0/revisions", "/sites/aaa/%2e%2e/NAME/api/v1.0/revisions", "/sites/NAME%2Fapi/v1.0/revisions",
	"/sites/NAME%2F/api/v1.0/revisions", "/sites/%2FNAME/api/v1.0/revisions", "/sites/NAME%00/api/v1.0/revisions",
	"/sites/NAME%20/api/v1.0/revisions", "/sites/NAME./api/v1.0/revisions", "/sites/NAME;x/api/v1.0/revisions",
	"/sites/UPPER/api/v1.0/revisions", "/sites/ESCAPED/api/v1.0/revisions", "/sites/ESCAPED", "/sites/UPPER",
	"/sites/LONG/api/v1.0/revisions", "/sites/LONG", "/sites/-/sites/NAME", "/sites/-/sites/NAME/api/v1.0/claims",
	"/sites/-/NAME", "/sites/-/NAME/api/v1.0/claims", "/sites/aaa/sites/NAME", "/sites/aaa/sites/NAME/api/v1.0/revisions",
	"/sites/NAME/api/v1.0/revisions/latest%2Fstatus", "/sites/NAME/api%2Fv1.0/revisions", "/sites/NAME/metrics?name[]=x",
}

// spelt puts a name into a path or a text of an answer.
func spelt(text, name string) string {
	escaped := ""
	for _, c := range []byte(name) {
		escaped += fmt.Sprintf("%%%02x", c) //nolint:perfsprint // few
	}
	return strings.NewReplacer("NAME", name, "UPPER", strings.ToUpper(name), "ESCAPED", escaped,
		"LONG", name+strings.Repeat("x", 200)).Replace(text)
}

// stranger is how a request is made by somebody without rights.
type stranger struct {
	query, body string
	header      []string
}

// strangers are requests with and without mistakes of callers who may not know a site.
func strangers() map[string]stranger {
	member, nobody := as("member-aaa", asJSON...), as("nobody")
	return map[string]stranger{
		"a member of another site": {"", "", member},
		"with a body":              {"", widget("w", "{}"), append(slices.Clone(member), inYAML...)},
		"a body of a wrong type":   {"", "x", append(slices.Clone(member), "Content-Type", "text/plain")},
		"a body without a type":    {"", "x", member},
		"unknown parameters":       {"?nonsense=1&limit=x", "", member},
		"a condition":              {"", "{}", append(append(slices.Clone(member), inYAML...), "If-Match", `"x"`, "If-None-Match", "*")},
		"a wait":                   {"?wait=1h", "", member},
		"no rights at all":         {"", "{}", append(nobody, inYAML...)},
		"no credentials":           {"", "{}", inYAML},
		"bad credentials":          {"", "", []string{"X-Auth-Token", "a", "Authorization", "Bearer b"}},
	}
}

// strangely makes a request, and returns its answer with NAME in the place of the site.
func (s site) strangely(t *testing.T, method, path, name string, of stranger) string {
	t.Helper()
	at, err := url.Parse("http://localhost" + strings.Replace(spelt(path, name), "//sites", "/%2Fsites", 1) + of.query)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(of.body))
	r.URL = at
	r.URL.Scheme, r.URL.Host = "", ""
	for i := 0; i < len(of.header); i += 2 {
		r.Header.Add(of.header[i], of.header[i+1])
	}
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, r)
	header := recorder.Header()
	header.Del("X-Deckhand-Req")
	header.Del("Date")
	if strings.Contains(recorder.Body.String(), name) && recorder.Code == http.StatusOK {
		header.Del("ETag") // of the front page, which has links
	}
	text := fmt.Sprint(recorder.Code, header, "\n", recorder.Body)
	for _, word := range []string{"UPPER", "ESCAPED", "NAME"} {
		text = strings.ReplaceAll(text, spelt(word, name), "NAME")
	}
	return text
}

// Who has no right in a site gets the same answer from it whether it exists, is archived, is being deleted or is nothing,
// on every route and method, however the request is written.
func TestUnknownSites(t *testing.T) {
	t.Parallel()
	s := strangeSites(t)
	paths := strangersPaths()
	for _, path := range twisted {
		paths = append(paths, strangersPath{"GET", path}, strangersPath{"PUT", path}, strangersPath{"OPTIONS", path})
	}
	for who, of := range strangers() {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			for _, p := range paths {
				if strings.Contains(p.path, "?") && of.query != "" {
					continue
				}
				want := s.strangely(t, p.method, p.path, "eee", of)
				for _, name := range []string{"bbb", "ccc", "ddd"} {
					if diff := cmp.Diff(want, s.strangely(t, p.method, p.path, name, of)); diff != "" {
						t.Errorf("%s %s (-nothing +%s)\n%s", p.method, p.path, name, diff)
					}
				}
			}
		})
	}
}

// A member of a site finds it on all routes, so that the answers above are no accident.
func TestUnknownSites_member(t *testing.T) {
	t.Parallel()
	s := strangeSites(t)
	for _, path := range []string{"/api/v1.0/revisions", "/api/v1.0/buckets", "/api/v1.0/audit", "/api/v1.0/claims", "/api/v1.0/whoami"} {
		s.get(t, "/sites/bbb"+path, as("member-bbb")...).is(t, http.StatusOK)
		s.get(t, "/sites/ccc"+path, as("member-ccc")...).is(t, http.StatusOK)
		s.get(t, "/sites/ddd"+path, as("member-ddd")...).is(t, http.StatusGone)
		s.get(t, "/sites/eee"+path, as("member-eee")...).is(t, http.StatusNotFound)
		s.get(t, "/sites/bbb"+path, as("member-aaa")...).is(t, http.StatusNotFound)
	}
}
