package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/api"
	"purser/internal/authn"
	"purser/internal/authz"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// byRole authenticates callers whose token has the names of their roles, as a rule one.
type byRole struct{}

// Authenticate implements authn.Authenticator.
func (byRole) Authenticate(_ context.Context, token string) (authn.Caller, error) {
	return authn.Caller{UserID: token, Roles: strings.Split(token, ",")}, nil
}

// guarded returns a site with secrets and all of the server's validations. An admin may do everything, a writer
// everything with cleartext documents. more is added to the policy file, in the place of the same rules.
func guarded(t *testing.T, more string, adapt ...func(*api.Config)) site {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	var text strings.Builder
	for _, rule := range []string{
		authz.CreateCleartextDocuments, authz.ListCleartextDocuments, authz.ShowRevision, authz.ListRevisions,
		authz.ShowRevisionDiff, authz.ShowRevisionDeepDiff, authz.ListValidations, authz.ShowValidation,
	} {
		if !strings.Contains(more, `"`+rule+`"`) {
			fmt.Fprintf(&text, "%q: role:admin or role:writer\n", rule)
		}
	}
	if err := os.WriteFile(policy, []byte(text.String()+more), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := authz.Open(policy, authz.AdminsOnly, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	own := append(revisions.Defaults(validations.DefaultValidations()), validations.PuppetValidation)
	return openSite(t, settings{defaults: own, vault: newVault(t)}, append(adapt, func(c *api.Config) {
		c.Access = api.Access{Authenticator: byRole{}, Rules: rules}
	})...)
}

// as returns the headers of a request.
func as(role string, more ...string) []string { return append([]string{"X-Auth-Token", role}, more...) }

// document writes a document; metadata is appended to its metadata.
func textOf(schema, name, metadata, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, layeringDefinition: {layer: "+
		"site}%s}\ndata: %s\n", schema, name, metadata, data)
}

const (
	encrypted = ", storagePolicy: encrypted"
	takesKey  = ", storagePolicy: cleartext, substitutions: [{src: {schema: t/Key/v1, name: key, path: .}, dest: {path: .x}}]"
)

// alphabet has the characters that the attack tries.
const alphabet = "abcd"

// probes are documents, each of a kind of its own, that take a secret, and fail unless it has a character at a
// position.
func probes(positions int) string {
	var body strings.Builder
	for i := range positions {
		for _, c := range alphabet {
			kind := fmt.Sprintf("t/P%s/v1", strings.Repeat(string(c), i+1))
			body.WriteString(dataSchema(kind, fmt.Sprintf("{properties: {x: {pattern: '^.{%d}%c'}}}", i, c)))
			body.WriteString(textOf(kind, fmt.Sprintf("p%d%c", i, c), takesKey, "{}"))
		}
	}
	return body.String()
}

// replacedAndTaken are two secrets of a character: one of a document that only the schema validation checks, because
// another one replaces it, and one of a document that others take something from.
func replacedAndTaken(secret string) string {
	above := strings.Replace(textOf("t/K/v1", "k", encrypted+", labels: {is: k}", "{x: "+secret[:1]+"}"), "layer: site", "layer: global", 1)
	below := strings.Replace(textOf("t/K/v1", "k", encrypted+", replacement: true", "{x: a}"), "layer: site",
		"layer: site, parentSelector: {is: k}, actions: [{method: merge, path: .}]", 1)
	return above + below + textOf("t/Key/v1", "key", encrypted, secret[1:])
}

// versioned are client versions from a secret, and documents that need one of them each.
func versioned() string {
	var body strings.Builder
	body.WriteString(textOf("purser/ClientVersions/v1", "versions", strings.Replace(takesKey, "path: .x}", "path: .shop}", 1), "{}"))
	for i, c := range alphabet {
		kind := fmt.Sprintf("t/P%c/v1", c)
		body.WriteString(dataSchema(kind, fmt.Sprintf(
			"{properties_groups_schema: [{API_VERSIONS: {CLIENT_PLUGIN: shop, VERSIONS: [%c], PROPERTIES: [[size]]}}]}", c)))
		body.WriteString(textOf(kind, fmt.Sprintf("p%da", i), ", storagePolicy: cleartext", "{size: 1}"))
	}
	return body.String()
}

// takingFrom is takesKey for one value of the secret, named by a character, and another path.
func takingFrom(c rune, path string) string {
	return strings.NewReplacer("path: .}", fmt.Sprintf("path: .%c}", c), "path: .x}", "path: "+path+"}").Replace(takesKey)
}

// takingSchemas are DataSchemas that take the values at some paths of a secret.
func takingSchemas() string {
	var body strings.Builder
	for _, c := range alphabet {
		taking := takingFrom(c, ".description")
		body.WriteString(textOf("deckhand/DataSchema/v1", fmt.Sprintf("t/P%c/v1", c), taking, "{description: d}"))
		body.WriteString(textOf(fmt.Sprintf("t/P%c/v1", c), fmt.Sprintf("p0%c", c), ", storagePolicy: cleartext", "{}"))
	}
	return body.String()
}

// overrides are overrides of Puppet resources that take the values at some paths of a secret.
func overrides() string {
	var body strings.Builder
	for i, c := range alphabet {
		taking := takingFrom(c, ".configuration.service.nova.ensure")
		body.WriteString(textOf("fuel/PuppetOverride/v1", fmt.Sprintf("p%da", i), taking, "{configuration: {service: {nova: {ensure: running}}}}"))
	}
	return body.String()
}

// changing are the parts of answers that no two servers have in common.
var changing = regexp.MustCompile(`'?[0-9a-f]{64}'?|[0-9a-f]{16}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|\+00:00)?|req-[-0-9a-f]+`)

// asked are the answers to the requests of a writer who reads everything about a revision, by request.
func asked(t *testing.T, s site, documents []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	ask := func(method, path, body string, header ...string) {
		got := s.do(t, method, path, body, as("writer", header...)...)
		text := fmt.Sprintf("%d %v %v %v\n%s", got.StatusCode, got.Header.Values("Purser-Status"),
			got.Header.Values("Purser-Warning"), got.Header.Get("ETag"), got.text)
		all[fmt.Sprintf("%s %s %v", method, path, header)] = changing.ReplaceAllString(text, "…")
	}
	paths := []string{
		"", "/status", "/findings", "/validations", "/validations/detail", "/documents", "/rendered-documents", "/graph", "/schemas",
		"/deepdiff/1", "/deepdiff/1?rendered=false", "/diff/1", "/validations/detail?offset=1&limit=1",
	}
	for _, name := range append(validations.DefaultValidations(), validations.PuppetValidation) {
		paths = append(paths, "/findings?validation="+name, "/validations/"+name)
		for i := range len(documents) + 4 {
			paths = append(paths, fmt.Sprintf("/validations/%s/entries/%d", name, i))
		}
	}
	for _, name := range documents {
		paths = append(paths, "/findings?document="+name, "/rendered-documents?metadata.name="+name,
			"/documents?metadata.name="+name)
	}
	for _, path := range paths {
		for _, accept := range []string{"application/json", "text/plain"} {
			ask(http.MethodGet, "revisions/latest"+path, "", "Accept", accept)
		}
	}
	ask(http.MethodGet, "revisions", "")
	for _, query := range []string{"", "&findings=true"} { // without some of the documents
		ask(http.MethodPut, "buckets/probes/documents?dry-run=true"+query, probes(1), "Content-Type", "application/x-yaml")
	}
	return all
}

// A writer who may not see a secret learns one bit of it by a revision, also by one with a document for each of its
// positions and characters, or with a schema for each of many secrets: all answers are the same for two secrets that
// fail some of them.
func TestHandler_oneBit(t *testing.T) {
	t.Parallel()
	const positions = 4
	var names []string
	var schemas strings.Builder
	for i := range positions {
		for _, c := range alphabet {
			names = append(names, fmt.Sprintf("p%d%c", i, c))
		}
		schemas.WriteString(dataSchema(fmt.Sprintf("t/K%s/v1", strings.Repeat("x", i)), "{enum: [a]}"))
	}
	whole := func(secret string) string { return textOf("t/Key/v1", "key", encrypted, secret) }
	inParts := func(secret string) string {
		var body strings.Builder
		for i, c := range secret {
			body.WriteString(textOf(fmt.Sprintf("t/K%s/v1", strings.Repeat("x", i)), fmt.Sprintf("p%da", i), encrypted, string(c)))
		}
		return body.String()
	}
	own := textOf("t/Own/v1", "own", ", storagePolicy: cleartext", "{}")
	for name, c := range map[string]struct {
		secrets [2]string
		keys    func(secret string) string
		probes  string
		fails   [2]float64 // failures that the owner sees, by secret
	}{
		"a document for each character": {[2]string{"abca", "ddbd"}, whole, probes(positions), [2]float64{12, 12}},
		"a schema for each secret":      {[2]string{"abca", "ddbd"}, inParts, schemas.String() + own, [2]float64{2, 4}},
		"a validation for each secret":  {[2]string{"ab", "ba"}, replacedAndTaken, dataSchema("t/K/v1", "{properties: {x: {enum: [a]}}}") + probes(1), [2]float64{3, 4}},
		"a version for each document":   {[2]string{"a", "d"}, whole, versioned(), [2]float64{3, 3}},
		"a schema for each path":        {[2]string{"{a: x, b: x}", "{c: x}"}, whole, takingSchemas() + own, [2]float64{2, 3}},
		"an override for each value":    {[2]string{"{a: running, b: running, c: x, d: x}", "{a: x, b: x, c: x, d: stopped}"}, whole, overrides(), [2]float64{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answers []map[string]string
			for i, secret := range c.secrets {
				s := guarded(t, "")
				s.put(t, "keys", layeringPolicy("layers")+c.keys(secret), as("admin")...).is(t, http.StatusOK)
				put := s.put(t, "probes?findings=true", c.probes, as("writer", "Accept", "text/plain")...).is(t, http.StatusOK)
				if got := put.Header.Get("Purser-Status"); got != "failure; findings=1" {
					t.Errorf("Purser-Status: %s", got)
				}
				got := asked(t, s, names)
				got["PUT"] = put.text
				answers = append(answers, got)
				owner := s.get(t, "revisions/latest/findings", as("admin", asJSON...)...).mapping(t)
				if owner["failures"] != c.fails[i] {
					t.Errorf("the owner of the secret sees %v failures, want %v", owner["failures"], c.fails[i])
				}
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("answers tell more of a secret than that something fails (-one +other)\n%s", diff)
			}
		})
	}
}

// Whoever does not pass the rule for uses of encrypted documents may not add any. The refusal names the document with
// its line, and the rule; uses that exist may stay.
func TestHandler_useEncrypted(t *testing.T) {
	t.Parallel()
	closed, open := guarded(t, `"purser:use_encrypted_documents": role:admin`+"\n"), guarded(t, "")
	const takes = "document 2 (from line 5): [t/Pa/v1, site] p0a substitutes from one"
	for _, s := range []site{open, closed} {
		s.put(t, "keys", layeringPolicy("layers")+textOf("t/Key/v1", "key", encrypted, "a"), as("admin")...).is(t, http.StatusOK)
	}
	for _, query := range []string{"?dry-run=true", ""} {
		open.put(t, "probes"+query, probes(1), as("writer")...).is(t, http.StatusOK)
		refused := closed.put(t, "probes"+query, probes(1), as("writer", asJSON...)...).is(t, http.StatusForbidden)
		for _, part := range []string{takes, "purser:use_encrypted_documents", "Nothing was changed", "t/Pd/v1"} {
			if !strings.Contains(refused.text, part) {
				t.Errorf("the refusal does not say %q:\n%s", part, refused.text)
			}
		}
	}
	closed.put(t, "probes", probes(1), as("admin")...).is(t, http.StatusOK)
	more := textOf("t/Own/v1", "own", ", storagePolicy: cleartext", "{}")
	closed.put(t, "probes", probes(1)+more, as("writer")...).is(t, http.StatusOK)
	closed.do(t, http.MethodPost, "rollback/1", "", as("admin")...).is(t, http.StatusCreated)
	closed.do(t, http.MethodPost, "rollback/3", "", as("writer")...).is(t, http.StatusForbidden)
}

// What an encrypted document is called, what it takes from others, which layer it is in, and whether warnings depend on
// it, is told by no answer to a writer who does not name it.
func TestHandler_namesOfSecrets(t *testing.T) {
	t.Parallel()
	from := func(name string) string {
		return strings.Replace(strings.ReplaceAll(takesKey, "name: key", "name: "+name), "cleartext", "encrypted", 1)
	}
	named := func(name, metadata string) string { return textOf("t/K/v1", name, metadata, "{a: b}") }
	key := func(secret string) string { return textOf("t/Key/v1", "key", encrypted, secret) }
	layers := strings.Replace(layeringPolicy("layers"), "global, site", "global, region, site", 1)
	in := func(layer string) string {
		return strings.Replace(named("k", encrypted), "layer: site", "layer: "+layer, 1)
	}
	above := strings.Replace(textOf("t/W/v1", "above", ", storagePolicy: cleartext", "{}"), "layer: site",
		"layer: global, parentSelector: {is: below}, actions: [{method: merge, path: .}]", 1)
	warns := strings.Replace(textOf("t/W/v1", "warns", takesKey, "{}"), "path: .}", "path: ., pattern: abc}", 1)
	below := textOf("t/W/v1", "below", ", storagePolicy: cleartext, labels: {is: below}", "{}")
	for name, c := range map[string]struct {
		keys [2]string
		put  string
	}{
		"its name":         {[2]string{named("k", encrypted), named("other", encrypted)}, ""},
		"a missing source": {[2]string{named("k", from("lost")), named("k", from("gone"))}, ""},
		"its layer":        {[2]string{in("region"), in("site")}, above},
		"a warning":        {[2]string{key("abc"), key("xyz")}, warns},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answers []map[string]string
			for _, keys := range c.keys {
				s := guarded(t, "")
				s.put(t, "keys", layers+keys, as("admin")...).is(t, http.StatusOK)
				put := s.put(t, "mine?findings=true", below+c.put, as("writer", "Accept", "text/plain")...)
				put.is(t, http.StatusOK)
				got := asked(t, s, []string{"k", "other", "below", "above", "warns"})
				got["PUT"] = put.Header.Get("Purser-Status") + put.Header.Get("Purser-Warning") + put.text
				answers = append(answers, got)
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("answers differ (-one +other)\n%s", diff)
			}
		})
	}
}

// The owner of encrypted documents gets the findings of as many as can be checked again in one request, and of the
// others that they break a rule.
func TestCost_findingsOfSecrets(t *testing.T) {
	t.Parallel()
	s := guarded(t, "")
	s.do(t, http.MethodPut, "buckets/a/documents", layeringPolicy("layers")+dataSchema("t/Slow/v1", "{properties: {v: {items: {allOf: ["+
		numbered("{pattern: '^(a|b)*c*x?(%d)?$'}, ", 100)+"]}}, n: {type: integer}}}"), as("admin", "Content-Type", "application/x-yaml")...).is(t, http.StatusOK)
	const documents = 18
	for i := range documents {
		s.do(t, http.MethodPut, fmt.Sprintf("buckets/b%d/documents", i), textOf("t/Slow/v1", fmt.Sprint("w", i), encrypted,
			"{n: x, v: ["+strings.Repeat(strings.Repeat("ab", 50)+", ", 40)+"]}"), as("admin", "Content-Type", "application/x-yaml")...).is(t, http.StatusOK)
	}
	got := s.get(t, "revisions/latest/findings?validation=deckhand-schema-validation", as("admin", "Accept", "application/json")...).
		is(t, http.StatusOK)
	told, untold := strings.Count(got.text, "The value violates .properties.n.type"), strings.Count(got.text, validations.Sanitized)
	if told == 0 || untold == 0 || told+untold < documents {
		t.Errorf("%d findings are told, %d not: %.3000s", told, untold, got.text)
	}
}
