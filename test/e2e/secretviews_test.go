package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/authz"
	"purser/internal/store/storetest"
)

// guarded is a server with a keyset and users with different rights:
//
//	admin    everything
//	writer   reads, and stores cleartext documents
//	reader   reads
//	creator  reads, and stores documents of both kinds
//
// Only the admin may see encrypted documents.
type guarded struct {
	*server
	*keys
}

// guardedPolicy is the policy file of a guarded server.
func guardedPolicy() string {
	var policy strings.Builder
	allow := func(roles string, rules ...string) {
		for _, rule := range rules {
			fmt.Fprintf(&policy, "%q: %s\n", rule, roles)
		}
	}
	allow("role:admin or role:writer or role:creator", authz.CreateCleartextDocuments)
	allow("role:admin or role:creator", authz.CreateEncryptedDocuments)
	allow("role:admin or role:writer or role:creator or role:reader", authz.ListCleartextDocuments, authz.ShowRevision,
		authz.ListRevisions, authz.ShowRevisionDiff, authz.ShowRevisionDeepDiff, authz.ListTags, authz.ShowTag,
		authz.ListValidations, authz.ShowValidation)
	return policy.String()
}

// guardedFlags returns the flags of a guarded server and the tokens of its users.
func guardedFlags(t *testing.T) (flags []string, k *keys) {
	t.Helper()
	k = newKeys(t, "admin", "writer", "reader", "creator")
	return []string{
		"--auth", "tokens", "--tokens-file", k.file, "--policy-file", policyFile(t, guardedPolicy()), "--secrets-keyset", newKeyset(t),
		"--request-rate", "0", "--log-level", "debug", "--signing-keyset", newSigningKeys(t),
	}, k
}

func startGuarded(t *testing.T) guarded {
	t.Helper()
	flags, k := guardedFlags(t)
	return guarded{startFresh(t, flags...), k}
}

// by sends a request of a user and checks it against the contract.
func (g guarded) by(t *testing.T, user, method, path, body string, header ...string) answer {
	t.Helper()
	return g.send(t, g.request(user, method, path, body, header...))
}

func (g guarded) request(user, method, path, body string, header ...string) request {
	r := request{method: method, path: path, body: body, header: map[string]string{"X-Auth-Token": g.of[user]}}
	if body != "" {
		r.header["Content-Type"] = "application/x-yaml"
	}
	maps.Copy(r.header, pairs(header))
	return r
}

func (g guarded) puts(t *testing.T, user, bucket, body string) answer {
	t.Helper()
	return g.by(t, user, http.MethodPut, "buckets/"+bucket+"/documents", body)
}

// empties purges the site for the next part of a test.
func (g guarded) empties(t *testing.T) {
	t.Helper()
	g.by(t, "admin", http.MethodDelete, "revisions", "").is(t, http.StatusNoContent)
}

// blind returns the users who are not shown secrets, and the query that their requests need.
func blind() map[string]string {
	return map[string]string{"writer": "", "reader": "", "admin": "cleartext-secrets=false"}
}

// withQuery adds parameters to the query of a path.
func withQuery(path, query string) string {
	switch {
	case query == "":
		return path
	case strings.Contains(path, "?"):
		return path + "&" + query
	}
	return path + "?" + query
}

// windows returns all substrings of a given length.
func windows(text string, length int) (parts []string) {
	for i := 0; i+length <= len(text); i++ {
		parts = append(parts, text[i:i+length])
	}
	return parts
}

// digests returns the beginnings of the digests of a secret: of its text and of its JSON.
func digests(t fataler, value any) (text, asJSON string) {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("write a secret: %v", err)
	}
	ofText, ofJSON := sha256.Sum256([]byte(fmt.Sprint(value))), sha256.Sum256(encoded)
	return hex.EncodeToString(ofText[:])[:16], hex.EncodeToString(ofJSON[:])[:16]
}

// fataler is a test, or one run of a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// tells returns the first of texts that an answer contains in its body or headers, "" if it contains none.
func (a answer) tells(texts []string) string {
	all := fmt.Sprintln(a.got) + a.text
	for _, text := range texts {
		if strings.Contains(all, text) {
			return text
		}
	}
	return ""
}

// tellsNothing checks that an answer contains no part of a secret, and no digest of one.
func (a answer) tellsNothing(t *testing.T, secrets ...string) answer {
	t.Helper()
	for _, secret := range secrets {
		text, asJSON := digests(t, secret)
		if part := a.tells(append(windows(secret, 4), text, asJSON)); part != "" {
			t.Errorf("%s %s tells %q of the secret %q:\n%s", a.method, a.path, part, secret, brief(a.text))
		}
	}
	return a
}

// withheldText is a part of the message that replaces messages about secrets.
const withheldText = "only callers who may see encrypted documents are told what, and why"

// withheldFrom returns a part of the message that replaces messages about secrets for a user in blind. For the admin,
// who can ask for secrets, it says how; the others have no choice.
func withheldFrom(user string) string {
	if user == "admin" {
		return "to see it, ask with cleartext-secrets=true"
	}
	return withheldText
}

// validationsOf returns a ValidationPolicy that lists all validations.
func validationsOf() string {
	return policy("vp", "deckhand-schema-validation", "deckhand-policy-validation", "deckhand-rendering-validation")
}

// takesWhole returns metadata of a document that takes the passphrase pw.
func takesWhole(dest string) string { return substitutes(fromPassphrase("{path: " + dest + "}")) }

// messagesOf returns the messages of the errors of an entry.
func (a answer) messagesOf(t *testing.T) (messages []string) {
	t.Helper()
	errors, _ := a.is(t, http.StatusOK).mapping(t)["errors"].([]any)
	for _, item := range errors {
		e, _ := item.(map[string]any)
		messages = append(messages, fmt.Sprint(e["message"]))
	}
	return messages
}

// Regression tests of leaks that were found, one by one.
//
//nolint:paralleltest,tparallel // one after the other
func TestSecrets_holes(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	for _, hole := range []struct {
		name string
		test func(*testing.T, guarded)
	}{
		{"schemas and their documentation", holeSchemas},
		{"client versions", holeVersions},
		{"enumerations", holeEnumerations},
		{"encrypted parents", holeParents},
		{"paths of schemas", holeSchemaPaths},
		{"references", holeReferences},
		{"graphs and differences", holeGraphs},
		{"what others are near to", holeNear},
		{"dry runs of relations", holeRelations},
		{"replacing and deleting", holeReplacing},
	} {
		t.Run(hole.name, func(t *testing.T) {
			g.empties(t)
			hole.test(t, g)
		})
	}
}

const hidden = "QZXJVKWQXV"

// A DataSchema whose description comes from a secret does not show it to callers who may not see secrets.
func holeSchemas(t *testing.T, g guarded) {
	t.Helper()
	g.puts(t, "admin", "site", layeringPolicy("lp")+passphrase("pw", hidden)+dataSchema("acme/Gadget/v1", "{type: object}")+
		docWith("deckhand/DataSchema/v1", "acme/Widget/v1", "{type: object}", takesWhole(".description"))).is(t, http.StatusOK)
	const list, schema = "revisions/1/schemas", "revisions/1/schemas/acme/Widget/v1"
	for user, query := range blind() {
		for _, path := range []string{schema, schema + "/docs"} {
			g.by(t, user, http.MethodGet, withQuery(path, query), "").tellsNothing(t, hidden).fails(t, http.StatusForbidden, "HTTPForbidden", "acme/Widget/v1")
		}
		if text := g.by(t, user, http.MethodGet, withQuery(list, query), "").is(t, http.StatusOK).text; strings.Contains(text, "acme/Widget/v1") || !strings.Contains(text, "acme/Gadget/v1") {
			t.Errorf("%s sees the schemas\n%s", user, text)
		}
	}
	for _, path := range []string{schema, schema + "/docs"} {
		if text := g.by(t, "admin", http.MethodGet, path, "").is(t, http.StatusOK).text; !strings.Contains(text, hidden) {
			t.Errorf("%s does not show the admin all:\n%s", path, text)
		}
	}
	if text := g.by(t, "admin", http.MethodGet, list, "").is(t, http.StatusOK).text; !strings.Contains(text, "acme/Widget/v1") {
		t.Errorf("the admin sees the schemas\n%s", text)
	}
}

// Messages about properties that depend on a client version do not quote a secret version.
func holeVersions(t *testing.T, g guarded) {
	t.Helper()
	g.puts(t, "admin", "site", layeringPolicy("lp")+validationsOf()+passphrase("pw", hidden)+
		docWith("purser/ClientVersions/v1", "cv", "{}", takesWhole(".shop"))).is(t, http.StatusOK)
	g.puts(t, "admin", "widgets", widget("w", "{size: 1}")).is(t, http.StatusOK)
	path := "changesets?dry-run=true"
	inBucket := func(document string) string { return document + "status: {bucket: schemas}\n" }
	dry := g.by(t, "writer", http.MethodPut, path, inBucket(sized())).is(t, http.StatusOK).tellsNothing(t, hidden)
	if preview := dry.mapping(t); preview["withheld"] == nil || strings.Contains(dry.text, "size depends") {
		t.Errorf("the writer's dry run says\n%s", dry.text)
	}
	if dry := g.by(t, "admin", http.MethodPut, path, inBucket(sized())).is(t, http.StatusOK).tellsNothing(t, hidden); !strings.Contains(dry.text, versionHidden) || dry.mapping(t)["withheld"] != nil {
		t.Errorf("the admin's dry run says\n%s", dry.text)
	}
	g.by(t, "creator", http.MethodPut, path, inBucket(sized())).is(t, http.StatusOK).tellsNothing(t, hidden)
	g.puts(t, "writer", "schemas", sized()).is(t, http.StatusOK).tellsNothing(t, hidden)
	g.isWithheld(t, "3", "w", versionHidden, hidden)
}

// versionHidden is a part of messages about client versions that come from a secret.
const versionHidden = "version (hidden, because it comes from an encrypted document); supported"

// isWithheld checks that all validations of a revision fail because of a document, that only the admin sees which and
// why, and that the database does not contain the reason.
func (g guarded) isWithheld(t *testing.T, revision, name, why string, secrets ...string) {
	t.Helper()
	for user, query := range blind() {
		detail := withQuery("revisions/"+revision+"/validations/detail", query)
		text := g.by(t, user, http.MethodGet, detail, "").is(t, http.StatusOK).tellsNothing(t, secrets...).text
		if named := strings.Contains(text, "name: "+name); !strings.Contains(text, withheldFrom(user)) || named != (user == "admin") {
			t.Errorf("%s is told of the failure of %s:\n%s", user, name, text)
		}
		status := withQuery("revisions/"+revision+"/status", query)
		said := g.by(t, user, http.MethodGet, status, "", "Accept", "text/plain").is(t, http.StatusOK).tellsNothing(t, secrets...).text
		if !strings.Contains(said, withheldFrom(user)) {
			t.Errorf("the status tells %s\n%s", user, said)
		}
	}
	if text := g.by(t, "admin", http.MethodGet, "revisions/"+revision+"/validations/detail", "").is(t, http.StatusOK).text; !strings.Contains(text, why) || strings.Contains(text, withheldText) {
		t.Errorf("the admin is not told %q:\n%s", why, text)
	}
	for table, rows := range dump(t, g.database) {
		for _, secret := range secrets {
			if i := strings.Index(rows, secret); i >= 0 {
				t.Errorf("the table %s tells a secret: %s", table, brief(rows[max(0, i-200):]))
			}
		}
	}
}

// A secret in an enumeration is neither shown nor stored.
func holeEnumerations(t *testing.T, g guarded) {
	t.Helper()
	g.puts(t, "admin", "site", layeringPolicy("lp")+validationsOf()+passphrase("pw", hidden)+
		docWith("deckhand/DataSchema/v1", "acme/Widget/v1", "{properties: {x: {enum: [a]}}}", takesWhole("'.properties.x.enum[0]'"))).is(t, http.StatusOK)
	w := widget("w", "{x: a}")
	dry := g.by(t, "writer", http.MethodPut, "buckets/widgets/documents?dry-run=true", w).is(t, http.StatusOK).tellsNothing(t, hidden)
	if preview := dry.mapping(t); preview["withheld"] == nil || strings.Contains(dry.text, withheldText) {
		t.Errorf("the writer's dry run says\n%s", dry.text)
	}
	if dry := g.by(t, "admin", http.MethodPut, "buckets/widgets/documents?dry-run=true", w).is(t, http.StatusOK).tellsNothing(t, hidden); !strings.Contains(dry.text, sanitized) {
		t.Errorf("the admin's dry run says\n%s", dry.text)
	}
	redacted := g.by(t, "admin", http.MethodPut, "buckets/widgets/documents?dry-run=true&cleartext-secrets=false", w)
	if redacted.is(t, http.StatusOK).tellsNothing(t, hidden); !strings.Contains(redacted.text, withheldFrom("admin")) {
		t.Errorf("the admin's dry run without secrets says\n%s", redacted.text)
	}
	g.puts(t, "writer", "widgets", w).is(t, http.StatusOK).tellsNothing(t, hidden)
	g.isWithheld(t, "2", "w", sanitized, hidden)
	g.by(t, "admin", http.MethodGet, "revisions/2/rendered-documents?cleartext-secrets=false", "").tellsNothing(t, hidden).
		fails(t, http.StatusBadRequest, "InvalidDocumentFormat", withheldFrom("admin"))
}

// sanitized replaces messages that may quote a secret, for callers who may see that such messages exist.
const sanitized = "Sanitized to avoid exposing secret."

// No finding quotes data that a document inherits from an encrypted parent, whoever the caller is.
func holeParents(t *testing.T, g guarded) {
	t.Helper()
	parent := "---\n{schema: acme/Widget/v1, metadata: {schema: metadata/Document/v1, name: p, storagePolicy: encrypted, " +
		"labels: {is: parent}, layeringDefinition: {abstract: true, layer: site}}, data: {x: " + hidden + "}}\n"
	child := "---\n{schema: acme/Widget/v1, metadata: {schema: metadata/Document/v1, name: w, storagePolicy: cleartext, " +
		"layeringDefinition: {abstract: false, layer: rack, parentSelector: {is: parent}, " +
		"actions: [{method: merge, path: .}]}}, data: {y: 1}}\n"
	g.puts(t, "admin", "site", docWith("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [site, rack]}", "")+validationsOf()+
		parent+child+dataSchema("acme/Widget/v1", "{properties: {x: {maxLength: 3}}}")).is(t, http.StatusOK).tellsNothing(t, hidden)
	for _, path := range []string{"findings", "validations/detail"} {
		text := g.by(t, "admin", http.MethodGet, "revisions/1/"+path, "").is(t, http.StatusOK).tellsNothing(t, hidden).text
		if !strings.Contains(text, "violates .properties.x.maxLength of the schema") {
			t.Errorf("%s does not tell the admin which rule fails:\n%s", path, text)
		}
	}
	g.by(t, "admin", http.MethodGet, "revisions/1/rendered-documents", "").tellsNothing(t, hidden).
		fails(t, http.StatusBadRequest, "InvalidDocumentFormat", sanitized)
}

// No dry run reveals which branch of a schema a secret fails; a change reveals it to the admin only.
func holeSchemaPaths(t *testing.T, g guarded) {
	t.Helper()
	const secret = "QZXJVKWQ"
	g.puts(t, "admin", "site", layeringPolicy("lp")+validationsOf()+passphrase("pw", secret)+
		encrypted(doc("acme/Key/v1", "own", fmt.Sprintf("%q", secret)))+
		docWith("acme/Lock/v1", "taken", "{}", takesWhole(".key"))).is(t, http.StatusOK)
	branches := func(of, first string) string {
		return fmt.Sprintf("{allOf: [{type: [object, string]}, %s]}", strings.ReplaceAll(of, "PATTERN", "not: {pattern: ^"+first+"}"))
	}
	for kind, of := range map[string]string{"acme/Key/v1": "{PATTERN}", "acme/Lock/v1": "{properties: {key: {PATTERN}}}"} {
		answers := map[string]string{}
		for _, first := range []string{"Q", "X"} {
			schema := dataSchema(kind, branches(of, first))
			dry := g.by(t, "writer", http.MethodPut, "buckets/schemas/documents?dry-run=true", schema).is(t, http.StatusOK)
			if dry.mapping(t)["withheld"] == nil {
				t.Errorf("it is not said that %s is not judged:\n%s", kind, dry.text)
			}
			answers[dry.text] = first
			if dry := g.by(t, "admin", http.MethodPut, "buckets/schemas/documents?dry-run=true", schema).is(t, http.StatusOK); strings.Contains(dry.text, "allOf.1") != (first == "Q") {
				t.Errorf("the admin's dry run of ^%s for %s says\n%s", first, kind, dry.text)
			}
		}
		if len(answers) != 1 {
			t.Errorf("dry runs tell how the secret of %s begins: %v", kind, slices.Collect(maps.Keys(answers)))
		}
	}
	g.puts(t, "writer", "schemas", dataSchema("acme/Key/v1", branches("{PATTERN}", "Q"))).is(t, http.StatusOK)
	for user, query := range blind() {
		got := g.by(t, user, http.MethodGet, withQuery("revisions/2/validations/detail", query), "").is(t, http.StatusOK)
		if !strings.Contains(got.text, "status: failure") || strings.Contains(got.text, "allOf") || user != "admin" && strings.Contains(got.text, "name: own") {
			t.Errorf("%s sees of a secret that fails its schema\n%s", user, got.text)
		}
	}
	if text := g.by(t, "admin", http.MethodGet, "revisions/2/validations/detail", "").is(t, http.StatusOK).text; !strings.Contains(text, ".allOf.1.not") || !strings.Contains(text, "name: own") {
		t.Errorf("the admin sees\n%s", text)
	}
	if rows := dump(t, g.database)["checks"]; strings.Contains(rows, "allOf") {
		t.Errorf("the rule that a secret fails is stored:\n%s", brief(rows))
	}
}

// A cleartext document with the same text as a reference to a secret does not get the secret.
func holeReferences(t *testing.T, g guarded) {
	t.Helper()
	pw := layeringPolicy("lp") + passphrase("pw", hidden)
	reference := fmt.Sprint(g.puts(t, "admin", "site", pw).is(t, http.StatusOK).data(t)["pw"])
	isKept := func(what string) {
		t.Helper()
		g.puts(t, "admin", "site", pw).is(t, http.StatusOK)
		rendered := g.by(t, "admin", http.MethodGet, "revisions/latest/rendered-documents?metadata.name=pw", "").is(t, http.StatusOK)
		if got := rendered.data(t)["pw"]; got != hidden {
			t.Errorf("%s: the secret renders to %v", what, got)
		}
	}
	const asJSON = `[{"schema":"acme/Text/v1","metadata":{"schema":"metadata/Document/v1","name":"text","storagePolicy":"cleartext","layeringDefinition":{"layer":"site"}},"data":%q,"status":{"bucket":"texts"}}]`
	for name, write := range map[string]func(){
		"PUT": func() {
			g.puts(t, "writer", "texts", doc("acme/Text/v1", "text", fmt.Sprintf("%q", reference))).is(t, http.StatusOK)
		},
		"change set": func() {
			r := g.request("writer", http.MethodPut, "changesets", fmt.Sprintf(asJSON, reference), "Content-Type", "application/json")
			g.send(t, r).is(t, http.StatusOK)
		},
		"a passphrase in clear": func() {
			g.puts(t, "writer", "texts", doc("deckhand/Passphrase/v1", "clear", fmt.Sprintf("%q", reference))).is(t, http.StatusOK)
		},
	} {
		g.empties(t)
		write()
		isKept(name + " before the secret")
		g.empties(t)
		g.puts(t, "admin", "site", pw).is(t, http.StatusOK)
		write()
		texts := g.by(t, "writer", http.MethodGet, "revisions/latest/rendered-documents?status.bucket=texts", "").is(t, http.StatusOK)
		for text, data := range texts.data(t) {
			if data != reference {
				t.Errorf("%s: the document %s renders to %v", name, text, data)
			}
		}
		isKept(name + " after the secret")
	}
}

// Graphs, explanations and differences do not name encrypted documents, and reveal nothing of their metadata.
func holeGraphs(t *testing.T, g guarded) {
	t.Helper()
	concealed := func(secret string) string {
		return encrypted(doc("acme/Key/v1", "veiled-key", fmt.Sprintf("%q", secret))) +
			encrypted(inLayer("global", docWith("acme/Widget/v1", "veiled-parent", fmt.Sprintf("{x: %q}", secret), labelled("veiled: label"))))
	}
	visible := widget("child", "{y: 1}") + widget("open", "{a: 1}")
	g.puts(t, "admin", "site", layeringPolicy("lp")+under("veiled: label", "site", visible, "merge .")+concealed("KWQXVZKJ")).is(t, http.StatusOK)
	g.puts(t, "admin", "site", layeringPolicy("lp")+under("veiled: label", "site", strings.Replace(visible, "a: 1", "a: 2", 1), "merge .")+concealed(hidden)).is(t, http.StatusOK)
	for _, user := range []string{"writer", "reader", "creator"} {
		for _, path := range []string{
			"revisions/2/graph", "revisions/2/graph?format=dot", "revisions/2/graph?format=svg", "revisions/2/documents", "revisions/2/rendered-documents",
			explainPath("2", "acme/Widget/v1", "child"), explainPath("2", "acme/Widget/v1", "open"), "revisions/1/deepdiff/2", "revisions/0/deepdiff/2?format=json-patch",
			"revisions/1/deepdiff/2?format=unified", "revisions/1/diff/2", "revisions/2/validations/detail",
		} {
			got := g.by(t, user, http.MethodGet, path, "").is(t, http.StatusOK)
			if part := got.tells([]string{"veiled-", "acme/Key", hidden, "KWQXVZKJ"}); part != "" {
				t.Errorf("%s: %s tells %q\n%s", user, path, part, brief(got.text))
			}
		}
		for _, name := range []string{"acme/Key/v1/veiled-key", "acme/Widget/v1/veiled-parent"} {
			g.by(t, user, http.MethodGet, "revisions/2/graph?focus="+name, "").fails(t, http.StatusNotFound, "DocumentNotFound")
		}
		g.by(t, user, http.MethodGet, explainPath("2", "acme/Key/v1", "veiled-key"), "").fails(t, http.StatusNotFound, "DocumentNotFound")
	}
	for _, path := range []string{"revisions/2/graph", "revisions/2/graph?format=dot", "revisions/1/deepdiff/2?format=json-patch"} {
		if text := g.by(t, "admin", http.MethodGet, path, "").is(t, http.StatusOK).text; !strings.Contains(text, "veiled-key") {
			t.Errorf("%s leaves out for the admin what is encrypted:\n%s", path, brief(text))
		}
	}
	// Findings about relations between documents do not name them either.
	g.puts(t, "admin", "policy", validationsOf()+encrypted(inLayer("nowhere", doc("acme/Key/v1", "veiled-lost", "x")))).is(t, http.StatusOK)
	for _, path := range []string{"revisions/3/validations/detail", "revisions/3/status", "revisions/3", "revisions/3/graph"} {
		got := g.by(t, "reader", http.MethodGet, path, "").is(t, http.StatusOK)
		if part := got.tells([]string{"veiled-", "acme/Key"}); part != "" {
			t.Errorf("%s tells %q\n%s", path, part, brief(got.text))
		}
	}
	for _, path := range []string{"revisions/3/validations/detail", "revisions/3/graph"} {
		if text := g.by(t, "admin", http.MethodGet, path, "").is(t, http.StatusOK).text; !strings.Contains(text, "veiled-lost") {
			t.Errorf("%s does not tell the admin which document is in no layer:\n%s", path, text)
		}
	}
}

// Findings about other documents suggest no names of encrypted ones, and do not count these.
func holeNear(t *testing.T, g guarded) {
	t.Helper()
	is := labelled("is: parent")
	said := func(veiled int) (texts []string) {
		g.empties(t)
		concealed := []string{encrypted(asControl(doc("deckhand/DataSchema/v1", "acme/Veiled/v1", "{type: object}")))}
		for i := range veiled {
			concealed = append(concealed, encrypted(inLayer("global", docWith("acme/Widget/v1", fmt.Sprintf("veiled%d", i), "{x: 1}", is))))
		}
		g.puts(t, "admin", "site", layeringPolicy("lp")+policy("vp", "purser-coverage-validation", "deckhand-policy-validation", "deckhand-rendering-validation")+
			dataSchema("acme/Widget/v1", "{}")+strings.Join(concealed, "")).is(t, http.StatusOK)
		child := under("is: parent", "site", widget("child", "{}"), "merge .")
		open := inLayer("global", docWith("acme/Widget/v1", "open", "{}", is))
		documents := doc("acme/Veil/v1", "near", "{}") + open + child
		texts = append(texts, g.plain(g.by(t, "writer", http.MethodPut, "buckets/mine/documents?dry-run=true", documents)))
		g.puts(t, "writer", "mine", documents).is(t, http.StatusOK)
		for user, query := range blind() {
			for _, path := range []string{"findings", "status", "validations/detail"} {
				a := g.by(t, user, http.MethodGet, withQuery("revisions/2/"+path, query), "", "Accept", "application/json").is(t, http.StatusOK)
				if part := a.tells([]string{"Veiled", "veiled", "Found: "}); user != "admin" && part != "" {
					t.Errorf("%s: %s tells %q\n%s", user, path, part, brief(a.text))
				}
				if !strings.Contains(a.text, "No DataSchema is named acme/Veil/v1") && path != "status" {
					t.Errorf("%s does not tell %s which schema is missing:\n%s", path, user, brief(a.text))
				}
				if user != "admin" {
					texts = append(texts, g.plain(a))
				}
			}
		}
		slices.Sort(texts)
		return texts
	}
	if diff := cmp.Diff(said(1), said(3)); diff != "" {
		t.Errorf("the answers tell how many encrypted documents there are:\n%s", diff)
	}
}

// Dry runs do not tell what encrypted documents are called, which labels they have, and which they select.
func holeRelations(t *testing.T, g guarded) {
	t.Helper()
	said := func(kind, label, selected, validation string) string {
		g.empties(t)
		g.puts(t, "admin", "site", layeringPolicy("lp")+policy("vp", validation)+
			encrypted(inLayer("global", docWith("acme/Widget/v1", "veiled", "{x: 1}", labelled("is: "+label))))+
			encrypted(under("is: "+selected, "site", doc(kind, "selecting", "{x: 1}"), "merge ."))).is(t, http.StatusOK)
		g.puts(t, "admin", "schemas", dataSchema("acme/Widget/v1", "{}")).is(t, http.StatusOK)
		open := inLayer("global", docWith("acme/Widget/v1", "open", "{}", labelled("is: guess")))
		documents := open + under("is: guess", "site", widget("child", "{}"), "merge .") + dataSchema("acme/Guess/v1", "{}")
		dry := g.by(t, "writer", http.MethodPut, "buckets/mine/documents?dry-run=true", documents).is(t, http.StatusOK)
		if strings.Contains(dry.text, withheldText) || !strings.Contains(dry.text, "withheld: ") {
			t.Errorf("%s: the dry run says\n%s", validation, dry.text)
		}
		return g.plain(dry)
	}
	for _, validation := range []string{"deckhand-policy-validation", "deckhand-rendering-validation", "purser-coverage-validation"} {
		wrong := said("acme/Other/v1", "other", "other", validation)
		for name, right := range map[string]string{
			"a schema": said("acme/Guess/v1", "other", "other", validation), "a label": said("acme/Other/v1", "guess", "other", validation),
			"a selector": said("acme/Other/v1", "other", "guess", validation),
		} {
			if diff := cmp.Diff(right, wrong); diff != "" {
				t.Errorf("%s: a dry run tells that %s was guessed (-right +wrong):\n%s", validation, name, diff)
			}
		}
	}
}

// Only callers who may store encrypted documents may replace or delete them, in whatever way.
func holeReplacing(t *testing.T, g guarded) {
	t.Helper()
	g.puts(t, "admin", "other", layeringPolicy("lp")).is(t, http.StatusOK)
	g.puts(t, "admin", "site", widget("w", "{}")).is(t, http.StatusOK)
	g.puts(t, "admin", "site", widget("w", "{}")+passphrase("pw", hidden)).is(t, http.StatusOK)
	inClear := doc("deckhand/Passphrase/v1", "pw", "clear")
	bucket := func(document, name string) string { return document + "status: {bucket: " + name + "}\n" }
	for name, c := range map[string]change{
		"replaced":               {http.MethodPut, "buckets/site/documents", widget("w", "{}") + inClear, false},
		"left out":               {http.MethodPut, "buckets/site/documents", widget("w", "{}"), false},
		"emptied":                {http.MethodPut, "buckets/site/documents", "", false},
		"replaced in a set":      {http.MethodPut, "changesets", bucket(inClear, "site"), false},
		"moved in a set":         {http.MethodPut, "changesets?buckets=site", bucket(inClear, "else"), false},
		"left out of a set":      {http.MethodPut, "changesets", bucket(widget("w", "{}"), "site"), false},
		"emptied by a set":       {http.MethodPut, "changesets?buckets=site", "", false},
		"rolled back":            {http.MethodPost, "rollback/2", "", false},
		"rolled back to nothing": {http.MethodPost, "rollback/0", "", false},
	} {
		for _, query := range []string{"", "?dry-run=true"} {
			r := c.request(query)
			r.header["X-Auth-Token"] = g.of["writer"]
			got := g.send(t, r).tellsNothing(t, hidden)
			if got.fails(t, http.StatusForbidden, "HTTPForbidden", "create_encrypted_documents", "deckhand/Passphrase/v1"); !strings.Contains(got.text, "pw") {
				t.Errorf("%s%s: it is not said which document:\n%s", name, query, got.text)
			}
		}
	}
	if got := g.by(t, "admin", http.MethodGet, "revisions/latest", "").mapping(t)["id"]; got != 3 {
		t.Errorf("the newest revision is %v", got)
	}
	g.puts(t, "writer", "mine", widget("v", "{}")).is(t, http.StatusOK)
	g.puts(t, "creator", "site", widget("w", "{}")).is(t, http.StatusOK)
}

// A lost secret part of a document is stored again when the document is put again. A part that is not lost is not
// stored again, not even by a server that has started since.
//
//nolint:paralleltest,tparallel // one after the other
func TestSecrets_lostPart(t *testing.T) {
	t.Parallel()
	database, keyset := storetest.URL(t), newKeyset(t)
	pw := layeringPolicy("lp") + passphrase("pw", hidden)
	t.Run("before", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", keyset)
		s.put(t, "site", pw).is(t, http.StatusOK)
	})
	t.Run("kept", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", keyset)
		s.put(t, "site", pw).is(t, http.StatusOK)
		if newest := s.get(t, "revisions/latest").mapping(t)["id"]; newest != 1 {
			t.Errorf("the same secret made revision %v", newest)
		}
		execute(t, database, "UPDATE contents SET sealed = NULL WHERE sealed IS NOT NULL")
	})
	t.Run("lost", func(t *testing.T) {
		s := startOn(t, database, "--secrets-keyset", keyset)
		s.get(t, "revisions/latest/rendered-documents").fails(t, http.StatusInternalServerError, "SecretLost", "store the document again")
		s.put(t, "site", pw).is(t, http.StatusOK)
		if got := s.get(t, "revisions/latest/rendered-documents").data(t)["pw"]; got != hidden {
			t.Errorf("the secret renders to %v", got)
		}
	})
}

// The parts of a value that are not secret are explained, also as text.
func TestSecrets_explainedInPart(t *testing.T) {
	t.Parallel()
	s := startSealed(t)
	takes := func(dest string) string {
		return substitutes("{src: {schema: acme/Widget/v1, name: mixed, path: .}, dest: {path: " + dest + "}}")
	}
	s.put(t, "site", layeringPolicy("lp")+passphrase("pw", hidden)+docWith("acme/Widget/v1", "mixed", "{m: 1, x: 2, a: 3}", takesWhole(".m"))+
		docWith("acme/Widget/v1", "w", "{}", takes(".all"))).is(t, http.StatusOK)
	text := s.get(t, explainPath("1", "acme/Widget/v1", "w"), "Accept", "text/plain").is(t, http.StatusOK).text
	for _, part := range []string{"x: 2", "a: 3", "secret"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

// The keys of an encrypted document are as secret as its values. Callers who are not shown secrets do not see them in
// explanations of documents that inherit them or take them by substitution.
func TestSecrets_keysOfParents(t *testing.T) {
	t.Parallel()
	s := startSealed(t)
	parent := inLayer("global", docWith("acme/Widget/v1", "parent", "{"+hidden+": {down: 1}}", labelled("id: parent")))
	s.put(t, "site", layeringPolicy("lp")+encrypted(parent)+under("id: parent", "site", widget("w", "{x: 1}"), "merge .")).is(t, http.StatusOK)
	for _, accept := range []string{"application/json", "text/plain"} {
		path := withQuery(explainPath("1", "acme/Widget/v1", "w"), "cleartext-secrets=false")
		s.send(t, request{method: http.MethodGet, path: path, header: pairs([]string{"Accept", accept}), bad: true}).is(t, http.StatusOK).tellsNothing(t, hidden)
	}
}

// A posted result is shown as posted, whatever it contains.
func TestSecrets_postedMessages(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "site", layeringPolicy("lp")+docWith("acme/Widget/v1", "w", "{}", substitutes(from("none", ".", "{path: .x}")))).is(t, http.StatusOK)
	s.post(t, "revisions/1/validations/mine", fmt.Sprintf("{status: failure, validator: {name: tester, version: '1'}, errors: [{message: %q}]}", authz.Withheld)).is(t, http.StatusCreated)
	if got := s.get(t, "revisions/1/validations/mine/entries/0").messagesOf(t); len(got) != 1 || got[0] != authz.Withheld {
		t.Errorf("the result says %q", got)
	}
	if text := s.get(t, "revisions/1/status", "Accept", "text/plain").text; !strings.Contains(text, "mine: failure: "+authz.Withheld) {
		t.Errorf("the status says\n%s", text)
	}
}

// Callers who may not see a secret do not learn how much work its check takes: a schema could be written that exceeds
// the budget depending on the secret.
func TestSecrets_work(t *testing.T) {
	t.Parallel()
	flags, k := guardedFlags(t)
	g := guarded{startLean(t, flags...), k}
	g.puts(t, "admin", "site", layeringPolicy("lp")+encrypted(doc("acme/Key/v1", "veiled", fmt.Sprintf("%q", hidden)))).is(t, http.StatusOK)
	const levels, width = 8, 8
	var definitions strings.Builder
	for i := range levels {
		fmt.Fprintf(&definitions, "d%d: {allOf: [%s]}, ", i, strings.Repeat(fmt.Sprintf("{$ref: '#/definitions/d%d'}, ", i+1), width))
	}
	var statuses []int
	for _, first := range []string{"Q", "X"} { // the first one is right
		schema := fmt.Sprintf("{definitions: {%sd%d: {type: string}}, anyOf: [{not: {pattern: ^%s}}, {$ref: '#/definitions/d0'}]}", definitions.String(), levels, first)
		got := g.puts(t, "writer", "schemas", dataSchema("acme/Key/v1", schema))
		if statuses = append(statuses, got.status); strings.Contains(got.text, "veiled") {
			t.Errorf("it names an encrypted document:\n%s", got.text)
		}
	}
	if statuses[0] != statuses[1] {
		t.Errorf("the statuses tell how the secret begins: %v", statuses)
	}
}

// Dry runs are in the audit, because they could be used for guesses.
func TestSecrets_auditOfDryRuns(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	g.by(t, "writer", http.MethodPut, "buckets/b/documents?dry-run=true", widget("w", "{}")).is(t, http.StatusOK)
	if found := g.auditEvents(t, g.keys, "user=writer"); len(found) != 1 || !strings.Contains(found[0], "dry-run=true") {
		t.Errorf("the audit has %q", found)
	}
}

// Messages about secrets stored by an older version are not shown to callers who may not see secrets.
func TestSecrets_storedBefore(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	g.puts(t, "admin", "site", layeringPolicy("lp")+validationsOf()+passphrase("pw", hidden)+sized()+
		docWith("purser/ClientVersions/v1", "cv", "{}", takesWhole(".shop"))+widget("w", "{size: 1}")).is(t, http.StatusOK)
	const message = "Property size is not supported by client plugin shop version " + hidden
	execute(t, g.database, "ALTER TABLE checks DROP CONSTRAINT checks_withheld")
	execute(t, g.database, "UPDATE results SET errors = '[{\"message\": \""+message+"\", \"error\": true}]', message = '"+message+"' WHERE errors <> '[]'")
	execute(t, g.database, "UPDATE checks SET findings = '[{\"message\":\"Sanitized to avoid exposing secret.\",\"instance\":[],\"schema_path\":\"."+hidden+"\"}]' WHERE findings LIKE '%\"secret\":%'")
	migration, err := os.ReadFile("../../migrations/0008_withheld.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, g.database, string(migration))
	for _, path := range []string{"revisions/1/validations/detail", "revisions/1/status"} {
		g.by(t, "reader", http.MethodGet, path, "", "Accept", "text/plain").is(t, http.StatusOK).tellsNothing(t, hidden)
	}
	for table, text := range dump(t, g.database) {
		if (table == "checks" || table == "results") && strings.Contains(text, hidden) {
			t.Errorf("%s keeps the secret", table)
		}
	}
}
