package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Unusable DataSchemas are stored like any document, but are failures themselves and check nothing.
//
//nolint:paralleltest,tparallel // one after the other, for the work that each causes
func TestHostile_schemas(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	nested := strings.Repeat("{anyOf: [{type: 'null'}, ", 20) + "{type: string}" + strings.Repeat("]}", 20)
	for name, c := range map[string]struct{ schema, want string }{
		"anyOf 20 deep":    {nested, ".data: its combinators (allOf, anyOf, oneOf, not, dependencies) are nested 20 deep"},
		"a loop":           {"{$ref: '#'}", ".data.$ref: $ref '#' is a loop"},
		"a loop of two":    {"{$ref: '#/definitions/a', definitions: {a: {$ref: '#/definitions/b'}, b: {$ref: '#/definitions/a'}}}", "is a loop"},
		"a lookahead":      {"{properties: {size: {pattern: '(?!x)'}}}", ".data.properties.size.pattern: '(?!x)' cannot be used as a pattern"},
		"a back-reference": {`{patternProperties: {'(a)\1': {}}}`, "cannot be used as a pattern"},
		"type is a number": {"{type: 5}", ".data.type: 5 is not valid under any of the given schemas"},
		"unknown type":     {"{type: strnig}", ".data.type: 'strnig' is not valid under any of the given schemas"},
		"bad minimum":      {"{properties: {size: {minimum: ten}}}", ".data.properties.size.minimum: 'ten' is not of type 'number'"},
		"doubling references": {"{definitions: {" + numbered("d%d: {anyOf: [{$ref: '#/definitions/e'}, {$ref: '#/definitions/e'}]}, ", 3) +
			"e: {}}, properties: {size: {type: [a, b]}}}", ".data.properties.size.type"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.purge(t)
			s.affords(t, func() {
				s.put(t, "schemas", dataSchema("acme/Widget/v1", c.schema)).is(t, http.StatusOK)
			})
			s.isOutcomes(t, "1", "failure")
			if got := strings.Join(s.messages(t, "1", 0), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("messages %q, want one with %q", got, c.want)
			}
			// It checks nothing, and documents that it would check can be stored.
			s.put(t, "site", widget("w", "{size: [[1]]}")).isNames(t, "w@2")
			s.isOutcomes(t, "2", "success", "failure")
			s.get(t, "revisions/2/status?expect=success").is(t, http.StatusPreconditionFailed)
			// Once corrected, it is in force.
			s.put(t, "schemas", sizes())
			s.isOutcomes(t, "3", "success", "failure")
		})
	}
}

// References to files and other servers are not followed. They are findings about the documents whose checks reach them.
//
//nolint:paralleltest,tparallel // one after the other, on one server
func TestHostile_externalReferences(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	for name, schema := range map[string]string{
		"a file":          "{$ref: 'file:///etc/passwd'}",
		"a relative file": "{properties: {size: {$ref: 'secrets.json'}}}",
		"a URL":           "{$ref: 'http://127.0.0.1:1/'}",
		"a URL by id":     "{id: 'http://127.0.0.1:1/', properties: {size: {$ref: 'x'}}}",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.purge(t)
			s.put(t, "schemas", dataSchema("acme/Widget/v1", schema)).is(t, http.StatusOK)
			s.isOutcomes(t, "1", "success")
			s.put(t, "site", widget("w", "{size: [[1]]}")).isNames(t, "w@2")
			s.isOutcomes(t, "2", "failure")
			if got := strings.Join(s.messages(t, "2", 0), "\n"); !strings.Contains(got, "points outside the schema") {
				t.Errorf("messages %q", got)
			}
		})
	}
}

func TestHostile_schemaErrorForm(t *testing.T) {
	t.Parallel()
	s := start(t, "--compat=deckhand")
	s.put(t, "schemas", dataSchema("acme/Widget/v1", "{type: object, properties: {size: {type: 5}}}"))
	got := s.faults(t, "1", 0)
	if len(got) != 1 {
		t.Fatalf("%d errors, want 1", len(got))
	}
	fault, _ := got[0].(map[string]any)
	delete(fault, "validation_schema")
	want := map[string]any{
		"error_section": map[string]any{"type": 5}, "layer": "", "message": "5 is not valid under any of the given schemas",
		"name": "acme/Widget/v1", "path": ".data.properties.size.type", "schema": "deckhand/DataSchema/v1",
		"schema_path": ".properties.properties.additionalProperties.properties.type.anyOf",
	}
	if diff := cmp.Diff(want, fault); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestHostile_schemasThatAreFine(t *testing.T) {
	t.Parallel()
	recursive := "{type: object, properties: {size: {type: integer}, child: {$ref: '#'}}, additionalProperties: false}"
	for name, c := range map[string]struct {
		schema, data string
		want         []string
	}{
		"recursion, good":    {recursive, "{size: 1, child: {child: {size: 2}}}", []string{}},
		"recursion, bad":     {recursive, "{size: 1, child: {child: {size: two}}}", []string{".data.child.child.size: 'two' is not of type 'integer'"}},
		"dangling, unused":   {"{properties: {url: {$ref: '#/definitions/url'}}}", "{size: 1}", []string{}},
		"format is no check": {"{properties: {a: {format: ipv4}}}", "{a: no address}", []string{}},
		"schema said":        {"{$schema: 'http://json-schema.org/schema#', type: string}", "{}", []string{".data: {} is not of type 'string'"}},
		"schema nonsense":    {"{$schema: 5, type: string}", "{}", []string{".data: {} is not of type 'string'"}},
		"later keywords":     {"{$id: 'http://127.0.0.1:1/', const: 1, if: {}, then: false}", "{}", []string{}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.put(t, "mop", widget("w", c.data)+dataSchema("acme/Widget/v1", c.schema)).is(t, http.StatusOK)
			s.isMessages(t, "1", 0, c.want...)
			s.isMessages(t, "1", 1)
		})
	}
	t.Run("dangling, reached", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.put(t, "mop", widget("w", "{url: x}")+dataSchema("acme/Widget/v1", "{properties: {url: {$ref: '#/definitions/url'}}}"))
		s.isOutcomes(t, "1", "failure", "success")
		if got := fmt.Sprint(s.messages(t, "1", 0)); !strings.Contains(got, "'definitions/url'") {
			t.Errorf("messages %s, want the reference named", got)
		}
	})
}

// Hostile data does not crash the server while a schema checks it.
//
//nolint:paralleltest,tparallel // one after the other, for the time that each takes
func TestHostile_dataForSchemas(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	s.put(t, "schemas", dataSchema("acme/Widget/v1", "{type: object, properties: {a: {type: integer, multipleOf: 0.1}, "+
		"b: {type: array, uniqueItems: true}, c: {pattern: '^(a+)+$'}}}")+dataSchema("acme/Many/v1", "{type: array, items: {type: string}}"))
	for name, c := range map[string]struct{ document, outcome string }{
		"large number":  {widget("w", "{a: 1.0e+300}"), "failure"},
		"unique items":  {widget("w", "{b: ["+numbered("{k: %d}, ", 20_000)+"]}"), "success"},
		"slow pattern":  {widget("w", "{c: "+strings.Repeat("a", 100_000)+"!}"), "failure"},
		"many errors":   {doc("acme/Many/v1", "m", "["+strings.Repeat("1,", 50_000)+"]"), "failure"},
		"a large value": {doc("acme/Many/v1", "m", "{a: "+strings.Repeat("x", 1<<20)+"}"), "failure"},
		"a NUL":         {doc("acme/Many/v1", "m", `{a: "\0"}`), "failure"},
		"odd text":      {doc("acme/Many/v1", "m", `"\x01\x7f\u2028\U0001F600é\\'\""`), "failure"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			var entry answer
			s.affords(t, func() {
				s.put(t, "site", c.document).is(t, http.StatusOK)
				s.isOutcomes(t, "latest", c.outcome)
				entry = s.get(t, "revisions/latest/validations/"+own+"/entries/0").is(t, http.StatusOK)
			})
			if most := 8 << 20; len(entry.text) > most {
				t.Errorf("the entry has %d bytes", len(entry.text))
			}
		})
	}
}

// The cost of checks is counted while they run. A change that would keep the server busy for minutes is refused, with
// the document and rule that were being checked.
func TestHostile_wideSchemas(t *testing.T) {
	t.Parallel()
	s := startLean(t)
	s.put(t, "schemas", dataSchema("acme/Wide/v1", "{type: array, items: {anyOf: ["+numbered("{required: [a%d]}, ", 3000)+"]}}")).
		is(t, http.StatusOK)
	var documents strings.Builder
	for i := range 12 {
		documents.WriteString(doc("acme/Wide/v1", fmt.Sprintf("wide-%d", i), "["+strings.Repeat("{},", 2_700)+"]"))
	}
	var refused answer
	s.affords(t, func() { refused = s.put(t, "site", documents.String()).is(t, http.StatusRequestEntityTooLarge) })
	if want := "by schema acme/Wide/v1: it takes more than"; !strings.Contains(refused.text, want) ||
		!strings.Contains(refused.text, "check document [acme/Wide/v1, site] wide-") {
		t.Errorf("refused with %s, want %q", refused.text, want)
	}
	s.put(t, "site", widget("w", "{size: 1}")).is(t, http.StatusOK)
}
