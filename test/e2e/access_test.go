package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authn"
	"purser/internal/authz"
)

// ruleOf maps routes to the rules that they need, as Deckhand has them and, for Purser's own routes, as in internal/authz.
// Other routes need none.
var ruleOf = map[string]string{
	"GET /api/v1.0/buckets":                                                        authz.ListCleartextDocuments,
	"GET /api/v1.0/events":                                                         authz.ListEvents,
	"GET /api/v1.0/webhooks":                                                       authz.ManageWebhooks,
	"POST /api/v1.0/webhooks":                                                      authz.ManageWebhooks,
	"GET /api/v1.0/webhooks/{webhook}":                                             authz.ManageWebhooks,
	"PUT /api/v1.0/webhooks/{webhook}":                                             authz.ManageWebhooks,
	"DELETE /api/v1.0/webhooks/{webhook}":                                          authz.ManageWebhooks,
	"POST /api/v1.0/webhooks/{webhook}/ping":                                       authz.ManageWebhooks,
	"GET /api/v1.0/webhooks/{webhook}/deliveries":                                  authz.ManageWebhooks,
	"POST /api/v1.0/webhooks/{webhook}/deliveries/{delivery}/retry":                authz.ManageWebhooks,
	"GET /api/v1.0/documents/{namespace}/{kind}/{version}/{layer}/{name}/history":  authz.ListCleartextDocuments,
	"PUT /api/v1.0/buckets/{bucket}/documents":                                     authz.CreateCleartextDocuments,
	"PUT /api/v1.0/buckets/{bucket}/packages/{fullName}":                           authz.CreateCleartextDocuments,
	"POST /api/v1.0/packages/check":                                                authz.CreateCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/packages":                                  authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/packages/{fullName}":                       authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/packages/{fullName}/report":                authz.ListCleartextDocuments,
	"PUT /api/v1.0/changesets":                                                     authz.CreateCleartextDocuments,
	"POST /api/v1.0/rollback/{revision}":                                           authz.CreateCleartextDocuments,
	"GET /api/v1.0/revisions":                                                      authz.ListRevisions,
	"DELETE /api/v1.0/revisions":                                                   authz.DeleteRevisions,
	"POST /api/v1.0/revisions/prune":                                               authz.PruneRevisions,
	"GET /api/v1.0/revisions/{revision}":                                           authz.ShowRevision,
	"GET /api/v1.0/revisions/{revision}/status":                                    authz.ShowRevision,
	"GET /api/v1.0/revisions/{revision}/attestation":                               authz.ShowRevision,
	"GET /api/v1.0/revisions/{revision}/documents":                                 authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/rendered-documents":                        authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/rendered-documents/explain":                authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/chain":                                     authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/graph":                                     authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/schemas":                                   authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/schemas/{namespace}/{kind}/{version}":      authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/schemas/{namespace}/{kind}/{version}/docs": authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/diff/{other}":                              authz.ShowRevisionDiff,
	"GET /api/v1.0/revisions/{revision}/deepdiff/{other}":                          authz.ShowRevisionDeepDiff,
	"GET /api/v1.0/revisions/{revision}/tags":                                      authz.ListTags,
	"DELETE /api/v1.0/revisions/{revision}/tags":                                   authz.DeleteTags,
	"GET /api/v1.0/revisions/{revision}/tags/{tag}":                                authz.ShowTag,
	"POST /api/v1.0/revisions/{revision}/tags/{tag}":                               authz.CreateTag,
	"DELETE /api/v1.0/revisions/{revision}/tags/{tag}":                             authz.DeleteTag,
	"GET /api/v1.0/revisions/{revision}/validations":                               authz.ListValidations,
	"GET /api/v1.0/revisions/{revision}/findings":                                  authz.ListValidations,
	"GET /api/v1.0/revisions/{revision}/validations/detail":                        authz.ListValidations,
	"GET /api/v1.0/revisions/{revision}/validations/{name}":                        authz.ListValidations,
	"POST /api/v1.0/revisions/{revision}/validations/{name}":                       authz.CreateValidation,
	"GET /api/v1.0/revisions/{revision}/validations/{name}/entries/{entry}":        authz.ShowValidation,
	"GET /api/v1.0/revisions/{revision}/waivers":                                   authz.ListValidations,
	"POST /api/v1.0/revisions/{revision}/waivers":                                  authz.CreateWaiver,
	"DELETE /api/v1.0/revisions/{revision}/waivers/{id}":                           authz.CreateWaiver,
	"GET /api/v1.0/waivers":                                                        authz.ListValidations,
	"GET /api/v1.0/claims":                                                         authz.ListValidations,
	"POST /api/v1.0/claims":                                                        authz.CreateValidation,
	"PUT /api/v1.0/claims/{claim}":                                                 authz.CreateValidation,
	"DELETE /api/v1.0/claims/{claim}":                                              authz.CreateValidation,
	"POST /api/v1.0/revisions/{revision}/validations/{name}/request":               authz.CreateValidation,
	"GET /api/v1.0/revisions/{revision}/puppet/hiera":                              authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/puppet/hiera.yaml":                         authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/puppet/hiera.json":                         authz.ListCleartextDocuments,
	"POST /api/v1.0/revisions/{revision}/puppet/catalog":                           authz.ListCleartextDocuments,
	"GET /api/v1.0/revisions/{revision}/puppet/diff/{other}":                       authz.ListCleartextDocuments,
	"POST /api/v1.0/revisions/{revision}/puppet/diff/{other}":                      authz.ListCleartextDocuments,
	"GET /api/v1.0/audit":                                                          authz.ShowAudit,
	"GET /metrics":                                                                 authz.ShowMetrics,
	"GET /api/v1.0/whoami":                                                         "",
	"GET /sites/-/api/v1.0/claims":                                                 authz.ListValidations,
	"POST /sites/-/api/v1.0/claims":                                                authz.CreateValidation,
	"GET /sites/-/api/v1.0/waivers":                                                authz.ListValidations,
	"GET /sites":                                                                   "",
	"GET /sites/{site}":                                                            "",
	"PUT /sites/{site}":                                                            authz.ManageSites,
	"DELETE /sites/{site}":                                                         authz.ManageSites,
}

// keys is a tokens file and the tokens of its users.
type keys struct {
	file string
	of   map[string]string // tokens by user
}

// newKeys creates a token for each user, with a role of the same name.
func newKeys(t *testing.T, users ...string) *keys {
	t.Helper()
	k := &keys{filepath.Join(t.TempDir(), "tokens.yaml"), map[string]string{}}
	for _, user := range users {
		token, entry := authn.NewToken(user, "", []string{user}, time.Now(), time.Time{})
		if err := authn.AppendToken(k.file, entry); err != nil {
			t.Fatal(err)
		}
		k.of[user] = token
	}
	return k
}

var tokenText = regexp.MustCompile(`(?m)^prs_\S+$`)

// add creates a token by the server's command.
func (k *keys) add(t *testing.T, user string, flags ...string) {
	t.Helper()
	args := []string{"token", "new", "--tokens-file", k.file, "--user", user, "--role", user}
	out, code := runProgram(t, append(args, flags...)...)
	k.of[user] = tokenText.FindString(out)
	if code != 0 || k.of[user] == "" {
		t.Fatalf("token new: exit code %d\n%s", code, out)
	}
}

// as returns the headers of a request by a user.
func (k *keys) as(user string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + k.of[user], "Content-Type": "application/x-yaml"}
}

// startWith runs a server with the tokens file and, unless it is empty, the policy.
func (k *keys) startWith(t *testing.T, policy string, flags ...string) *server {
	t.Helper()
	flags = append([]string{"--auth", "tokens", "--tokens-file", k.file}, flags...)
	if policy != "" {
		flags = append(flags, "--policy-file", policyFile(t, policy))
	}
	return startFresh(t, flags...)
}

func policyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, path, text)
	return path
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// eachRoute calls visit with a request for every route of the contract.
func eachRoute(t *testing.T, visit func(route string, r request)) {
	t.Helper()
	parts := strings.NewReplacer("{bucket}", "b", "{revision}", "4711", "{other}", "4712", "{tag}", "t", "{name}", "v",
		"{entry}", "0", "{fullName}", "a.B", "{namespace}", "acme", "{kind}", "Widget", "{version}", "v1", "{layer}", "site",
		"{webhook}", "4711", "{delivery}", "4711", "{id}", "4711", "{site}", "s4711")
	for path, item := range mustContract(t).Doc.Paths.Map() {
		for method := range item.Operations() {
			route := method + " " + path
			r := request{method: method, path: parts.Replace(path), bad: true}
			if route == "POST /api/v1.0/revisions/prune" {
				r.path += "?keep=1"
			}
			visit(route, r)
		}
	}
}

func offRole(rule string) string {
	return "without-" + strings.TrimPrefix(strings.TrimPrefix(rule, "deckhand:"), "purser:")
}

// Each rule is denied to one user. Requests that need the rule are refused to that user, and no others are.
func TestAccess_everyRuleOfEveryRoute(t *testing.T) {
	t.Parallel()
	var policy strings.Builder
	rules := slices.DeleteFunc(authz.Default(authz.WithRoles).Rules(), func(r authz.Rule) bool { return r.Name == authz.AdminAPI })
	users := []string{"everything"}
	for _, rule := range rules {
		fmt.Fprintf(&policy, "%q: not role:%s\n", rule.Name, offRole(rule.Name))
		users = append(users, offRole(rule.Name))
	}
	k := newKeys(t, users...)
	s := k.startWith(t, policy.String(), "--request-rate", "0", "--signing-keyset", newSigningKeys(t))
	eachRoute(t, func(route string, r request) {
		for _, user := range users {
			r.header = k.as(user)
			got := s.send(t, r)
			rule := ruleOf[route]
			if second := alsoNeeds[route]; second != "" && user == offRole(second) {
				rule = second
			}
			switch refused := rule != "" && user == offRole(rule); {
			case refused:
				got.fails(t, http.StatusForbidden, "HTTPForbidden", "Policy doesn't allow "+rule+" to be performed")
			case got.status == http.StatusForbidden, got.status == http.StatusUnauthorized, got.status >= 500:
				t.Errorf("%s as %s: status %d\n%s", route, user, got.status, brief(got.text))
			}
			_, guarded := ruleOf[route]
			if want := map[bool]string{true: user}[guarded]; got.got.Get("X-User-Name") != want {
				t.Errorf("%s as %s: X-User-Name %q", route, user, got.got.Get("X-User-Name"))
			}
		}
	})
}

// A caller who may change a site but not read validations cannot request the findings of a change: nothing is stored.
func TestAccess_findingsOfChanges(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin", "writer", "reader")
	s := k.startWith(t, "'deckhand:create_cleartext_documents': role:writer or role:admin\n"+
		"'deckhand:list_validations': role:reader or role:admin\n")
	for _, path := range []string{"buckets/b/documents", "changesets"} {
		for _, query := range []string{"?findings=true", "?findings=true&dry-run=true"} {
			ask := func(user string) answer {
				return s.send(t, request{method: "PUT", path: path + query, body: widget("w", "{}") + "status: {bucket: b}\n", header: k.as(user)})
			}
			ask("writer").fails(t, http.StatusForbidden, "HTTPForbidden", "Policy doesn't allow deckhand:list_validations to be performed")
			ask("reader").fails(t, http.StatusForbidden, "HTTPForbidden", "Policy doesn't allow deckhand:create_cleartext_documents to be performed")
			if count := s.send(t, request{method: "GET", path: "revisions", header: k.as("admin")}).mapping(t)["count"]; count != 0 {
				t.Fatalf("%s%s: %v revisions", path, query, count)
			}
		}
	}
	s.send(t, request{method: "PUT", path: "changesets?findings=true", body: widget("w", "{}") + "status: {bucket: b}\n", header: k.as("admin")}).is(t, http.StatusOK)
}

func TestAccess_contractNamesTheRules(t *testing.T) {
	t.Parallel()
	eachRoute(t, func(route string, _ request) {
		method, path, _ := strings.Cut(route, " ")
		operation := mustContract(t).Doc.Paths.Value(path).GetOperation(method)
		named, _ := operation.Extensions["x-rule"].(string)
		want, guarded := ruleOf[route]
		isOpen := operation.Security != nil && len(*operation.Security) == 0
		if named != want || guarded == isOpen {
			t.Errorf("%s: openapi.yaml says x-rule %q, open %v; the table says %q, open %v", route, named, isOpen, want, !guarded)
		}
	})
}

// alsoNeeds has the second rule of routes that need two.
var alsoNeeds = map[string]string{
	"GET /api/v1.0/revisions/{revision}/chain": authz.ListEncryptedDocuments,
}

func TestAccess_nobody(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "", "--signing-keyset", newSigningKeys(t))
	other := map[string]string{"admin": "prs_" + strings.Repeat("A", 43)}
	for name, tt := range map[string]struct {
		header    map[string]string
		challenge string
	}{
		"none":        {nil, `Bearer realm="purser"`},
		"not a token": {map[string]string{"Authorization": "Basic YWRtaW46YWRtaW4="}, `Bearer realm="purser"`},
		"empty":       {map[string]string{"X-Auth-Token": "", "Authorization": "Bearer"}, `Bearer realm="purser"`},
		"wrong":       {map[string]string{"Authorization": "Bearer " + other["admin"]}, `Bearer realm="purser", error="invalid_token"`},
		"oversized":   {map[string]string{"X-Auth-Token": strings.Repeat("A", 100_000)}, `Bearer realm="purser", error="invalid_token"`},
		"two": {
			map[string]string{"X-Auth-Token": k.of["admin"], "Authorization": "Bearer " + other["admin"]},
			`Bearer realm="purser", error="invalid_request"`,
		},
		"smuggled": {map[string]string{
			"X-Identity-Status": "Confirmed", "X-Roles": "admin", "X-Role": "admin", "X-User-Id": "admin", "X-User": "admin",
			"X-Service-Identity-Status": "Confirmed", "X-Service-Roles": "admin", "X-Is-Admin-Project": "True",
			"X-Project-Id": "admin", "Remote-User": "admin", "X-Remote-User": "admin", "X-Forwarded-User": "admin",
		}, `Bearer realm="purser"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachRoute(t, func(route string, r request) {
				r.header = tt.header
				got := s.send(t, r)
				if _, guarded := ruleOf[route]; !guarded {
					if got.status >= 400 {
						t.Errorf("%s: status %d", route, got.status)
					}
					return
				}
				got.fails(t, http.StatusUnauthorized, "HTTPUnauthorized")
				if diff := cmp.Diff(tt.challenge, got.got.Get("WWW-Authenticate")); diff != "" {
					t.Errorf("%s: WWW-Authenticate (-want +got):\n%s", route, diff)
				}
				if got.got.Get("X-User-Name") != "" {
					t.Errorf("%s: it names a user", route)
				}
			})
		})
	}
}

// Identity headers sent by a client do not add to the rights of its token.
func TestAccess_smuggling(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "reader")
	s := k.startWith(t, "'deckhand:list_revisions': role:reader")
	header := maps.Clone(k.as("reader"))
	for _, name := range []string{"X-Roles", "X-User-Id", "X-User-Name", "X-Project-Id", "X-End-User", "X-Service-Roles"} {
		header[name] = "admin"
	}
	header["X-Identity-Status"] = "Confirmed"
	s.send(t, request{method: "DELETE", path: "revisions", header: header}).fails(t, http.StatusForbidden, "HTTPForbidden")
	got := s.send(t, request{method: "GET", path: "whoami", header: header}).is(t, http.StatusOK)
	want := map[string]any{
		"user": map[string]any{"id": "reader", "name": "reader"}, "project": nil, "roles": []any{"reader"},
		"rules": []any{"deckhand:list_revisions"},
	}
	if diff := cmp.Diff(want, got.mapping(t)); diff != "" {
		t.Errorf("whoami (-want +got):\n%s", diff)
	}
	if user := got.got.Get("X-User-Name"); user != "reader" {
		t.Errorf("X-User-Name: %q", user)
	}
}

// Errors in a request are found in the reference's order.
func TestAccess_order(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "reader")
	s := k.startWith(t, "")
	put := request{method: "PUT", path: "buckets/b/documents", body: "[", bad: true}
	post := request{method: "POST", path: "revisions/4711/tags/t", body: "[", bad: true}
	for _, tt := range []struct {
		request

		kind, user string
		status     int
	}{
		{put, "text/plain", "", http.StatusUnsupportedMediaType},
		{put, "", "", http.StatusBadRequest},
		{put, "application/x-yaml", "", http.StatusUnauthorized},
		{put, "application/x-yaml", "reader", http.StatusForbidden},
		{post, "text/plain", "reader", http.StatusUnsupportedMediaType},
		{post, "application/x-yaml", "", http.StatusUnauthorized},
		{post, "application/x-yaml", "reader", http.StatusForbidden},
		{request{method: "PATCH", path: "revisions"}, "", "", http.StatusUnauthorized},
		{request{method: "PATCH", path: "revisions"}, "", "reader", http.StatusMethodNotAllowed},
		{request{method: "OPTIONS", path: "revisions"}, "", "", http.StatusUnauthorized},
		{request{method: "OPTIONS", path: "/versions"}, "", "", http.StatusOK},
		{request{method: "HEAD", path: "revisions"}, "", "", http.StatusUnauthorized},
		{request{method: "GET", path: "nothing"}, "", "", http.StatusNotFound},
	} {
		tt.header = map[string]string{}
		if tt.kind != "" {
			tt.header["Content-Type"] = tt.kind
		}
		if tt.user != "" {
			tt.header["X-Auth-Token"] = k.of[tt.user]
		}
		if tt.method == http.MethodHead { // HEAD has no body to check against the contract
			got, err := s.try(t.Context(), tt.request)
			if err != nil || got.status != tt.status {
				t.Errorf("HEAD: status %d, %v", got.status, err)
			}
			continue
		}
		s.send(t, tt.request).is(t, tt.status)
	}
}

// A change is recorded under the user that the client names, or else under the caller.
func TestAccess_recordsTheUser(t *testing.T) {
	t.Parallel()
	k := newKeys(t, "admin")
	s := k.startWith(t, "")
	for i, tt := range []struct{ endUser, want string }{{"", "admin"}, {"alice", "alice"}} {
		header := k.as("admin")
		if tt.endUser != "" {
			header["X-End-User"] = tt.endUser
		}
		body := widget("w", fmt.Sprintf("\n  a: %d", i))
		s.send(t, request{method: "PUT", path: "buckets/b/documents", body: body, header: header}).is(t, http.StatusOK)
		got := s.send(t, request{method: "GET", path: "revisions/latest", header: k.as("admin")}).mapping(t)["user"]
		if got != tt.want {
			t.Errorf("user: %v, want %v", got, tt.want)
		}
	}
}
