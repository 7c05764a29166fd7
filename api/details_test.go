package api_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/feed"
)

// allDetails are all details of the newest revision's verdict.
const allDetails = "revisions/latest/status?details=revision&details=findings&details=results&details=history&details=buckets"

// The details of a verdict are what the routes of their own answer, for each caller: encrypted documents are withheld in
// the same way. Beyond that they have the changes of revisions for those who may read events.
func TestStatus_details(t *testing.T) {
	t.Parallel()
	s := guarded(t, "\"purser:list_events\": role:admin or role:writer\n")
	const secret = "hidden-name"
	site := layeringPolicy("layers") + dataSchema("acme/Widget/v1", "{properties: {x: {maximum: 1}}}") + dataSchema("acme/Key/v1", "{type: integer}")
	wrong := textOf("acme/Widget/v1", "a", ", storagePolicy: cleartext", "{x: 2}")
	s.put(t, "open", site+widget("a", "{}")+widget("b", "{}"), as("admin")...).is(t, http.StatusOK)
	s.put(t, "sealed", textOf("acme/Key/v1", secret, encrypted, "sesame"), as("admin")...).is(t, http.StatusOK)
	s.put(t, "open", site+wrong+widget("c", "{}"), as("admin")...).is(t, http.StatusOK)
	s.do(t, http.MethodPost, "revisions/3/validations/a-validation", "{status: failure, validator: {name: v, version: '1'}}",
		as("admin", "Content-Type", "application/x-yaml")...).is(t, http.StatusCreated)
	for _, role := range []string{"admin", "writer"} {
		answer := s.get(t, allDetails, as(role, asJSON...)...).is(t, http.StatusOK)
		if strings.Contains(answer.text, secret) != (role == "admin") {
			t.Errorf("%s reads\n%s", role, answer.text)
		}
		details, _ := answer.mapping(t)["details"].(map[string]any)
		items := func(part string) (all []map[string]any) {
			list, _ := details[part].(map[string]any)
			results, _ := list["results"].([]any)
			for _, item := range results {
				m, _ := item.(map[string]any)
				all = append(all, m)
			}
			return all
		}
		var users, changes []any
		for _, result := range items("results") {
			if newest, ok := result["newest"].(map[string]any); ok {
				users = append(users, newest["user"])
			}
		}
		for _, revision := range items("history") {
			changes = append(changes, revision["changes"])
			delete(revision, "changes")
		}
		want := map[string]any{
			"users":   []any{"admin"},
			"changes": []any{effect(2, 2, 1), effect(1, 0, 0), effect(5, 0, 0)},
		}
		if role == "writer" {
			want = map[string]any{
				"users": []any{"admin"}, "changes": []any{effect(2, 2, 1), map[string]any{"added": 0., "removed": 0.}, effect(5, 0, 0)},
			}
		}
		if diff := cmp.Diff(want, map[string]any{"users": users, "changes": changes}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", role, diff)
		}
		for part, path := range map[string]string{
			"revision": "revisions/3", "findings": "revisions/3/findings?limit=50", "results": "revisions/3/validations?newest=true",
			"history": "revisions?sort=id&order=desc&limit=50", "buckets": "buckets",
		} {
			if diff := cmp.Diff(any(s.get(t, path, as(role, asJSON...)...).is(t, http.StatusOK).mapping(t)), details[part]); diff != "" {
				t.Errorf("%s: %s (-%s +details):\n%s", role, part, path, diff)
			}
		}
	}
}

// effect returns the changes of a revision.
func effect(added, removed, modified int) map[string]any {
	return map[string]any{"added": float64(added), "removed": float64(removed), "modified": float64(modified)}
}

// Details that the caller may not read are left out, and no others; without the parameter there are none.
func TestStatus_detailsByRight(t *testing.T) {
	t.Parallel()
	for rule, parts := range map[string][]string{
		authz.ShowTag: {"revision"}, authz.ListValidations: {"findings", "results", "revision"},
		authz.ListRevisions: {"history", "revision"}, authz.ListCleartextDocuments: {"buckets", "revision"},
	} {
		s := byRules(t, authz.AdminsOnly, "\""+authz.ShowRevision+"\": role:viewer or role:admin\n\""+rule+"\": role:viewer\n")
		s.put(t, "b", widget("w", "{}"), as("admin")...).is(t, http.StatusOK)
		details, _ := s.get(t, allDetails, as("viewer", asJSON...)...).is(t, http.StatusOK).mapping(t)["details"].(map[string]any)
		var got []string
		for part := range details {
			got = append(got, part)
		}
		slices.Sort(got)
		if diff := cmp.Diff(parts, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
		answer := s.get(t, "revisions/1/status", as("viewer", asJSON...)...).is(t, http.StatusOK).mapping(t)
		if _, has := answer["details"]; has {
			t.Errorf("details without being asked for: %v", answer)
		}
	}
}

func TestStatus_detailsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b", layeringPolicy("layers")+widget("w", "{}")).is(t, http.StatusOK)
	s.get(t, "revisions/1/status?details=everything", asJSON...).fails(t, http.StatusBadRequest, "HTTPInvalidParam")
	s.get(t, "revisions/1/status?details=findings&limit=0", asJSON...).fails(t, http.StatusBadRequest, "HTTPInvalidParam")
	s.get(t, "revisions/1/status?details=findings&limit=1001", asJSON...).fails(t, http.StatusBadRequest, "HTTPInvalidParam")
	if text := s.get(t, "revisions/1/status?details=findings", "Accept", "text/plain").is(t, http.StatusOK).text; !strings.HasPrefix(text, "success\n") {
		t.Errorf("as text: %s", text)
	}
}

// Callers with different rights who wait for the same do not get each other's details.
func TestStatus_detailsOfOthers(t *testing.T) {
	t.Parallel()
	var told feed.Site
	at := filepath.Join(t.TempDir(), "policy.yaml")
	file := "\"" + authz.ShowRevision + "\": role:viewer or role:admin\n\"" + authz.ListEncryptedDocuments + "\": role:none\n"
	if err := os.WriteFile(at, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := authz.Open(at, authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(c *api.Config) {
		c.Access, told = api.Access{Authenticator: byRole{}, Rules: rules}, c.Feed
	})
	s.put(t, "b", layeringPolicy("layers")+policy("p", "a-validation")+widget("w", "{}"), as("admin")...).is(t, http.StatusOK)
	path := allDetails + "&expect=success&wait=1m"
	admin := s.waiting(t, told, 1, path, as("admin", asJSON...)...)
	viewer := s.waiting(t, told, 1, path, as("viewer", asJSON...)...)
	s.do(t, http.MethodPost, "revisions/1/validations/a-validation", "{status: success, validator: {name: v, version: '1'}}",
		as("admin", "Content-Type", "application/x-yaml")...).is(t, http.StatusCreated)
	for _, part := range []string{`"findings":`, `"results":`, `"history":`} {
		if all, some := admin()[0].text, viewer()[0].text; !strings.Contains(all, part) || strings.Contains(some, part) {
			t.Errorf("%s is in the admin's answer: %v, in the viewer's: %v", part, strings.Contains(all, part), strings.Contains(some, part))
		}
	}
}

// The text that is searched for in findings has a limit, and takes no more time if it is long.
func TestFindings_longSearch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "b", widget("w", "{}")).is(t, http.StatusOK)
	s.get(t, "revisions/1/findings?search="+strings.Repeat("é", 1000), asJSON...).is(t, http.StatusOK)
	s.ask(t, http.MethodGet, "revisions/1/findings?search="+strings.Repeat("é", 1001), "", asJSON...).
		fails(t, http.StatusBadRequest, "HTTPInvalidParam")
}
