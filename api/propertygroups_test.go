package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	both    = "Cannot define the following properties at the same time: size, width.min."
	unknown = "Property size depends on the version of client plugin shop, which is not known; supported versions: 2.0."
	old     = "Property size is not supported by client plugin shop version 1.0; supported versions: 2.0."
)

func TestPropertyGroups(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "schemas", sized()).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{size: 1, width: {min: 1}}")+widget("v", "{width: {min: 0}}")).is(t, http.StatusOK)
	s.isOutcomes(t, "2", "failure", "success")
	got := s.faults(t, "2", 0)
	want := []any{
		map[string]any{
			"error_section": map[string]any{
				"data": map[string]any{"size": 1, "width": map[string]any{"min": 1}},
				"metadata": map[string]any{
					"schema": "metadata/Document/v1", "name": "w", "storagePolicy": "cleartext", "replacement": false,
					"layeringDefinition": map[string]any{"layer": "site", "abstract": false},
				},
				"schema": "acme/Widget/v1",
			},
			"layer": "site", "message": both, "name": "w", "path": ".data", "schema": "acme/Widget/v1",
			"schema_path": ".properties_groups_schema.0",
		},
	}
	for _, item := range got {
		fault, _ := item.(map[string]any)
		delete(fault, "validation_schema")
	}
	if diff := cmp.Diff(want, got[:1]); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	s.isMessages(t, "2", 0, ".data: "+both, ".data: "+unknown)
	// Rendered documents are checked in the same way.
	s.put(t, "layers", layeringPolicy("lp"))
	s.isInvalid(t, "3", "w: "+both, "w: "+unknown)
}

// Values that substitutions take from encrypted documents are hidden, but names of properties are shown.
func TestPropertyGroups_secrets(t *testing.T) {
	t.Parallel()
	s := sealedSite(t)
	s.put(t, "site", layeringPolicy("lp")+sealed(secret("s", "{pw: oNlYiNsEcReTs}"))+
		dataSchema("acme/Widget/v1", "{properties_groups_schema: [{XOR: [[a], [pw]]}]}")+
		docWith("acme/Widget/v1", "w", "{a: 1}", substitutes(from("s", ".pw", "{path: .pw}")))).is(t, http.StatusOK)
	s.isInvalid(t, "1", "w: Cannot define the following properties at the same time: a, pw.")
	if text := s.get(t, "revisions/1/rendered-documents").text; strings.Contains(text, "oNlYiNsEcReTs") {
		t.Errorf("a secret is told:\n%s", text)
	}
}

// Malformed groups are failures of their DataSchema, wherever they are in it.
func TestPropertyGroups_malformed(t *testing.T) {
	t.Parallel()
	const wrong = "Properties group schema incorrectly specified. "
	for name, c := range map[string]struct{ schema, want string }{
		"not referenced": {
			"{definitions: {d: {property_groups: {g: {properties: [a, h], operator: or}, h: {properties: [g], operator: or}}}}}",
			".data.definitions.d.property_groups.g: " + wrong + "Group 'g' refers to itself: g -> h -> g.",
		},
		"no operator":   {"{properties_groups_schema: [{NAND: [[a]]}]}", ".data.properties_groups_schema.0: " + wrong + "Properties group schema key should be one of the operators: AND, OR, XOR."},
		"beside a $ref": {"{properties: {a: {$ref: '#', property_groups: 5}}}", ".data.properties.a.property_groups: " + wrong + "property_groups should be a list of named groups, found <class 'int'> instead."},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.put(t, "site", dataSchema("acme/Widget/v1", c.schema)+widget("w", "{a: {}}")).is(t, http.StatusOK)
			s.isOutcomes(t, "1", "failure", "success")
			s.isMessages(t, "1", 0, c.want)
		})
	}
}

// A change of client versions checks exactly the documents that depend on them again, in all buckets.
func TestClientVersions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "schemas", sized()+dataSchema("acme/Other/v1", "{type: object}")).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{size: 1}")+doc("acme/Other/v1", "o", "{}")).is(t, http.StatusOK)
	s.isMessages(t, "2", 0, ".data: "+unknown)
	s.put(t, "versions", clientVersions("{shop: 2}")).is(t, http.StatusOK)
	s.isOutcomes(t, "3", "success")
	s.put(t, "versions", clientVersions("{shop: '1.0'}")).is(t, http.StatusOK)
	s.isOutcomes(t, "4", "success", "failure")
	s.isMessages(t, "4", 1, ".data: "+old)
	s.put(t, "else", widget("fine", "{width: {min: 1}}")).is(t, http.StatusOK)
	s.isOutcomes(t, "5", "success", "failure")
	s.put(t, "versions", "").is(t, http.StatusOK)
	s.isMessages(t, "6", 1, ".data: "+unknown)
	s.do(t, http.MethodPost, "rollback/3", "").is(t, http.StatusCreated)
	s.isOutcomes(t, "7", "success", "success", "success", "success", "success")
	// Stored results do not change.
	s.isMessages(t, "4", 1, ".data: "+old)

	// The schema of the kind is built in.
	s.put(t, "versions", clientVersions("{shop: [1]}")).is(t, http.StatusOK)
	s.isMessages(t, "8", 0, ".data.shop: [1] is not of type 'string', 'number'")
	s.isMessages(t, "8", 1, ".data: "+unknown)
}

// Documents with client versions are layered and rendered like any other.
func TestClientVersions_rendered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "global", layeringPolicy("lp")+sized()+
		inLayer("global, abstract: true", docWith("purser/ClientVersions/v1", "base", "{shop: '1.0'}", labelled("versions: base")))).is(t, http.StatusOK)
	s.put(t, "site", widget("w", "{size: 1}")).is(t, http.StatusOK)
	s.isMessages(t, "2", 0, ".data: "+unknown)
	versions := func(data string) string {
		return under("versions: base", "site", clientVersions(data), "merge .")
	}
	s.put(t, "versions", versions("{}")).is(t, http.StatusOK)
	s.isMessages(t, "3", 1, ".data: "+old)
	s.isInvalid(t, "3", "w: "+old)
	s.put(t, "versions", versions("{shop: '2.0'}")).is(t, http.StatusOK)
	s.isOutcomes(t, "4", "success")
	s.get(t, "revisions/4/rendered-documents").is(t, http.StatusOK)
	// If they cannot be rendered, their versions are unknown; documents that need no rendering count.
	s.put(t, "versions", under("versions: base", "site", clientVersions("{shop: '2.0'}"), "merge .nowhere")).is(t, http.StatusOK)
	s.isMessages(t, "5", 1, ".data: "+unknown)
	s.put(t, "more", doc("purser/ClientVersions/v1", "final", "{shop: '2.0', other: ' '}")).is(t, http.StatusOK)
	s.isOutcomes(t, "6", "failure")
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "schemas", sizes()).is(t, http.StatusOK)
	s.put(t, "more", sized()+dataSchema("template", "{}")).isFault(t, http.StatusConflict, "DuplicateDocumentExists")
	s.put(t, "more", layeringPolicy("lp")+inLayer("global, abstract: true", docWith("deckhand/DataSchema/v1", "acme/Base/v1", "{type: object}", labelled("b: c")))+
		under("b: c", "site", doc("deckhand/DataSchema/v1", "acme/Gadget/v1", "{required: [x]}"), "merge .")).is(t, http.StatusOK)
	registered := map[string]any{}
	for _, item := range s.get(t, "revisions/2/schemas").results(t) {
		schema, _ := item.(map[string]any)
		if schema["source"] == "registered" {
			registered[fmt.Sprint(schema["name"])] = schema["document"].(map[string]any)["revision"]
		} else if schema["document"] != nil || !strings.Contains(fmt.Sprint(schema["name"]), "/v1") {
			t.Errorf("built in: %v", schema)
		}
		s.get(t, strings.TrimPrefix(fmt.Sprint(schema["url"]), siteURL+"/api/v1.0/")).is(t, http.StatusOK)
		s.get(t, strings.TrimPrefix(fmt.Sprint(schema["docs"]), siteURL+"/api/v1.0/"), "Accept", "text/html").is(t, http.StatusOK)
	}
	if diff := cmp.Diff(map[string]any{"acme/Widget/v1": 1, "acme/Gadget/v1": 2}, registered); diff != "" {
		t.Errorf("registered (-want +got):\n%s", diff)
	}
	got := s.get(t, "revisions/2/schemas/acme/Gadget/v1", "Accept", "application/json").is(t, http.StatusOK)
	if got.text != `{"type":"object","required":["x"]}`+"\n" {
		t.Errorf("rendered schema %s", got.text)
	}
	s.get(t, "revisions/2/schemas/acme/Gadget/v1", "Accept", "application/json", "If-None-Match", got.Header.Get("ETag")).is(t, http.StatusNotModified)
	docs := s.get(t, "revisions/1/schemas/acme/Widget/v1/docs").is(t, http.StatusOK)
	if kind := docs.Header.Get("Content-Type"); kind != "text/markdown; charset=utf-8" || !strings.Contains(docs.text, "| `size` | integer | Optional | at most 100 |") {
		t.Errorf("documentation as %s\n%s", kind, docs.text)
	}
	page := s.get(t, "revisions/1/schemas/acme/Widget/v1/docs", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8").is(t, http.StatusOK)
	if kind := page.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" || !strings.Contains(page.text, "<title>acme/Widget/v1</title>") {
		t.Errorf("a page as %s\n%s", kind, brief(page.text))
	}
	s.get(t, "revisions/1/schemas/acme/Gadget/v1/docs").isFault(t, http.StatusNotFound, "SchemaNotFound", "acme/Gadget/v1")
	s.get(t, "revisions/1/schemas/acme/Gadget/v1").isFault(t, http.StatusNotFound, "SchemaNotFound", "acme/Gadget/v1", "acme/Widget/v1")
	s.get(t, "revisions/9/schemas").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

// The number of findings is reported even if they are not all shown.
func TestPropertyGroups_countsWhatIsNotTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", dataSchema("acme/Widget/v1", "{properties_groups_schema: [{AND: [[list, a], [list, b]]}]}")+
		widget("w", "{list: ["+strings.Repeat("{a: 1}, ", 2000)+"]}")).is(t, http.StatusOK)
	if got := s.messages(t, "1", 1); len(got) != 100 || got[99] != ".data: and 1901 more" {
		t.Errorf("%d messages, the last one %q", len(got), got[len(got)-1])
	}
}

// Findings about an encrypted document are not stored, and so depend on the client versions each time. They are shown
// even if nothing can be rendered.
func TestClientVersions_secretUnrendered(t *testing.T) {
	t.Parallel()
	s := sealedSite(t)
	s.put(t, "site", sized()+sealed(widget("w", "{size: 1}"))).is(t, http.StatusOK)
	s.get(t, "revisions/1/rendered-documents").is(t, http.StatusConflict)
	s.isMessages(t, "1", 1, ".data: Sanitized to avoid exposing secret.")
	s.get(t, "revisions/1/findings").is(t, http.StatusOK)
}
