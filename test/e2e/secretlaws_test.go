package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/api"
	"purser/internal/attest"
	"purser/internal/store/storetest"
	"purser/internal/validations"
	"purser/test/contract"
)

// few returns a property that is checked in only ofHundred of a hundred cases, because it takes long.
func few(ofHundred int, property func(*rapid.T)) func(*rapid.T) {
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		checks = 25
	}
	ran, failed := 0, false
	return func(t *rapid.T) {
		if ran++; 100*ran > ofHundred*checks && !failed { // failed cases are run again to shrink them
			return
		}
		passed := false
		defer func() { failed = failed || !passed }()
		property(t)
		passed = true
	}
}

// secretSite is a site in which secrets flow between documents. In its documents, @0@ stands for the first secret, and
// so on. Secrets of the second generation later replace those of the first.
type secretSite struct {
	secrets   int
	buckets   []string          // in the order in which they are put
	documents map[string]string // by bucket
	writers   []string          // documents that the writer tries to put
	explained [][2]string       // schemas and names of documents
}

// source is a document from which others take values.
type source struct{ schema, name, path string }

// anySecretSite generates sites in which secrets flow through substitutions (of whole values, paths and parts), layering,
// replacement, DataSchemas, client versions and property groups.
func anySecretSite(t *rapid.T) secretSite {
	p := secretSite{documents: map[string]string{}}
	var sources, texts []source
	var labels []string
	some := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	add := func(bucket, schema, name, document string) {
		p.documents[bucket] += document
		p.explained = append(p.explained, [2]string{schema, name})
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "encrypted documents") {
		name, here := fmt.Sprintf("k%d", i), fmt.Sprintf("@%d@", i)
		switch some("kind", "text", "mapping", "parent", "replaced", "keys") {
		case "text":
			add("keys", "deckhand/Passphrase/v1", name, encrypted(doc("deckhand/Passphrase/v1", name, `"`+here+`"`)))
			texts = append(texts, source{"deckhand/Passphrase/v1", name, "."})
		case "mapping":
			add("keys", "acme/Key/v1", name, encrypted(doc("acme/Key/v1", name, `{a: "`+here+`", deep: {b: "lead-`+here+`-trail"}}`)))
			texts = append(texts, source{"acme/Key/v1", name, ".a"}, source{"acme/Key/v1", name, ".deep.b"})
			sources = append(sources, source{"acme/Key/v1", name, "."}, source{"acme/Key/v1", name, ".deep"})
		case "parent":
			data := some("data", `{x: "`+here+`", kept: {y: "`+here+`"}}`, `{x: 1, "`+here+`": {down: 1}}`)
			parent := inLayer(some("layer", "global", "global, abstract: true"), docWith("acme/Widget/v1", name, data, labelled("id: "+name)))
			add("keys", "acme/Widget/v1", name, encrypted(parent))
			labels = append(labels, name)
		case "replaced":
			older := inLayer("global", docWith("acme/Widget/v1", name, `{x: "`+here+`", kept: 1}`, labelled("id: "+name)))
			newer := under("id: "+name, "site", docWith("acme/Widget/v1", name, `{x: "`+here+`"}`, replacing), some("action", "merge .", "replace .x"))
			switch some("which is encrypted", "older", "newer", "both") {
			case "older":
				older, newer = encrypted(older), strings.ReplaceAll(newer, here, "plain")
			case "newer":
				older, newer = strings.ReplaceAll(older, here, "plain"), encrypted(newer)
			default:
				older, newer = encrypted(older), encrypted(newer)
			}
			add("keys", "acme/Widget/v1", name, older+newer)
			texts, labels = append(texts, source{"acme/Widget/v1", name, ".x"}), append(labels, name)
		case "keys":
			add("keys", "acme/Key/v1", name, encrypted(doc("acme/Key/v1", name, `{"`+here+`": {down: 1}}`)))
			sources = append(sources, source{"acme/Key/v1", name, "."})
		}
		p.secrets++
	}
	take := func(from []source, destinations ...string) string {
		s, part := rapid.SampledFrom(from).Draw(t, "source"), ""
		if slices.Contains(texts, s) {
			part = some("part", "", "", ", pattern: '(lead-)?(....)', match_group: 2", ", pattern: '^..'")
		}
		return fmt.Sprintf("{src: {schema: %s, name: %s, path: %s%s}, dest: %s}", s.schema, s.name, s.path, part, some("destination", destinations...))
	}
	sources = append(sources, texts...)
	for i := range rapid.IntRange(1, 4).Draw(t, "cleartext documents") {
		name := fmt.Sprintf("c%d", i)
		more := labelled("id: " + name)
		if len(sources) > 0 && rapid.IntRange(0, 2).Draw(t, "takes something") > 0 {
			more += substitutes(take(sources, "{path: .x}", "{path: .new.part}", "{path: '.list[0]'}", "{path: .}", "{path: .size}", "[{path: .x}, {path: .y}]"))
		} else if len(texts) > 0 && rapid.Bool().Draw(t, "takes a text") {
			more += substitutes(take(texts, "{path: .text, pattern: P}", "{path: .text, pattern: P}", "{path: .text, pattern: p}", "{path: .x}"))
		}
		widget := docWith("acme/Widget/v1", name, some("data", "{x: 1, text: aPb}", "{x: a, text: P, list: [1, 2]}", "{x: b, size: 1, text: P}", "{x: {y: {z: 1}}, text: PP}"), more)
		if len(labels) > 0 && rapid.Bool().Draw(t, "child") {
			widget = under("id: "+some("parent", labels...), "site", widget, some("action", "merge .", "merge .", "merge .", "merge .", "replace .x", "delete .kept"))
		} else if rapid.Bool().Draw(t, "global") {
			widget, labels = inLayer("global", widget), append(labels, name)
		}
		sources = append(sources, source{"acme/Widget/v1", name, "."}, source{"acme/Widget/v1", name, ".x"})
		add("site", "acme/Widget/v1", name, widget)
	}
	if rapid.Bool().Draw(t, "a final document") {
		add("site", "acme/Widget/v1", "final", widget("final", "{size: 1, x: a}"))
	}
	plain := []string{
		"{properties: {x: {type: [string, integer, object], pattern: '^[QXZ]'}}}", "{properties: {x: {enum: [1]}}}", "{properties: {x: {maxLength: 7}, y: {minLength: 6}}}",
		"{allOf: [{not: {properties: {x: {pattern: '^Q'}}, required: [x]}}, {not: {properties: {x: {pattern: '^X'}}, required: [x]}}]}", "{additionalProperties: {type: [integer, string]}}",
		"{properties_groups_schema: [{XOR: [[size], [width, min]]}, {API_VERSIONS: {CLIENT_PLUGIN: shop, VERSIONS: ['2.0', Q], PROPERTIES: [[size], [text]]}}]}",
	}
	taking := func(name string) string {
		return docWith("deckhand/DataSchema/v1", name, "{description: plain, properties: {x: {enum: [1]}, size: {}}}",
			substitutes(take(texts, "{path: .description}", "{path: '.properties.x.enum[0]'}", "{path: .properties.size.pattern}", "{path: .properties.text.const}", "{path: .properties.size.default}")))
	}
	sized := plain[len(plain)-1]
	for _, kind := range []string{"acme/Widget/v1", "acme/Key/v1"} {
		switch what := some("schema of "+kind, "none", "plain", "plain", "sized", "taking"); {
		case what == "plain":
			p.documents["schemas"] += dataSchema(kind, some("schema", plain...))
		case what == "sized":
			p.documents["schemas"] += dataSchema(kind, sized)
		case what == "taking" && len(texts) > 0:
			p.documents["schemas"] += taking(kind)
		}
	}
	versions := "purser/ClientVersions/v1"
	switch what := some("client versions", "none", "plain", "taking", "taking", "encrypted"); {
	case what == "plain":
		p.documents["schemas"] += doc(versions, "cv", "{shop: '2.0'}")
	case what == "taking" && len(texts) > 0:
		p.documents["schemas"] += docWith(versions, "cv", "{}", substitutes(take(texts, "{path: .shop}")))
	case what == "encrypted":
		p.documents["keys"] += encrypted(doc(versions, "kv", `{shop: "@0@"}`))
	}
	if len(texts) > 0 && rapid.Bool().Draw(t, "overrides") {
		for i, value := range []string{".configuration.service.nova.ensure", ".configuration.file./a.content"} {
			name, data := fmt.Sprintf("o%d", i), "{configuration: {service: {nova: {enable: true}}}}"
			add("overrides", overrideKind, name, override(name, data, substitutes(take(texts, "{path: "+value+"}"))))
		}
	}
	commented := rapid.IntRange(0, p.secrets-1).Draw(t, "secret in a comment")
	p.documents["keys"] += encrypted(doc("acme/Key/v1", "commented", fmt.Sprintf("{a: 1} # @%d@", commented)))
	p.documents["lists"] = fmt.Sprintf("# @%d@\n", commented) + listItem(encrypted(doc("acme/Key/v1", "listed", "{a: 1}"))) +
		listItem(doc("acme/Widget/v1", "beside", "{text: P}"))
	p.documents["policies"] = layeringPolicy("lp")
	switch some("validated", "by default", "all", "all", "some", "renderings") {
	case "all":
		p.documents["policies"] += policy("vp", append(validations.DefaultValidations(), overridesCheck)...)
	case "some":
		p.documents["policies"] += validationsOf()
	case "renderings":
		p.documents["policies"] += policy("vp", "deckhand-rendering-validation")
	}
	p.buckets = rapid.Permutation(slices.Sorted(maps.Keys(p.documents))).Draw(t, "order")
	for i := range 3 {
		switch what := some("the writer puts", "schema", "schema", "widget", "versions", "probes"); {
		case what == "probes" && len(texts) > 0:
			p.writers = append(p.writers, probes(take(texts, "{path: .x}")))
		case what == "schema":
			p.writers = append(p.writers, dataSchema(some("kind", "acme/Key/v1", "acme/Widget/v1"), some("schema", plain...)))
		case what == "versions":
			p.writers = append(p.writers, doc(versions, "mine", "{shop: '1.0'}"))
		case len(sources) > 0:
			p.writers = append(p.writers, docWith("acme/Widget/v1", fmt.Sprintf("m%d", i), "{text: P}", substitutes(take(sources, "{path: .x}", "{path: .text, pattern: P}"))))
		}
	}
	return p
}

// probes are documents that take something from a secret, each of a kind whose schema lets some of the secrets pass.
func probes(taken string) string {
	var all strings.Builder
	for i, pattern := range []string{"^.?[QXZ]", "^.?.?[JKV]", "^.?.?.?[WQX]", "^$"} {
		kind := "acme/Probe" + strings.Repeat("x", i) + "/v1"
		all.WriteString(dataSchema(kind, "{properties: {x: {pattern: '"+pattern+"'}}}"))
		all.WriteString(docWith(kind, fmt.Sprintf("probe%d", i), "{}", substitutes(taken)))
	}
	return all.String()
}

// listItem writes a document as an item of a list.
func listItem(document string) string {
	lines := strings.Split(strings.TrimSpace(strings.TrimPrefix(document, "---\n")), "\n")
	return "- " + strings.Join(lines, "\n  ") + "\n"
}

// with replaces the placeholders in text with secrets.
func with(text string, secrets []string) string {
	for i, secret := range secrets {
		text = strings.ReplaceAll(text, fmt.Sprintf("@%d@", i), strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(secret))
	}
	return text
}

// anySecrets generates secrets in capitals, unlike anything else in answers. begin and end are patterns.
func anySecrets(t *rapid.T, count int, label, begin, end string) []string {
	return rapid.SliceOfNDistinct(rapid.StringMatching(begin+`[QXZJKVW]{3}([QXZJKVW]{3}|["\\<][QXZJKVW]{4})?`+end), count, count, rapid.ID[string]).Draw(t, label)
}

// asked is a request of a user and its answer.
type asked struct {
	user string
	answer
}

// story sends the same requests to servers that differ in their secrets.
type story struct {
	*rapid.T
	guarded

	answers []asked
}

func (s *story) ask(user, method, path, body string, header ...string) answer {
	s.Helper()
	a, err := s.try(context.Background(), s.request(user, method, path, body, header...))
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status >= http.StatusInternalServerError {
		s.Fatalf("%s %s: status %d\n%s\nsent: %s", method, path, a.status, a.text, body)
	}
	if strings.HasSuffix(path, "/attestation") && a.status == http.StatusOK {
		if a.text, err = attested(a.text); err != nil {
			s.Fatalf("%s: %v", path, err)
		}
	}
	if user != "admin" || strings.Contains(path, "cleartext-secrets=false") {
		s.answers = append(s.answers, asked{user, a})
	}
	return a
}

// attested returns what an attestation says, without the chain: that depends on secrets, by keyed digests.
func attested(envelope string) (string, error) {
	var signed attest.Envelope
	var said attest.Statement
	err := json.Unmarshal([]byte(envelope), &signed)
	payload, otherErr := base64.StdEncoding.DecodeString(signed.Payload)
	if err = errors.Join(err, otherErr); err == nil {
		err = json.Unmarshal(payload, &said)
	}
	if err != nil {
		return "", fmt.Errorf("read an attestation: %w", err)
	}
	said.Subject[0].Digest.SHA256 = ""
	text, err := json.Marshal(said)
	return string(text), err
}

// must fails the test unless the answer is a success.
func (s *story) must(a answer) {
	s.Helper()
	if a.status >= http.StatusBadRequest {
		s.Fatalf("%s %s: status %d\n%s\nsent: %s", a.method, a.path, a.status, a.text, a.body)
	}
}

// play creates the revisions of a secretSite, sends the writer's attempts, and reads everything.
func (s *story) play(p secretSite, secrets [][]string, reads []read) {
	s.must(s.ask("admin", http.MethodDelete, "revisions", ""))
	for generation, texts := range secrets {
		for _, bucket := range p.buckets {
			if generation == 0 || bucket == "keys" || bucket == "lists" {
				s.must(s.ask("admin", http.MethodPut, "buckets/"+bucket+"/documents", with(p.documents[bucket], texts)))
			}
		}
	}
	s.must(s.ask("admin", http.MethodPost, "revisions/1/tags/t", "{}"))
	for i, document := range p.writers {
		bucket := fmt.Sprintf("writers%d", i)
		for _, query := range []string{"?dry-run=true", "?dry-run=true&findings=true", []string{"", "?findings=true"}[i%2]} {
			s.ask("writer", http.MethodPut, "buckets/"+bucket+"/documents"+query, document, "Accept", "application/json")
		}
		s.ask("admin", http.MethodPut, "buckets/"+bucket+"/documents?dry-run=true&cleartext-secrets=false", document+widget("extra", "{}"))
	}
	s.ask("writer", http.MethodPut, "changesets?dry-run=true", widget("extra", "{x: 1}")+"status: {bucket: else}\n", "Accept", "application/json")
	s.ask("writer", http.MethodPut, "changesets?dry-run=true&buckets=site,keys", "")
	s.ask("writer", http.MethodPut, "changesets?dry-run=true&findings=true&buckets=writers1", "", "Accept", "application/json")
	s.ask("writer", http.MethodPut, "changesets?findings=true", widget("extra", "{x: 1, text: P}")+"status: {bucket: else}\n", "Accept", "text/plain")
	s.ask("writer", http.MethodPut, "changesets?dry-run=true&buckets=schemas", "", "Accept", "application/json")
	for _, query := range []string{"?dry-run=true", ""} {
		s.ask("writer", http.MethodPost, "rollback/1"+query, "")
		s.ask("reader", http.MethodPut, "buckets/site/documents"+query, widget("extra", "{}"))
	}
	for _, r := range reads {
		for _, user := range slices.Sorted(maps.Keys(blind())) {
			s.ask(user, http.MethodGet, withQuery(r.path, blind()[user]), "", "Accept", r.accept)
		}
	}
	if below() == "" {
		s.copy(p)
	}
}

// copiesSite is the path of a site that gets copies.
const copiesSite = "/sites/copies"

// copy copies the buckets of the site to another one: those with secrets for all who may, and those who may not try.
func (s *story) copy(p secretSite) {
	const json = "application/json"
	s.must(s.ask("admin", http.MethodPut, copiesSite, "{}"))
	s.must(s.ask("admin", http.MethodDelete, copiesSite+"/api/v1.0/revisions", ""))
	from := "from=default@latest"
	users, queries := []string{"writer", "creator"}, []string{"", "&expect=success", "&dry-run=true&findings=true"}
	for i, bucket := range p.buckets { // which are in any order
		user := users[i%len(users)]
		a := s.ask(user, http.MethodPut, copiesSite+"/api/v1.0/buckets/"+bucket+"/documents?"+from+queries[i%len(queries)], "", "Accept", json)
		if sealed := bucket == "keys" || bucket == "lists"; sealed && a.status != http.StatusForbidden {
			s.Fatalf("%s copies encrypted documents: status %d\n%s", user, a.status, a.text)
		}
	}
	for i, query := range queries {
		s.ask(users[i%len(users)], http.MethodPut, copiesSite+"/api/v1.0/changesets?"+from+query, "", "Accept", json)
	}
	for _, query := range []string{"&dry-run=true&findings=true&cleartext-secrets=false", ""} {
		s.must(s.ask("admin", http.MethodPut, copiesSite+"/api/v1.0/changesets?"+from+query, "", "Accept", json))
	}
	for _, path := range []string{
		"", "buckets", "events", "revisions/latest", "revisions/latest/findings", "revisions/latest/documents?form=submitted",
		"revisions/latest/rendered-documents", "revisions/0/deepdiff/latest", "revisions/latest/status?details=true",
	} {
		path = strings.TrimSuffix(copiesSite+"/api/v1.0/"+path, "/api/v1.0/")
		s.ask("reader", http.MethodGet, path, "", "Accept", json)
	}
	s.must(s.ask("creator", http.MethodPut, copiesSite+"/api/v1.0/buckets/site/documents?detach=true", widget("detached", "{}"), "Accept", json))
}

// read is a GET request.
type read struct{ path, accept string }

// reads returns requests to all routes in openapi.yaml that return parts of a revision: one for each possible value of
// each path parameter, and for each required query.
func (p secretSite) reads(t *rapid.T, c *contract.Contract) (reads []read) {
	values := map[string][]string{
		"revision": {"latest", "3"}, "other": {"1", "latest"}, "tag": {"t"}, "entry": {"0", "1", "2", "3"},
		"name":      append(validations.DefaultValidations(), overridesCheck),
		"namespace": {"acme"}, "kind": {"Widget", "Key"}, "version": {"v1"},
		"fullName": {"a.B"}, // names of packages are not encrypted
	}
	for _, path := range slices.Sorted(maps.Keys(c.Doc.Paths.Map())) {
		item := c.Doc.Paths.Value(path)
		if item.Get == nil || !strings.HasPrefix(path, "/api/v1.0/revisions/{revision}") {
			continue
		}
		paths := []string{path}
		needsDocument := false
		for _, parameter := range slices.Concat(item.Parameters, item.Get.Parameters) {
			name := parameter.Value.Name
			switch {
			case parameter.Value.In == openapi3.ParameterInPath:
				if values[name] == nil {
					t.Fatalf("say here what can stand for {%s} in %s", name, path)
				}
				var filled []string
				for _, value := range values[name] {
					for _, path := range paths {
						filled = append(filled, strings.Replace(path, "{"+name+"}", value, 1))
					}
				}
				paths = filled
			case parameter.Value.Required && (name == "schema" || name == "name"):
				needsDocument = true
			case parameter.Value.Required:
				t.Fatalf("say here what %s can be asked with as %s", path, name)
			}
		}
		for _, path := range paths {
			accepted := slices.Sorted(maps.Keys(item.Get.Responses.Status(http.StatusOK).Value.Content))
			accepted = slices.DeleteFunc(accepted, func(kind string) bool { return kind == "image/svg+xml" }) // takes too long
			accept := rapid.SampledFrom(accepted).Draw(t, "accepted")
			if !needsDocument {
				reads = append(reads, read{path, accept})
				continue
			}
			for _, d := range p.explained {
				reads = append(reads, read{path + "?" + url.Values{"schema": {d[0]}, "name": {d[1]}}.Encode(), accept})
			}
		}
	}
	for _, revision := range []string{"latest", "1"} {
		reads = append(reads, read{"revisions/" + revision + "/documents?form=submitted", "text/plain"})
	}
	return reads
}

// tellsNothingOf checks that no answer contains a part of a secret, or a digest of one.
func (s *story) tellsNothingOf(secrets []string) {
	s.Helper()
	var parts, ofJSON []string
	for _, secret := range secrets {
		for _, part := range windows(secret, 4) {
			if !strings.ContainsAny(part, `"\<`) { // such characters are written in several ways
				parts = append(parts, part)
			}
		}
		text, asJSON := digests(s, secret)
		parts, ofJSON = append(parts, text), append(ofJSON, asJSON)
	}
	for _, a := range s.answers {
		if a.user == "admin" && strings.Contains(a.path, "/explain") {
			continue // see TestSecrets_keysOfParents
		}
		unwanted := parts
		if !strings.Contains(a.path, "rendered-documents?") || a.user != "admin" { // its hashes are documented
			unwanted = slices.Concat(parts, ofJSON)
		}
		if part := a.tells(unwanted); part != "" {
			s.Fatalf("%s: %s %s (%s) tells %q of the secrets %q:\n%s", a.user, a.method, a.path, a.header["Accept"], part, secrets, brief(a.text[max(0, strings.Index(a.text, part)-700):]))
		}
	}
}

// bits returns, for each revision, the level of the finding that something fails which depends on a secret, "" if there
// is none for the reader.
func (s *story) bits() (bits []string) {
	s.Helper()
	bits = s.bitsOf("")
	if len(bits) == 0 {
		s.Fatal("there are no revisions")
	}
	return append(bits, s.bitsOf(copiesSite+"/api/v1.0/")...)
}

// bitsOf returns the bits of the revisions of a site, none if there is no such site.
func (s *story) bitsOf(site string) (bits []string) {
	s.Helper()
	var listed struct {
		Count int `json:"count"`
	}
	all := s.ask("reader", http.MethodGet, site+"revisions", "", "Accept", "application/json")
	if err := json.Unmarshal([]byte(all.text), &listed); err != nil {
		s.Fatalf("read the revisions: %v\n%s", err, all.text)
	}
	for number := range listed.Count {
		a := s.ask("reader", http.MethodGet, fmt.Sprintf("%srevisions/%d/findings", site, number+1), "", "Accept", "application/json")
		var found struct {
			Findings []struct {
				Secret bool   `json:"secret"`
				Level  string `json:"level"`
			} `json:"findings"`
		}
		if err := json.Unmarshal([]byte(a.text), &found); err != nil {
			s.Fatalf("read the findings: %v\n%s", err, a.text)
		}
		var levels []string
		for _, f := range found.Findings {
			if f.Secret {
				levels = append(levels, f.Level)
			}
		}
		if len(levels) > 1 {
			s.Fatalf("what fails because of secrets is told %d times:\n%s", len(levels), a.text)
		}
		bits = append(bits, strings.Join(levels, ""))
	}
	return bits
}

// tellsVerdict reports whether an answer reveals whether a stored revision fails.
func (a asked) tellsVerdict() bool {
	if strings.Contains(a.path, "findings=true") && !strings.Contains(a.path, "dry-run") {
		return true
	}
	if strings.HasSuffix(a.path, "revisions") || strings.Contains(a.path, "expect=success") { // the list
		return true
	}
	if strings.HasPrefix(a.path, copiesSite) && a.method == http.MethodGet {
		return true
	}
	return strings.Contains(a.path, "/attestation") || strings.Contains(a.path, "/validations") || strings.Contains(a.path, "/status") || strings.Contains(a.path, "/findings") || strings.Count(a.path, "/") == 4 // the revision itself
}

// withoutVerdict returns the answer to a change without the verdict in its header and, for a dry run, without
// information about earlier changes.
func (a asked) withoutVerdict() asked {
	a.got = a.got.Clone()
	a.got.Del("Purser-Status")
	var preview map[string]any
	if !strings.Contains(a.path, "dry-run") || json.Unmarshal([]byte(a.text), &preview) != nil {
		return a
	}
	for _, key := range []string{
		"status", "findings", "total", "more", "failures", "causes", "groups", "byValidation", "validationPolicies", "validations",
	} {
		delete(preview, key)
	}
	a.text = fmt.Sprint(preview)
	return a
}

// Callers who may not see encrypted documents get no part and no digest of a secret, whatever they request. Two sites
// that differ only in their secrets answer alike, except for one bit of a revision: whether something that depends on a
// secret fails, and whether that counts. Nor does anybody get a part of a secret in an answer or a check of a text with a mistake.
func TestLaws_secrets(t *testing.T) {
	t.Parallel()
	flags, k := guardedFlags(t)
	one := guarded{startAs(t, lean, patientClient(), storetest.URL(t), flags...), k}
	other := guarded{startAs(t, lean, patientClient(), storetest.URL(t), flags...), k}
	c := mustContract(t)
	rapid.Check(t, few(40, func(t *rapid.T) {
		p := anySecretSite(t)
		reads, bodies := p.reads(t, c), anyMistaken(t)
		stories := []*story{{T: t, guarded: one}, {T: t, guarded: other}}
		for i, s := range stories {
			begin := []string{"Q", "X[QXZJKVW]{4}"}[i] // so that schemas distinguish secrets
			older := anySecrets(t, 2*p.secrets, fmt.Sprintf("secrets %d", i), begin, "")
			s.play(p, [][]string{older[:p.secrets], older[p.secrets:]}, reads)
			s.tellsNothingOf(older)
			secret := rapid.StringMatching("[QXZJKVW]{8}").Draw(t, fmt.Sprintf("mistaken secret %d", i))
			s.spoil(bodies, secret)
			s.tellsNothingOf([]string{secret})
		}
		same := slices.Equal(stories[0].bits(), stories[1].bits())
		for i, a := range stories[0].answers {
			b := stories[1].answers[i]
			if a.user == "admin" || !same && a.tellsVerdict() {
				continue
			}
			if !same {
				a, b = a.withoutVerdict(), b.withoutVerdict()
			}
			if diff := cmp.Diff(one.plain(a.answer), other.plain(b.answer)); diff != "" {
				t.Fatalf("%s is answered differently by two sites that differ in their secrets (-one +other):\n%s", a.user, diff)
			}
		}
	}))
}

// tested names, for each route, the test that it reveals no secrets. It omits the routes that return parts of a
// revision, which TestLaws_secrets takes from openapi.yaml.
var tested = map[string]string{
	"PUT /api/v1.0/buckets/{bucket}/documents":                                    "TestLaws_secrets",
	"PUT /api/v1.0/buckets/{bucket}/packages/{fullName}":                          "it answers with what it was sent; its dry run like that of documents",
	"POST /api/v1.0/packages/check":                                               "it answers with what it was sent",
	"PUT /api/v1.0/changesets":                                                    "TestLaws_secrets",
	"POST /api/v1.0/rollback/{revision}":                                          "TestLaws_secrets, TestSecrets_guesses",
	"GET /api/v1.0/revisions":                                                     "TestSecrets_guesses",
	"DELETE /api/v1.0/revisions":                                                  "it answers with nothing",
	"POST /api/v1.0/revisions/prune":                                              "it answers with numbers of revisions",
	"DELETE /api/v1.0/revisions/{revision}/tags":                                  "it answers with nothing",
	"DELETE /api/v1.0/revisions/{revision}/tags/{tag}":                            "it answers with nothing",
	"POST /api/v1.0/revisions/{revision}/tags/{tag}":                              "it answers with what it was sent",
	"POST /api/v1.0/revisions/{revision}/validations/{name}":                      "it answers with what it was sent, and a name that the status shows",
	"POST /api/v1.0/revisions/{revision}/waivers":                                 "it answers with what it was sent, and a name that the status shows",
	"DELETE /api/v1.0/revisions/{revision}/waivers/{id}":                          "it answers with nothing",
	"GET /api/v1.0/waivers":                                                       "it knows no documents",
	"GET /api/v1.0/claims":                                                        "it knows no documents",
	"POST /api/v1.0/claims":                                                       "it knows no documents",
	"PUT /api/v1.0/claims/{claim}":                                                "it knows no documents",
	"DELETE /api/v1.0/claims/{claim}":                                             "it answers with nothing",
	"GET /sites/-/api/v1.0/claims":                                                "it knows no documents",
	"POST /sites/-/api/v1.0/claims":                                               "it knows no documents",
	"GET /sites/-/api/v1.0/waivers":                                               "it knows no documents",
	"POST /api/v1.0/revisions/{revision}/validations/{name}/request":              "it answers with what it was sent",
	"GET /api/v1.0/buckets":                                                       "TestBuckets",
	"GET /api/v1.0/webhooks":                                                      "TestWebhooks_secrets",
	"POST /api/v1.0/webhooks":                                                     "TestWebhooks_secrets",
	"GET /api/v1.0/webhooks/{webhook}":                                            "TestWebhooks_secrets",
	"PUT /api/v1.0/webhooks/{webhook}":                                            "TestWebhooks_secrets",
	"DELETE /api/v1.0/webhooks/{webhook}":                                         "TestWebhooks_secrets",
	"POST /api/v1.0/webhooks/{webhook}/ping":                                      "TestWebhooks_secrets",
	"GET /api/v1.0/webhooks/{webhook}/deliveries":                                 "TestWebhooks_secrets",
	"POST /api/v1.0/webhooks/{webhook}/deliveries/{delivery}/retry":               "TestWebhooks_secrets",
	"GET /api/v1.0/events":                                                        "TestEvents_secrets",
	"GET /api/v1.0/documents/{namespace}/{kind}/{version}/{layer}/{name}/history": "TestDocumentHistory",
	"POST /api/v1.0/revisions/{revision}/puppet/catalog":                          "TestPuppet_secrets",
	"POST /api/v1.0/revisions/{revision}/puppet/diff/{other}":                     "TestPuppet_secrets",
	"GET /":                        "it knows no documents",
	"GET /api/v1.0/audit":          "TestLaws_secretsAreKeptSealed reads all that it can show",
	"GET /api/v1.0/whoami":         "it knows no documents",
	"GET /api/v1.0/health":         "it answers with nothing",
	"GET /metrics":                 "it knows routes and numbers",
	"GET /openapi.yaml":            "it is a file",
	"GET /openapi.json":            "it is a file",
	"GET /docs":                    "it is a file",
	"GET /readyz":                  "it knows no documents",
	"GET /versions":                "it knows no documents",
	"GET /sites":                   "it knows no documents",
	"GET /sites/{site}":            "it knows no documents",
	"PUT /sites/{site}":            "it knows no documents",
	"DELETE /sites/{site}":         "it answers with nothing",
	"GET /.well-known/purser-keys": "it knows no documents",
	"GET /.well-known/oauth-protected-resource": "it knows no documents",
}

// Each route must be listed in tested, so that the author of a new one considers how to test that it reveals no
// secrets.
func TestSecrets_routes(t *testing.T) {
	t.Parallel()
	served := map[string]bool{}
	for path, methods := range api.Routes() {
		for method := range methods {
			route := method + " " + path
			served[route] = true
			if reads := strings.HasPrefix(route, "GET /api/v1.0/revisions/{revision}"); reads == (tested[route] != "") {
				t.Errorf("say how it is tested that %s tells no secrets", route)
			}
		}
	}
	for route := range tested {
		if !served[route] {
			t.Errorf("there is no %s", route)
		}
	}
}
