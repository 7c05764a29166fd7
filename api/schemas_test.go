package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purser/internal/validations"

	"github.com/google/go-cmp/cmp"
)

// own, fitting and rendering are validations of the server.
const (
	own       = validations.SchemaValidation
	fitting   = validations.PolicyValidation
	rendering = validations.RenderingValidation
)

// sizes returns a DataSchema for widgets, and sizesText is its text.
const sizesText = "{type: object, properties: {size: {type: integer, maximum: 100}}}"

func sizes() string { return dataSchema("acme/Widget/v1", sizesText) }

// outcomes returns the statuses of the entries of a revision's schema validation, in order.
func (s site) outcomes(t *testing.T, revision string) []string {
	t.Helper()
	list := []string{}
	for i, item := range s.get(t, "revisions/"+revision+"/validations/"+own).results(t) {
		entry, _ := item.(map[string]any)
		if entry["id"] != i {
			t.Errorf("entry %d has the id %v", i, entry["id"])
		}
		list = append(list, fmt.Sprint(entry["status"]))
	}
	return list
}

func (s site) isOutcomes(t *testing.T, revision string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.outcomes(t, revision)); diff != "" {
		t.Errorf("entries of revision %s (-want +got):\n%s", revision, diff)
	}
}

// faults returns the errors of an entry of the schema validation.
func (s site) faults(t *testing.T, revision string, entry int) []any {
	t.Helper()
	shown := s.get(t, fmt.Sprintf("revisions/%s/validations/%s/entries/%d", revision, own, entry)).is(t, http.StatusOK)
	errs, _ := shown.mapping(t)["errors"].([]any)
	return errs
}

// messages returns the messages of an entry's errors, each with its path.
func (s site) messages(t *testing.T, revision string, entry int) []string {
	t.Helper()
	list := []string{}
	for _, item := range s.faults(t, revision, entry) {
		fault, _ := item.(map[string]any)
		list = append(list, fmt.Sprint(fault["path"], ": ", fault["message"]))
	}
	return list
}

func (s site) isMessages(t *testing.T, revision string, entry int, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.messages(t, revision, entry)); diff != "" {
		t.Errorf("messages of entry %d of revision %s (-want +got):\n%s", entry, revision, diff)
	}
}

// isNoted checks that an entry is a success without errors and with one note.
func (s site) isNoted(t *testing.T, revision string, entry int, want string) {
	t.Helper()
	shown := s.get(t, fmt.Sprintf("revisions/%s/validations/%s/entries/%d", revision, own, entry)).is(t, http.StatusOK)
	got := shown.mapping(t)
	diff := cmp.Diff([]any{"success", []any{}, []any{map[string]any{"message": want, "level": "Info"}}},
		[]any{got["status"], got["errors"], got["notes"]})
	if diff != "" {
		t.Errorf("status, errors and notes of entry %d of revision %s (-want +got):\n%s", entry, revision, diff)
	}
}

func TestSchemas_violationIsRecorded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("big", "{size: 177, list: [1]}")+sizes()+widget("fits", "{size: 7}")).is(t, http.StatusOK)
	s.isOutcomes(t, "1", "failure", "success", "success")
	want := []any{map[string]any{
		"error_section":     map[string]any{"size": 177, "list": []any{1}},
		"layer":             "site",
		"message":           "177 is greater than the maximum of 100",
		"name":              "big",
		"path":              ".data.size",
		"schema":            "acme/Widget/v1",
		"schema_path":       ".properties.size.maximum",
		"validation_schema": map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "integer", "maximum": 100}}},
	}}
	if diff := cmp.Diff(want, s.faults(t, "1", 0)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	entry := withoutTime(t, s.get(t, "revisions/1/validations/"+own+"/entries/1").mapping(t))
	whole := map[string]any{
		"errors": []any{}, "expiresAfter": nil, "expiresAt": nil, "name": own, "status": "success",
		"url": siteURL + "/api/v1.0/revisions/1/validations/" + own + "/entries/1",
	}
	if diff := cmp.Diff(whole, entry); diff != "" {
		t.Errorf("success (-want +got):\n%s", diff)
	}
}

func TestSchemas_errorForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", dataSchema("acme/A/v1", "{type: object, required: [k], additionalProperties: false, properties: "+
		"{l: {type: array, items: {type: object, properties: {n: {enum: [1, b]}}}}, p: {pattern: '^\\d$'}}}")+
		dataSchema("acme/B/v1", "{type: array}")+
		doc("acme/A/v1", "a", "{l: [{n: 1}, {n: 2, m: 3}], p: x, y: 1}")+doc("acme/B/v1", "b", "text"))
	s.isOutcomes(t, "1", "success", "success", "failure", "failure")
	got := map[string]any{}
	for _, item := range append(s.faults(t, "1", 2), s.faults(t, "1", 3)...) {
		fault, _ := item.(map[string]any)
		got[fmt.Sprint(fault["path"], " ", fault["schema_path"], " ", fault["message"])] = fault["error_section"]
	}
	all := map[string]any{"l": []any{map[string]any{"n": 1}, map[string]any{"n": 2, "m": 3}}, "p": "x", "y": 1}
	document := func(name, schema string, data any) any {
		return map[string]any{"schema": schema, "data": data, "metadata": map[string]any{
			"schema": "metadata/Document/v1", "name": name, "storagePolicy": "cleartext", "replacement": false,
			"layeringDefinition": map[string]any{"abstract": false, "layer": "site"},
		}}
	}
	want := map[string]any{
		".data .required 'k' is a required property":                                             document("a", "acme/A/v1", all),
		".data .additionalProperties Additional properties are not allowed ('y' was unexpected)": document("a", "acme/A/v1", all),
		".data.l.1.n .properties.l.items.properties.n.enum 2 is not one of [1, 'b']":             map[string]any{"n": 2, "m": 3},
		`.data.p .properties.p.pattern 'x' does not match '^\\d$'`:                               all,
		".data .type 'text' is not of type 'array'":                                              document("b", "acme/B/v1", "text"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("place and section of each error (-want +got):\n%s", diff)
	}
}

func TestSchemas_builtIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		document string
		want     []string
	}{
		"LayeringPolicy":    {control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: 5}"), []string{".data.layerOrder: 5 is not of type 'array'"}},
		"ValidationPolicy":  {policy("vp", "nonsense", own), []string{`.data.validations.0.name: 'nonsense' does not match '^.*-(validation|verification)$'`}},
		"Passphrase":        {doc("deckhand/Passphrase/v1", "p", "{a: 1}"), []string{".data: {'a': 1} is not of type 'string'"}},
		"Certificate":       {doc("deckhand/Certificate/v1", "p", "[]"), []string{".data: [] is not of type 'string'"}},
		"good Passphrase":   {doc("deckhand/Passphrase/v1", "p", "secret"), []string{}},
		"other version":     {doc("deckhand/Passphrase/v2", "p", "{a: 1}"), []string{}},
		"unknown kind":      {doc("acme/Unknown/v1", "p", "{a: 1}"), []string{}},
		"internal schemas":  {control("deckhand/Base/v1", "p", "{a: 1}"), []string{}},
		"with substitution": {docWith("deckhand/Passphrase/v1", "p", "5", substitution(".x")), []string{".data: Sanitized to avoid exposing secret."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "mop", c.document).is(t, http.StatusOK)
			s.isMessages(t, "1", 0, c.want...)
		})
	}
}

// substitution returns metadata with a substitution to destinations.
func substitution(destinations ...string) string {
	var dest []string
	for _, d := range destinations {
		dest = append(dest, "{path: '"+d+"'}")
	}
	return ", substitutions: [{dest: [" + strings.Join(dest, ", ") + "], src: {schema: acme/Secret/v1, name: s, path: .}}]"
}

func TestSchemas_whichDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	const bad = "{size: 177}"
	layered := func(definition string) string {
		return strings.Replace(widget("w", bad), "{layer: site}", definition, 1)
	}
	for name, c := range map[string]struct {
		document string
		schema   string
		want     string
	}{
		"final":               {widget("w", bad), sizes(), "failure"},
		"with substitutions":  {docWith("acme/Widget/v1", "w", bad, substitution(".x")), sizes(), "success"},
		"with parentSelector": {layered("{layer: site, parentSelector: {a: b}, actions: [{method: merge, path: .}]}"), sizes(), "success"},
		"abstract":            {layered("{layer: site, abstract: true}"), sizes(), "success"},
		"control document":    {control("acme/Widget/v1", "w", bad), sizes(), "failure"},
		"another version":     {doc("acme/Widget/v2", "w", bad), sizes(), "success"},
		"another kind":        {doc("acme/Widgets/v1", "w", bad), sizes(), "success"},
		"version 3":           {doc("acme/Widget/v3", "w", bad), dataSchema("acme/Widget/v3", sizesText), "failure"},
		"version 10":          {doc("acme/Widget/v10", "w", bad), dataSchema("acme/Widget/v10", sizesText), "failure"},
		"a template":          {doc("acme/Widget/v1", "w", bad), dataSchema("acme-widget", sizesText), "success"},
		"data of a template":  {doc("acme/Widget/v1", "w", bad), dataSchema("acme/Widget/v1", "type object"), "success"},
		"empty schema":        {doc("acme/Widget/v1", "w", bad), dataSchema("acme/Widget/v1", "{}"), "success"},
		"built-in kind":       {doc("deckhand/Passphrase/v1", "w", "text"), dataSchema("deckhand/Passphrase/v1", "{type: object}"), "success"},
		"later draft":         {widget("w", bad), dataSchema("acme/Widget/v1", "{$schema: 'http://json-schema.org/schema#', const: 1}"), "success"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "mop", c.document+c.schema).is(t, http.StatusOK)
			s.isOutcomes(t, "1", c.want, "success")
		})
	}
}

func TestSchemas_acrossBuckets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", widget("a", "{size: 177}")+widget("b", "{size: 1}"))
	s.isOutcomes(t, "1", "success", "success")
	// A later schema makes documents in other buckets fail, with an additional entry for each.
	s.put(t, "schemas", sizes())
	s.isOutcomes(t, "2", "success", "failure")
	s.isMessages(t, "2", 1, ".data.size: 177 is greater than the maximum of 100")
	s.isOutcomes(t, "1", "success", "success")
	// They also fail in revisions that change something else.
	s.put(t, "other", widget("c", "{size: 200}"))
	s.isOutcomes(t, "3", "failure", "failure")
	s.isMessages(t, "3", 0, ".data.size: 200 is greater than the maximum of 100")
	s.isMessages(t, "3", 1, ".data.size: 177 is greater than the maximum of 100")
	// A changed schema is checked again.
	s.put(t, "schemas", strings.Replace(sizes(), "100", "180", 1))
	s.isOutcomes(t, "4", "success", "failure")
	s.isMessages(t, "4", 1, ".data.size: 200 is greater than the maximum of 180")
	// A changed document passes; the other one still fails.
	s.put(t, "other", widget("c", "{size: 2}"))
	s.isOutcomes(t, "5", "success")
	s.put(t, "schemas", sizes())
	s.isOutcomes(t, "6", "success", "failure")
	// Without the schema nothing fails. A PUT that only deletes has one success.
	s.put(t, "schemas", "")
	s.isOutcomes(t, "7", "success")
}

func TestSchemas_failingDocumentThatIsRemovedFailsNoMore(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", widget("a", "{size: 177}"))
	s.put(t, "schemas", sizes())
	s.put(t, "site", "")
	s.isOutcomes(t, "3", "success")
	s.put(t, "site", widget("a", "{size: 177}"))
	s.isOutcomes(t, "4", "failure")
}

func TestSchemas_newestWinsWithinThePayload(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", sizes()+widget("a", "{size: 177}"))
	s.isOutcomes(t, "1", "success", "failure")
	s.put(t, "mop", widget("a", "{size: 177}")+strings.Replace(sizes(), "100", "200", 1))
	s.isOutcomes(t, "2", "success", "success")
}

func TestSchemas_duplicateKeysAreNoted(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	// Valid for the server, but not for the YAML library of the contract checks.
	s.unchecked().put(t, "mop", widget("a", "{}")+widget("b", "\n  x: 1\n  y: 2\n  x: 3")).is(t, http.StatusOK)
	s.isOutcomes(t, "1", "success", "success")
	s.isNoted(t, "1", 1, "The key 'x' appears twice in one mapping, at lines 11 and 13; the last one wins.")
	documents := s.get(t, "revisions/1/documents").documents(t)
	if diff := cmp.Diff(map[string]any{"x": 3, "y": 2}, documents[1]["data"]); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	s.get(t, "revisions/1/status?expect=success").is(t, http.StatusOK)
	dry := s.unchecked().do(t, http.MethodPut, "buckets/mop/documents?dry-run=true", widget("c", "{x: 1, x: 2}"), inYAML...).mapping(t)
	finding, _ := dry["findings"].([]any)[0].(map[string]any)
	if notes := fmt.Sprint(finding["notes"]); !strings.Contains(notes, "The key 'x' appears twice") {
		t.Errorf("the note of a dry run: %s", notes)
	}
}

// If the marker between two documents is missing, they are not read as one.
func TestSchemas_duplicateKeysAtTheTop(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := widget("a", "{}") + strings.TrimPrefix(widget("b", "{}"), "---\n")
	s.put(t, "mop", body).isFault(t, http.StatusBadRequest, "HTTPBadRequest",
		"document 1, line ", "a key appears twice at the top level, at lines 2 and ", "---")
	s.get(t, "revisions/1").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

func TestSchemas_secretsAreSanitized(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	// The built-in schema also checks documents with substitutions. Values that these write are hidden everywhere.
	const hush = "Sanitized to avoid exposing secret."
	s.put(t, "mop", docWith("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: [hush, 5], more: hush}",
		substitution(".layerOrder[0]", ".more")))
	for _, item := range s.faults(t, "1", 0) {
		fault, _ := item.(map[string]any)
		if text := fmt.Sprint(fault); strings.Contains(text, "hush") {
			t.Errorf("a secret is shown: %s", text)
		}
		section, _ := fault["error_section"].(map[string]any)
		if data, ok := section["data"].(map[string]any); ok {
			section = data
		}
		if section != nil && section["more"] != hush {
			t.Errorf("the section shows %v at .more, want the sentence", section["more"])
		}
	}
	if n := len(s.faults(t, "1", 0)); n != 2 {
		t.Errorf("%d errors, want one of the type and one of the key", n)
	}
	if shown := s.get(t, "revisions/1/status", "Accept", "text/plain").text; strings.Contains(shown, "hush") {
		t.Errorf("the status shows a secret: %s", shown)
	}
	// The documents themselves are as submitted: they are not secret before rendering.
	if !strings.Contains(s.get(t, "revisions/1/documents").text, "hush") {
		t.Error("the document lost its data")
	}
}
