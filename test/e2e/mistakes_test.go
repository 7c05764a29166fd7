package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mistake is a common mistake in the example documents, with the expected answer.
type mistake struct {
	old, with string // old is replaced once in the site; if it is "", with is appended
	status    int    // of the PUT
	line      int    // expected line; counts from 1 at old; 0 for none
	parts     []string
}

const mistakenHead = "metadata: {schema: metadata/Document/v1, name: new, storagePolicy: cleartext, " +
	"layeringDefinition: {layer: site%s}%s}\ndata: {}\n"

func mistakenDocument(layering, metadata string) string {
	return "---\nschema: acme/Free/v1\n" + fmt.Sprintf(mistakenHead, layering, metadata)
}

func mistakesOfSites() map[string]mistake {
	const bad, ok, conflict = http.StatusBadRequest, http.StatusOK, http.StatusConflict
	substitute := func(source, path string) string {
		return mistakenDocument("",
			", substitutions: [{dest: {path: .x}, src: {schema: acme/Source/v1, name: "+source+", path: "+path+"}}]")
	}
	schema := "---\nschema: deckhand/DataSchema/v1\nmetadata: {schema: metadata/Control/v1, name: acme/Broken/v1}\ndata:\n" +
		"  $schema: http://json-schema.org/schema#\n  type: nonsense\n"
	policy := "---\nschema: deckhand/ValidationPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: mistaken}\ndata:\n" +
		"  validations:\n  - {name: a-validation,\n     expiresAfter: soon}\n"
	return map[string]mistake{
		"unknown layer":    {"", strings.Replace(substitute("s", "."), "layer: site", "layer: stie", 1), ok, 3, []string{"failure", "new", "Invalid layer 'stie'", "layerOrder"}},
		"missing source":   {"", substitute("gone", "."), ok, 3, []string{"failure", "[acme/Free/v1, site] new", "[acme/Source/v1] gone was not found"}},
		"orphan":           {"", mistakenDocument(", parentSelector: {nothing: here}, actions: [{method: merge, path: .}]", ""), ok, 3, []string{"failure", "new", "selects no document"}},
		"cycle":            {"", strings.Replace(substitute("new", "."), "acme/Free/v1", "acme/Source/v1", 1), ok, 3, []string{"failure", "[acme/Source/v1, site] new → [acme/Source/v1, site] new"}},
		"wrong type":       {"  rack: 2\n", "  rack: two\n", ok, 1, []string{"failure", "[acme/Host/v1, site] cmp-1 .data.rack: 'two' is not of type 'integer'"}},
		"too large":        {"  rack: 2\n", "  rack: 99\n", ok, 1, []string{"failure", ".data.rack: 99 is greater than the maximum of 40"}},
		"odd property":     {"  - name: eth1\n", "  - name: eth1\n    mtuu: 1\n", ok, 2, []string{"failure", ".data.interfaces.1: Additional properties", "'mtuu'"}},
		"missing property": {"  role: compute\n", "", ok, 0, []string{"failure", "'role' is a required property"}},
		"duration":         {"", policy, ok, 7, []string{"failure", "'soon' does not match", "PT12H"}},
		"DataSchema":       {"", schema, ok, 6, []string{"failure", "acme/Broken/v1", "nonsense"}},
		"no name":          {"  name: cmp-1\n", "", bad, 0, []string{"'name' is a required property", ".metadata"}},
		"schema format":    {"acme/Host/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: cmp-1", "acmeHost\nmetadata:\n  schema: metadata/Document/v1\n  name: cmp-1", bad, 1, []string{"'acmeHost' does not match", ".schema"}},
		"storagePolicy":    {"  name: cmp-1\n  storagePolicy: cleartext", "  name: cmp-1\n  storagePolicy: clear", bad, 2, []string{"'clear' is not one of", ".metadata.storagePolicy"}},
		"misspelt key":     {"schema: acme/Host/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: cmp-1", "schema: acme/Host/v1\nmetadta:\n  schema: metadata/Document/v1\n  name: cmp-1", bad, 2, []string{"'metadta' is probably a misspelt 'metadata'", "The document has no metadata"}},
		"misspelt data":    {"data:\n  address: 10.0.0.21", "dta:\n  address: 10.0.0.21", bad, 1, []string{"has no data", "'dta' is probably a misspelt 'data'", "column 1"}},
		"metadata key":     {"  name: cmp-1\n", "  name: cmp-1\n  lables: {a: b}\n", bad, 2, []string{"'lables' was unexpected", ".metadata.lables", "column 3"}},
		"another key":      {"data:\n  address: 10.0.0.21", "datta: {a: 1}\ndata:\n  address: 10.0.0.21", ok, 1, []string{"The key 'datta' is not kept", "did you mean data?", "column 1"}},
		"control key":      {"", "---\nschema: acme/Free/v1\nmetadata: {schema: metadata/Control/v1, name: new,\n  storagePolcy: encrypted}\ndata: {}\n", ok, 4, []string{"The key 'storagePolcy' has no effect", "did you mean storagePolicy?"}},
		"forgotten ---":    {"  role: compute\n---\nschema: deckhand/Passphrase", "  role: compute\nschema: deckhand/Passphrase", bad, 2, []string{"a key appears twice at the top level", "line with ---"}},
		"twice":            {"", mistakenDocument("", "") + mistakenDocument("", ""), conflict, 5, []string{"[acme/Free/v1, site] new", "appears twice in the body", "Remove one of them"}},
		"elsewhere":        {"", strings.Replace(mistakenDocument("", ""), "name: new", "name: taken", 1), conflict, 1, []string{"already exists in bucket: elsewhere", "change set"}},
		"tab":              {"  rack: 2\n", "\track: 2\n", bad, 1, []string{"a tab in the indentation; indent with spaces"}},
		"indent":           {"  rack: 2\n", "   rack: 2\n", bad, 1, []string{"indented by 3", "indent it by 2"}},
		"quote":            {"  rack: 2\n", "  rack: \"2\n", bad, 1, []string{"the quote \" that opens here"}},
		"colon":            {"  rack: 2\n", "  rack:2\n", bad, 1, []string{"write 'key: value'"}},
		"bracket":          {"  rack: 2\n", "  rack: [2\n", bad, 1, []string{"the bracket '[' that opens here"}},
		"alias":            {"  rack: 2\n", "  rack: *two\n", bad, 1, []string{"no such anchor precedes it"}},
	}
}

// Each plausible mistake in a site is reported with the document, the line, the rule and a remedy. Refused bodies
// change nothing.
func TestMistakes(t *testing.T) {
	t.Parallel()
	example := readExample(t, "site.yaml")
	sites := map[string]string{"example": ""}
	found := corpus(t)
	for _, path := range found[:min(1, len(found))] {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sites[filepath.Base(filepath.Dir(path))] = someOf(string(text))
	}
	for site, before := range sites {
		s := start(t, "--default-validations", own+",deckhand-policy-validation")
		body := before + example
		s.put(t, "schemas", readExample(t, "schemas.yaml")).is(t, http.StatusOK)
		s.put(t, "elsewhere", strings.Replace(mistakenDocument("", ""),
			"name: new", "name: taken", 1)).is(t, http.StatusOK)
		for name, m := range mistakesOfSites() {
			s.tells(t, site+": "+name, body, m)
		}
	}
}

// someOf returns documents of a site that fit those of the example.
func someOf(site string) string {
	const most = 40
	var some []string
	for doc := range strings.SplitSeq(strings.TrimPrefix(site, "---\n"), "\n---\n") {
		strange := strings.Contains(doc, "LayeringPolicy") || strings.Contains(doc, "ValidationPolicy") ||
			strings.Contains(doc, "layer: type")
		if !strange && len(some) < most {
			some = append(some, "---\n"+strings.TrimRight(doc, "\n")+"\n")
		}
	}
	return strings.Join(some, "")
}

// tells makes a dry run with a mistake and checks the answer.
func (s *server) tells(t *testing.T, name, body string, m mistake) {
	t.Helper()
	at := len(body)
	if m.old != "" {
		if at = strings.LastIndex(body, m.old); at < 0 {
			t.Fatalf("%s: %q is not in the site", name, m.old)
		}
	}
	changed := body[:at] + m.with + body[at+len(m.old):]
	before := s.get(t, "revisions").is(t, http.StatusOK).text
	r := put("site", changed).request("?findings=true&dry-run=true")
	r.header["Accept"], r.bad = "text/plain", true
	answer := s.send(t, r)
	text := answer.text
	if answer.status != m.status {
		t.Errorf("%s: status %d, want %d\n%s", name, answer.status, m.status, brief(text))
		return
	}
	if m.status != http.StatusOK {
		text = fmt.Sprint(answer.mapping(t))
	}
	text += answer.got.Get("Purser-Status")
	parts := m.parts
	if m.line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", m.line+strings.Count(body[:at], "\n")))
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is not in the answer, but would help:\n%s", name, part, brief(text))
		}
	}
	if after := s.get(t, "revisions").text; after != before {
		t.Errorf("%s: something was stored", name)
	}
}

func readExample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Bodies that are not documents at all are recognised by their format.
func TestMistakes_bodies(t *testing.T) {
	t.Parallel()
	s := start(t)
	w := widget("w1", "{}")
	form := s.send(t, request{
		method: http.MethodPut, path: "buckets/mop/documents", body: w, bad: true,
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
	})
	form.fails(t, http.StatusUnsupportedMediaType, "HTTPUnsupportedMediaType", "curl -d", "--data-binary @FILE")
	s.putBad(t, "mop", strings.ReplaceAll(w, "\n", "")).fails(t, http.StatusBadRequest, "HTTPBadRequest")
	s.put(t, "mop", "").is(t, http.StatusOK)
	s.putBad(t, "mop", "text\n---\n").fails(t, http.StatusBadRequest, "HTTPBadRequest", "Document 1 (from line 1) is a string",
		"Document 2 (from line 2) is empty")
	list := `[{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Document/v1", "name": "w1", ` +
		`"storagePolicy": "cleartext", "layeringDefinition": {"layer": "site"}}, "data": {"size": 1}}]`
	if got := len(s.putBad(t, "mop", list).is(t, http.StatusOK).documents(t)); got != 1 {
		t.Errorf("%d documents of a JSON list sent as YAML, want 1", got)
	}
	s.send(t, request{
		method: http.MethodPut, path: "buckets/mop/documents?dryrun=true", body: w, header: yamlBody(), bad: true,
	}).fails(t, http.StatusBadRequest, "HTTPInvalidParam", `did you mean "dry-run"`)
	s.send(t, request{
		method: http.MethodPut, path: "buckets/mop/documents?max-deleted=0", header: yamlBody(),
	}).fails(t, http.StatusConflict, "TooManyDeleted", "[acme/Widget/v1, site] w1")
	s.put(t, "mop", "").is(t, http.StatusOK)
}
