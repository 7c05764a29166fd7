package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// When a DataSchema changes, documents whose DataSchema refers to it by name are checked again.
func TestDrafts_references(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	address := func(kind string) string {
		return dataSchema("acme/Address/v1", "{definitions: {street: {type: "+kind+"}}}")
	}
	s.put(t, "schemas", dataSchema("acme/Person/v1",
		"{$schema: 'https://json-schema.org/draft/2020-12/schema', properties: {home: {$ref: 'acme/Address/v1#/definitions/street'}}}"),
	).is(t, http.StatusOK)
	s.put(t, "people", widgetOf("acme/Person/v1", "anna", "{home: 1}")).is(t, http.StatusOK)
	const missing = "the DataSchema acme/Address/v1 is not registered, or cannot be used"
	s.isAboutAnna(t, 2, missing)
	s.put(t, "addresses", address("string")).is(t, http.StatusOK)
	s.isAboutAnna(t, 3, "1 is not of type 'string'")
	s.put(t, "addresses", address("integer")).is(t, http.StatusOK)
	s.isAboutAnna(t, 4, "")
	s.put(t, "addresses", "").is(t, http.StatusOK)
	s.isAboutAnna(t, 5, missing)
}

// isAboutAnna checks that a revision has exactly one finding about the document anna, or none if want is "".
func (s site) isAboutAnna(t *testing.T, revision int, want string) {
	t.Helper()
	found := s.get(t, fmt.Sprintf("revisions/%d/findings?document=anna", revision)).is(t, http.StatusOK).mapping(t)
	findings, _ := found["findings"].([]any)
	var got string
	if len(findings) == 1 {
		finding, _ := findings[0].(map[string]any)
		got, _ = finding["message"].(string)
	}
	if got != want || len(findings) > 1 {
		t.Errorf("revision %d: %v, want %q", revision, findings, want)
	}
}

// A finding of anyOf includes the errors of the intended branch. A finding of a misspelt property suggests a name.
func TestDrafts_causes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", dataSchema("acme/Disk/v1", `{anyOf: [
		{properties: {kind: {enum: [ssd]}, size: {type: integer}}, required: [kind, size], additionalProperties: false},
		{properties: {kind: {enum: [hdd]}, rpm: {type: integer}}, required: [kind, rpm]}]}`)+
		widgetOf("acme/Disk/v1", "d", "{kind: ssd, szie: 3}")).is(t, http.StatusOK)
	faults := s.faults(t, "1", 1)
	if len(faults) != 1 {
		t.Fatalf("%d errors", len(faults))
	}
	fault, _ := faults[0].(map[string]any)
	want := []any{
		map[string]any{
			"message": "Additional properties are not allowed ('szie' was unexpected)", "path": ".data",
			"schema_path": ".anyOf.0.additionalProperties", "hint": `did you mean "size" for "szie"?`,
		},
		map[string]any{"message": "'size' is a required property", "path": ".data", "schema_path": ".anyOf.0.required"},
	}
	if diff := cmp.Diff(want, fault["causes"]); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}

// The findings of a revision, and the text of its status, include causes and hints.
func TestDrafts_findings(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", dataSchema("acme/Disk/v1", `{properties: {bus: {type: string}, of: {anyOf: [{type: integer, minimum: 3}, {type: array}]}}, additionalProperties: false}`)+
		widgetOf("acme/Disk/v1", "d", "{bsu: x, of: 1}")).is(t, http.StatusOK)
	text := s.get(t, "revisions/1/findings", "Accept", "text/plain").is(t, http.StatusOK).text
	for _, want := range []string{
		`[acme/Disk/v1, site] d .data: Additional properties are not allowed ('bsu' was unexpected) (did you mean "bus" for "bsu"?)`,
		"[acme/Disk/v1, site] d .data.of: 1 is not valid under any of the given schemas (in the branch most likely meant, .data.of: 1 is less than the minimum of 3)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	findings := s.get(t, "revisions/1/findings").is(t, http.StatusOK).text
	for _, want := range []string{`advice: did you mean "bus" for "bsu"?`, "message: 1 is less than the minimum of 3"} {
		if !strings.Contains(findings, want) {
			t.Errorf("%s is missing in\n%s", want, findings)
		}
	}
}
