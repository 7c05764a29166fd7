package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// d001 returns the D001 messages of a refusal, sorted: for each, the document and the message.
func d001(t *testing.T, a answer) []string {
	t.Helper()
	a.fails(t, http.StatusBadRequest, "InvalidDocumentFormat")
	envelope := a.mapping(t)
	if diff := cmp.Diff([]any{"Validation", "The provided documents failed schema validation"},
		[]any{envelope["reason"], envelope["message"]}); diff != "" {
		t.Errorf("reason and message (-want +got):\n%s", diff)
	}
	list := []string{}
	details, _ := envelope["details"].(map[string]any)
	messages, _ := details["messageList"].([]any)
	for _, item := range messages {
		m, _ := item.(map[string]any)
		about, _ := m["documents"].([]any)
		document, _ := about[0].(map[string]any)
		if diff := cmp.Diff([]any{"D001", "Error", "ValidationMessage", true}, []any{m["name"], m["level"], m["kind"], m["error"]}); diff != "" {
			t.Errorf("name, level, kind and error (-want +got):\n%s", diff)
		}
		if len(list) == 0 {
			list = append(list, fmt.Sprintf("[%v, %v] %v", document["schema"], document["layer"], document["name"]))
		}
		list = append(list, fmt.Sprint(m["message"]))
	}
	slices.Sort(list[1:])
	return list
}

// Nine documents are checked by several goroutines. A panic in one of them would end the process.
func TestHostile_lineBreakAfterMetadataVersion(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	var body strings.Builder
	for i := range 9 {
		fmt.Fprintf(&body, "---\nschema: acme/W/v1\nmetadata: {schema: \"metadata/Document/v1\\n\", name: w%d}\ndata: {}\n", i)
	}
	want := []string{"[acme/W/v1, ] w0"}
	for range 9 {
		want = append(want, `Invalid metadata schema "metadata/Document/v1\n" specified: nothing may follow its version.`)
	}
	if diff := cmp.Diff(want, d001(t, s.putBad(t, "hostile", body.String()))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	s.isRevision(t, 1)
}

func TestHostile_frames(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	metadata := func(text string) string { return "schema: acme/W/v1\nmetadata: " + text + "\ndata: {}\n" }
	long := strings.Repeat("n", 10_000)
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"nothing that is known":    {"foo: bar", []string{"[, ] ", "The document has no metadata", "The document has no schema"}},
		"no metadata":              {"schema: acme/W/v1\ndata: {}", []string{"[acme/W/v1, ] ", "The document has no metadata"}},
		"no schema":                {"metadata: {schema: metadata/Control/v1, name: x}", []string{"[, ] x", "The document has no schema"}},
		"schema is a number":       {"schema: 5\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[, ] x", "5 is not of type 'string'"}},
		"schema is a list":         {"schema: [a]\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[, ] x", "['a'] is not of type 'string'"}},
		"schema is a mapping":      {"schema: {}\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[, ] x", "{} is not of type 'string'"}},
		"schema without version":   {"schema: acme/W\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[acme/W, ] x", `'acme/W' does not match '^[A-Za-z]+/[A-Za-z]+/v\\d+$'`}},
		"schema without slash":     {"schema: x\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[x, ] x", `'x' does not match '^[A-Za-z]+/[A-Za-z]+/v\\d+$'`}},
		"metadata is text":         {metadata("x"), []string{"[acme/W/v1, ] ", "'x' is not of type 'object'"}},
		"no name":                  {metadata("{schema: metadata/Control/v1}"), []string{"[acme/W/v1, ] ", "'name' is a required property"}},
		"name is a number":         {metadata("{schema: metadata/Control/v1, name: 5}"), []string{"[acme/W/v1, ] ", "5 is not of type 'string'"}},
		"unknown metadata schema":  {metadata("{schema: metadata/Other/v1, name: x}"), []string{"[acme/W/v1, ] x", `'metadata/Other/v1' does not match '^metadata/(?:Document|Control)/v\\d+$'`}},
		"unknown metadata version": {metadata("{schema: metadata/Document/v7, name: x}"), []string{"[acme/W/v1, ] x", "Invalid metadata schema metadata/Document version v7 specified."}},
		"label is a number":        {metadata("{schema: metadata/Control/v1, name: x, labels: {a: 1}}"), []string{"[acme/W/v1, ] x", "1 is not of type 'string'"}},
		"no storagePolicy":         {metadata("{schema: metadata/Document/v1, name: x, layeringDefinition: {layer: site}}"), []string{"[acme/W/v1, site] x", "'storagePolicy' is a required property"}},
		"no layer":                 {metadata("{schema: metadata/Document/v1, name: x, storagePolicy: cleartext, layeringDefinition: {}}"), []string{"[acme/W/v1, ] x", "'layer' is a required property"}},
		"actions without a parent": {metadata("{schema: metadata/Document/v1, name: x, storagePolicy: cleartext, layeringDefinition: {layer: site, actions: [{method: merge, path: .}]}}"), []string{"[acme/W/v1, site] x", "'parentSelector' is a dependency of 'actions'"}},
		"unknown action":           {metadata("{schema: metadata/Document/v1, name: x, storagePolicy: cleartext, layeringDefinition: {layer: site, parentSelector: {a: b}, actions: [{method: m, path: .}]}}"), []string{"[acme/W/v1, site] x", "'m' is not one of ['replace', 'delete', 'merge']"}},
		"unknown key":              {metadata("{schema: metadata/Document/v1, name: x, storagePolicy: cleartext, layeringDefinition: {layer: site}, y: 1}"), []string{"[acme/W/v1, site] x", "Additional properties are not allowed ('y' was unexpected)"}},
		"long name":                {metadata("{schema: metadata/Control/v1, name: " + long + "}"), []string{"[acme/W/v1, ] " + long[:255] + "…", "metadata.name has 10000 characters, but at most 255 are allowed"}},
		"long schema":              {"schema: acme/" + long + "/v1\nmetadata: {schema: metadata/Control/v1, name: x}", []string{"[acme/" + long[:250] + "…, ] x", "schema has 10008 characters, but at most 255 are allowed"}},
		"long layer":               {metadata("{schema: metadata/Document/v1, name: x, storagePolicy: cleartext, layeringDefinition: {layer: " + long + "}}"), []string{"[acme/W/v1, " + long[:255] + "…] x", "metadata.layeringDefinition.layer has 10000 characters, but at most 255 are allowed"}},
		"two bad ones":             {metadata("{schema: metadata/Control/v1, name: good}") + "---\nschema: 5\n---\nfoo: bar\n", []string{"[, ] ", "5 is not of type 'string'", "The document has no metadata", "The document has no metadata", "The document has no schema"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, d001(t, s.putBad(t, "hostile", c.body))); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			s.isRevision(t, 1)
		})
	}
}

func TestHostile_frameErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	got := s.putBad(t, "hostile", widget("fine", "{}")+"---\nschema: acme/W/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: x\n")
	got.fails(t, http.StatusBadRequest, "InvalidDocumentFormat", "document 2", "line 6", ".metadata", "Write storagePolicy as cleartext")
}

func TestHostile_longestNamesAreKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	name := strings.Repeat("é", 255)
	s.put(t, strings.Repeat("%C3%A9", 255), widget(name, "{}")).isNames(t, name+"@1")
	s.post(t, "revisions/1/validations/"+strings.Repeat("%C3%A9", 255), "{status: success, validator: x}").is(t, http.StatusCreated)
}

func TestHostile_names(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	for path, help := range map[string]string{
		"buckets/" + strings.Repeat("b", 256) + "/documents":                 "256 characters, but at most 255",
		"buckets/" + strings.Repeat("b", 10_000) + "/documents":              "10000 characters, but at most 255",
		"buckets/%00/documents":                                              "NUL",
		"buckets/%FF/documents":                                              "UTF-8",
		"revisions/1/validations/" + strings.Repeat("v", 10_000):             "10000 characters, but at most 255",
		"revisions/1/validations/%00":                                        "NUL",
		"revisions/1/validations/%FF%FE":                                     "UTF-8",
		"revisions/1/validations/" + strings.Repeat("v", 256) + "/entries/0": "256 characters",
	} {
		t.Run(brief(path)[:min(len(path), 30)], func(t *testing.T) {
			t.Parallel()
			method, body := http.MethodGet, ""
			if strings.HasPrefix(path, "buckets") {
				method, body = http.MethodPut, widget("w", "{}")
			}
			s.send(t, request{method: method, path: path, body: body, header: yamlBody(), bad: true}).
				fails(t, http.StatusBadRequest, "HTTPBadRequest", help)
			s.isRevision(t, 1)
		})
	}
}

func TestHostile_encrypted(t *testing.T) {
	t.Parallel()
	s := startHostile(t)
	secret := strings.Replace(doc("deckhand/Passphrase/v1", "p", "hunter2"), "cleartext", "encrypted", 1)
	for name, body := range map[string]string{
		"a document":         widget("w", "{}") + secret,
		"a control document": "schema: acme/W/v1\nmetadata: {schema: metadata/Control/v1, name: p, storagePolicy: encrypted}\ndata: hunter2",
	} {
		got := s.put(t, "hostile", body)
		got.fails(t, http.StatusNotImplemented, "HTTPNotImplemented", "p", "storagePolicy: encrypted", "Nothing was stored")
		if strings.Contains(got.text+s.log.text(), "hunter2") {
			t.Errorf("%s: the secret is in the answer or the log", name)
		}
		s.isRevision(t, 1)
	}
}
