package jsonschema

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

// unmetered returns a meter of a budget of its own.
func unmetered() *budget.Meter { return budget.NewMeter(context.Background()) }

// fataler is implemented by *testing.T, *testing.B and *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func check(t fataler, s *Schema, data []byte) []Finding {
	t.Helper()
	found, err := s.Check(unmetered(), data)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func mustCompile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile(unmetered(), []byte(schema), Options{})
	if err != nil {
		t.Fatalf("compile %s: %v", schema, err)
	}
	return s
}

// lines writes findings as "path | schema path | message".
func lines(findings []Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, strings.Join(f.Instance, "/")+" | "+f.SchemaPath+" | "+f.Message)
	}
	return out
}

func TestSchema_Check(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema, data string
		want               []string
	}{
		{"passes", `{"type": "object"}`, `{}`, nil},
		{"type", `{"type": "string"}`, `1`, []string{" | .type | 1 is not of type 'string'"}},
		{"types", `{"type": ["string", "null"]}`, `1`, []string{" | .type | 1 is not of type 'string', 'null'"}},
		{"integer takes no 1.0", `{"type": "integer"}`, `1.0`, []string{" | .type | 1.0 is not of type 'integer'"}},
		{"integer takes no exponent", `{"type": "integer"}`, `1E5`, []string{" | .type | 1E5 is not of type 'integer'"}},
		{"integer takes many digits", `{"type": "integer"}`, `1` + strings.Repeat("0", 99), nil},
		{"number takes 1", `{"type": "number"}`, `1`, nil},
		{"true is no number", `{"type": ["number", "integer"]}`, `true`, []string{" | .type | True is not of type 'number', 'integer'"}},
		{"a wrong type does not hide the rest", `{"type": "string", "minimum": 2}`, `1`, []string{
			" | .minimum | 1 is less than the minimum of 2", " | .type | 1 is not of type 'string'",
		}},
		{"enum", `{"enum": ["a", 2]}`, `"c"`, []string{" | .enum | 'c' is not one of ['a', 2]"}},
		{"enum compares numbers", `{"enum": [1]}`, `1.0`, nil},
		{"enum tells true from 1", `{"enum": [1]}`, `true`, []string{" | .enum | True is not one of [1]"}},
		{"empty enum", `{"enum": []}`, `1`, []string{" | .enum | 1 is not one of []"}},
		{"minimum", `{"minimum": 3}`, `2`, []string{" | .minimum | 2 is less than the minimum of 3"}},
		{"exclusiveMinimum", `{"minimum": 3, "exclusiveMinimum": true}`, `3`, []string{" | .minimum | 3 is less than or equal to the minimum of 3"}},
		{"maximum", `{"maximum": 100}`, `177`, []string{" | .maximum | 177 is greater than the maximum of 100"}},
		{"exclusiveMaximum", `{"maximum": 3, "exclusiveMaximum": true}`, `3.0`, []string{" | .maximum | 3.0 is greater than or equal to the maximum of 3"}},
		{"multipleOf", `{"multipleOf": 0.1}`, `0.25`, []string{" | .multipleOf | 0.25 is not a multiple of 0.1"}},
		{"minLength", `{"minLength": 2}`, `"é"`, []string{" | .minLength | 'é' is too short"}},
		{"maxLength", `{"maxLength": 1}`, `"ab"`, []string{" | .maxLength | 'ab' is too long"}},
		{"huge maxLength", `{"maxLength": 99999999999999999999}`, `"ab"`, nil},
		{"pattern", `{"pattern": "it's"}`, `"x"`, []string{` | .pattern | 'x' does not match "it's"`}},
		{"minItems", `{"minItems": 1}`, `[]`, []string{" | .minItems | [] is too short"}},
		{"maxItems", `{"maxItems": 1}`, `[1, 2]`, []string{" | .maxItems | [1, 2] is too long"}},
		{"uniqueItems", `{"uniqueItems": true}`, `[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]`, []string{
			" | .uniqueItems | [{'a': 1, 'b': 2}, {'b': 2.0, 'a': 1}] has non-unique elements",
		}},
		{"uniqueItems tells true from 1", `{"uniqueItems": true}`, `[1, true, "1", [1], ["1"], null]`, nil},
		{"minProperties", `{"minProperties": 2}`, `{"a": 1}`, []string{" | .minProperties | {'a': 1} does not have enough properties"}},
		{"maxProperties", `{"maxProperties": 0}`, `{"a": 1}`, []string{" | .maxProperties | {'a': 1} has too many properties"}},
		{"required", `{"required": ["a", "it's", "c"]}`, `{"c": 1}`, []string{
			" | .required | 'a' is a required property", ` | .required | "it's" is a required property`,
		}},
		{"properties", `{"properties": {"a": {"type": "null"}}}`, `{"a": 1}`, []string{"a | .properties.a.type | 1 is not of type 'null'"}},
		{"properties with odd names", `{"properties": {"a/b~%": {"properties": {"": {"type": "null"}}}}}`, `{"a/b~%": {"": 1}}`, []string{
			"a/b~%/ | .properties.a/b~%.properties..type | 1 is not of type 'null'",
		}},
		{"a property named $ref", `{"properties": {"$ref": {"type": "null"}}}`, `{"$ref": 1}`, []string{"$ref | .properties.$ref.type | 1 is not of type 'null'"}},
		{"patternProperties", `{"patternProperties": {"^s$": {"type": "null"}}}`, `{"s": 1, "t": 2}`, []string{
			"s | .patternProperties.^s$.type | 1 is not of type 'null'",
		}},
		{"additionalProperties one", `{"additionalProperties": false}`, `{"x": 1}`, []string{
			" | .additionalProperties | Additional properties are not allowed ('x' was unexpected)",
		}},
		{"additionalProperties several", `{"properties": {"a": {}}, "additionalProperties": false}`, `{"y": 1, "a": 2, "x": 3}`, []string{
			" | .additionalProperties | Additional properties are not allowed ('y', 'x' were unexpected)",
		}},
		{"additionalProperties beside a pattern", `{"additionalProperties": false, "patternProperties": {"^b": {}, "^a": {}}}`, `{"c": 1, "a": 1}`, []string{
			" | .additionalProperties | 'c' does not match any of the regexes: '^a', '^b'",
		}},
		{"additionalProperties beside patterns", `{"additionalProperties": false, "patternProperties": {"^b": {}}}`, `{"d": 1, "c": 1}`, []string{
			" | .additionalProperties | 'c', 'd' do not match any of the regexes: '^b'",
		}},
		{"additionalProperties schema", `{"additionalProperties": {"type": "null"}}`, `{"x": 1}`, []string{"x | .additionalProperties.type | 1 is not of type 'null'"}},
		{"items", `{"items": {"type": "null"}}`, `[null, 1]`, []string{"1 | .items.type | 1 is not of type 'null'"}},
		{"items by index", `{"items": [{}, {"type": "null"}]}`, `[1, 2, 3]`, []string{"1 | .items.1.type | 2 is not of type 'null'"}},
		{"additionalItems one", `{"items": [{}], "additionalItems": false}`, `[1, 4]`, []string{
			" | .additionalItems | Additional items are not allowed (4 was unexpected)",
		}},
		{"additionalItems several", `{"items": [{}], "additionalItems": false}`, `[1, 4, "a"]`, []string{
			" | .additionalItems | Additional items are not allowed (4, 'a' were unexpected)",
		}},
		{"additionalItems schema", `{"items": [{}], "additionalItems": {"type": "null"}}`, `[1, 4]`, []string{"1 | .additionalItems.type | 4 is not of type 'null'"}},
		{"dependencies of keys", `{"dependencies": {"a": ["b", "c"]}}`, `{"a": 1}`, []string{
			" | .dependencies | 'b' is a dependency of 'a'", " | .dependencies | 'c' is a dependency of 'a'",
		}},
		{"dependencies schema", `{"dependencies": {"a": {"required": ["z"]}}}`, `{"a": 1}`, []string{" | .dependencies.a.required | 'z' is a required property"}},
		{"allOf", `{"allOf": [{"minimum": 2}, {"maximum": 0}]}`, `1`, []string{
			" | .allOf.0.minimum | 1 is less than the minimum of 2", " | .allOf.1.maximum | 1 is greater than the maximum of 0",
		}},
		{"anyOf", `{"anyOf": [{"type": "string"}, {"minimum": 2}]}`, `1`, []string{" | .anyOf | 1 is not valid under any of the given schemas"}},
		{"oneOf none", `{"oneOf": [{"type": "string"}]}`, `1`, []string{" | .oneOf | 1 is not valid under any of the given schemas"}},
		{"oneOf several", `{"oneOf": [{"minimum": 9}, {"type": "integer"}, {"minimum": 2}, {}]}`, `3`, []string{
			" | .oneOf | 3 is valid under each of {'minimum': 2}, {}, {'type': 'integer'}",
		}},
		{"not", `{"not": {"type": "integer"}}`, `1`, []string{" | .not | 1 should not be valid under {'type': 'integer'}"}},
		{"in order of the data", `{"items": {"type": "null"}}`, `[1,1,1,1,1,1,1,1,1,1,1]`, []string{
			"0 | .items.type | 1 is not of type 'null'", "1 | .items.type | 1 is not of type 'null'",
			"2 | .items.type | 1 is not of type 'null'", "3 | .items.type | 1 is not of type 'null'",
			"4 | .items.type | 1 is not of type 'null'", "5 | .items.type | 1 is not of type 'null'",
			"6 | .items.type | 1 is not of type 'null'", "7 | .items.type | 1 is not of type 'null'",
			"8 | .items.type | 1 is not of type 'null'", "9 | .items.type | 1 is not of type 'null'",
			"10 | .items.type | 1 is not of type 'null'",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(check(t, mustCompile(t, tt.schema), []byte(tt.data)))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchema_Check_references(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema, data string
		want               []string
	}{
		{
			"definition", `{"properties": {"a": {"$ref": "#/definitions/p"}}, "definitions": {"p": {"type": "null"}}}`, `{"a": 1}`,
			[]string{"a | .properties.a.type | 1 is not of type 'null'"},
		},
		{
			"recursive", `{"type": "object", "additionalProperties": {"$ref": "#"}}`, `{"a": {"b": 1}}`,
			[]string{"a/b | .additionalProperties.additionalProperties.type | 1 is not of type 'object'"},
		},
		{
			"escapes", `{"items": [{"$ref": "#/definitions/a~1b"}, {"$ref": "#/definitions/c%25d"}], "definitions": {"a/b": {"type": "null"}, "c%d": {"type": "null"}}}`, `[1, 2]`,
			[]string{"0 | .items.0.type | 1 is not of type 'null'", "1 | .items.1.type | 2 is not of type 'null'"},
		},
		{
			"under an unknown keyword", `{"$ref": "#/x-types/0", "x-types": [{"items": {"$ref": "#/x-more"}}], "x-more": {"type": "null"}}`, `[1]`,
			[]string{"0 | .items.type | 1 is not of type 'null'"},
		},
		{
			"to a property", `{"properties": {"a": {"items": {"$ref": "#/properties/b"}}, "b": {"type": "null"}}}`, `{"a": [1], "b": 2}`,
			[]string{"a/0 | .properties.a.items.type | 1 is not of type 'null'", "b | .properties.b.type | 2 is not of type 'null'"},
		},
		{
			"chain", `{"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"not": {"$ref": "#/definitions/c"}}, "c": {}}}`, `1`,
			[]string{" | .not | 1 should not be valid under {'$ref': '#/definitions/c'}"},
		},
		{"hides its siblings", `{"properties": {"a": {"$ref": "#/definitions/p", "type": "string"}}, "definitions": {"p": {}}}`, `{"a": 1}`, nil},
		{"null is none", `{"$ref": null, "type": "string"}`, `1`, []string{" | .type | 1 is not of type 'string'"}},
		{"nowhere, not reached", `{"properties": {"a": {"$ref": "#/definitions/url"}}}`, `{"b": 1}`, nil},
		{
			"nowhere", `{"properties": {"a": {"$ref": "#/definitions/url"}, "b": {"type": "null"}}}`, `{"a": 1, "b": 2}`,
			[]string{"a | .properties.a.$ref | Unresolvable JSON pointer: 'definitions/url'", "b | .properties.b.type | 2 is not of type 'null'"},
		},
		{
			"nowhere below anyOf", `{"items": {"anyOf": [{"type": "null"}, {"$ref": "#/x%2"}]}}`, `[null, 1]`,
			[]string{"1 | .items.anyOf.1.$ref | Unresolvable JSON pointer: 'x%2'"},
		},
		{
			"nowhere below not", `{"not": {"$ref": "#/x"}, "oneOf": [{}, {"$ref": "#/x"}]}`, `1`,
			[]string{" | .not.$ref | Unresolvable JSON pointer: 'x'", " | .oneOf.1.$ref | Unresolvable JSON pointer: 'x'"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(check(t, mustCompile(t, tt.schema), []byte(tt.data)))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchema_Check_dialect(t *testing.T) {
	t.Parallel()
	const schema = `{
		"$schema": "http://json-schema.org/schema#", "$id": "http://elsewhere/", "id": "http://elsewhere/",
		"const": 1, "if": {}, "then": false, "contains": {"type": "null"}, "propertyNames": {"maxLength": 1}, "$defs": 5,
		"format": "ipv4",
		"properties": {
			"id": {"id": "#other", "type": "string", "format": "ipv4", "default": {"$ref": "http://elsewhere", "id": 5}},
			"definitions": {"enum": [{"id": 1, "$ref": "http://elsewhere", "pattern": "(?!"}]},
			"other": {"$ref": "#/definitions/a"}
		},
		"definitions": {"a": {"id": "http://third/", "type": "string"}}
	}`
	s := mustCompile(t, schema)
	got := lines(check(t, s, []byte(`{"id": "x", "definitions": {"id": 1, "$ref": "http://elsewhere", "pattern": "(?!"}, "other": "y"}`)))
	if diff := cmp.Diff([]string(nil), got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	want := []string{"id | .properties.id.type | 1 is not of type 'string'", "other | .properties.other.type | 2 is not of type 'string'"}
	if diff := cmp.Diff(want, lines(check(t, s, []byte(`{"id": 1, "other": 2}`)))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestSchema_Check_concurrent(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"items": {"oneOf": [{"type": "integer"}, {"$ref": "#/nowhere"}]}}`)
	want := check(t, s, []byte(`[1, "a"]`))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if diff := cmp.Diff(want, check(t, s, []byte(`[1, "a"]`))); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			}
		})
	}
	all.Wait()
}

func TestPattern_sameOnceTranslated(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"patternProperties":{"a$":{"type":"null"},"a(?:\\n?\\z)":{"type":"string"}},"additionalProperties":false}`)
	want := []string{
		"a | .patternProperties.a$.type | 1 is not of type 'null'",
		`a | .patternProperties.a(?:\n?\z).type | 1 is not of type 'string'`,
	}
	if diff := cmp.Diff(want, lines(check(t, s, []byte(`{"a":1}`)))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
