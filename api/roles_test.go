package api_test

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authz"
)

// rulesOf returns the rules of a policy file that replaces default ones.
func rulesOf(t *testing.T, defaults authz.Defaults, file string) *authz.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := authz.Open(path, defaults, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// byRules returns a site whose callers' tokens are their roles, with a policy file that replaces default rules.
func byRules(t *testing.T, defaults authz.Defaults, file string) site {
	t.Helper()
	rules := rulesOf(t, defaults, file)
	return newSite(t, func(c *api.Config) { c.Access = api.Access{Authenticator: byRole{}, Rules: rules} })
}

// A refusal keeps Deckhand's message, and then names the built-in roles that pass the rule, as the rules are now.
func TestHandler_refusedWithRoles(t *testing.T) {
	t.Parallel()
	const none = "None of the built-in roles is enough: the server's --policy-file says who has this right."
	pass := func(roles string) string { return "These roles have this right: " + roles + "." }
	for name, c := range map[string]struct {
		defaults           authz.Defaults
		file               string
		role, method, path string
		want               []string
	}{
		"to read": {authz.WithRoles, "", "nobody", "GET", "revisions", []string{
			"Policy doesn't allow deckhand:list_revisions to be performed", pass("reader, validator, writer, admin"),
		}},
		"to write": {authz.WithRoles, "", "reader", "PUT", "buckets/b/documents", []string{
			"Policy doesn't allow deckhand:create_cleartext_documents to be performed", pass("writer, admin"),
		}},
		"to post a result": {authz.WithRoles, "", "writer", "POST", "revisions/1/validations/v", []string{
			"Policy doesn't allow deckhand:create_validation to be performed", pass("validator, admin"),
		}},
		"to wait": {authz.WithRoles, "", "nobody", "GET", "revisions/latest/status?wait=1s", []string{
			"Policy doesn't allow deckhand:show_revision to be performed", pass("reader, validator, writer, admin"),
		}},
		"as in Deckhand": {authz.AdminsOnly, "", "reader", "GET", "revisions", []string{
			"Policy doesn't allow deckhand:list_revisions to be performed", pass("admin"),
		}},
		"by a file": {authz.AdminsOnly, "admin_api: role:admin and project_id:p", "admin", "GET", "revisions", []string{
			"Policy doesn't allow deckhand:list_revisions to be performed", none,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := byRules(t, c.defaults, c.file)
			header := append(as(c.role, asJSON...), "Content-Type", "application/x-yaml")
			body := s.do(t, c.method, c.path, "", header...).is(t, http.StatusForbidden).mapping(t)
			details, _ := body["details"].(map[string]any)
			list, _ := details["messageList"].([]any)
			var got []string
			for _, item := range list {
				message, _ := item.(map[string]any)
				text, _ := message["message"].(string)
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || body["message"] != c.want[0] || details["errorCount"] != 2. {
				t.Errorf("%v (-want +got)\n%s", body, diff)
			}
		})
	}
}

// So do the refusals of changes because of encrypted documents, which have messages of their own.
func TestHandler_refusedSecretsWithRoles(t *testing.T) {
	t.Parallel()
	s := guarded(t, "'"+authz.UseEncryptedDocuments+"': role:admin\n")
	const pass = "These roles have this right: admin."
	admin, writer := as("admin", asJSON...), as("writer", asJSON...)
	key, taking := textOf("t/Key/v1", "key", encrypted, "a"), textOf("t/Own/v1", "own", takesKey, "{}")
	s.put(t, "site", layeringPolicy("layers"), admin...).is(t, http.StatusOK)
	s.put(t, "keys", key, admin...).is(t, http.StatusOK)
	for name, refused := range map[string]response{
		"store":    s.put(t, "more", textOf("t/Key/v1", "other", encrypted, "a"), writer...),
		"delete":   s.put(t, "keys", "", writer...),
		"use":      s.put(t, "uses", taking, writer...),
		"rollback": s.do(t, http.MethodPost, "rollback/1", "", writer...),
	} {
		details, _ := refused.is(t, http.StatusForbidden).mapping(t)["details"].(map[string]any)
		list, _ := details["messageList"].([]any)
		last, _ := list[len(list)-1].(map[string]any)
		if len(list) < 2 || last["message"] != pass {
			t.Errorf("%s: %v", name, list)
		}
	}
}
