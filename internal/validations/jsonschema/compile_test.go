package jsonschema

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusal compiles an unusable schema and returns its findings.
func refusal(t *testing.T, schema string) []Finding {
	t.Helper()
	_, err := Compile(unmetered(), []byte(schema), Options{})
	var unusable *Unusable
	if !errors.As(err, &unusable) {
		t.Fatalf("compile gives %v, want an *Unusable", err)
	}
	return unusable.Findings
}

func TestCompile_metaschema(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		want         []string
	}{
		{"no schema", `5`, []string{" | .type | 5 is not of type 'object'"}},
		{"unknown type", `{"properties": {"a": {"type": "int"}}}`, []string{
			"properties/a/type | .properties.properties.additionalProperties.properties.type.anyOf | 'int' is not valid under any of the given schemas",
		}},
		{"required of draft 3", `{"required": true}`, []string{"required | .properties.required.type | True is not of type 'array'"}},
		{"empty required", `{"required": []}`, []string{"required | .properties.required.minItems | [] is too short"}},
		{"exclusiveMinimum of draft 6", `{"exclusiveMinimum": 5}`, []string{
			" | .dependencies | 'minimum' is a dependency of 'exclusiveMinimum'",
			"exclusiveMinimum | .properties.exclusiveMinimum.type | 5 is not of type 'boolean'",
		}},
		{"boolean schema", `{"items": [true]}`, []string{"items | .properties.items.anyOf | [True] is not valid under any of the given schemas"}},
		{"boolean schemas", `{"properties": {"a": true, "b": false}}`, []string{
			"properties/a | .properties.properties.additionalProperties.type | True is not of type 'object'",
			"properties/b | .properties.properties.additionalProperties.type | False is not of type 'object'",
		}},
		{"length", `{"minLength": 1.0, "maxLength": -1}`, []string{
			"maxLength | .properties.maxLength.minimum | -1 is less than the minimum of 0",
			"minLength | .properties.minLength.allOf.0.type | 1.0 is not of type 'integer'",
		}},
		{"target of a reference", `{"$ref": "#/x/y", "x": {"y": {"type": 5}}}`, []string{
			"x/y/type | .properties.type.anyOf | 5 is not valid under any of the given schemas",
		}},
		{"target is no schema", `{"$ref": "#/x/0", "x": [5]}`, []string{"x/0 | .type | 5 is not of type 'object'"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(refusal(t, tt.schema))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompile_refuses(t *testing.T) {
	t.Parallel()
	const pattern = " cannot be used as a pattern: patterns need RE2 syntax, which has no lookarounds and no back-references"
	const loop = " is a loop: it leads back to itself at the same place of the data"
	tests := []struct {
		name, schema string
		want         []string
	}{
		{"not JSON", `{`, []string{" | . | the schema cannot be read: it is not JSON: unexpected EOF"}},
		{"more after the end", `{} {}`, []string{" | . | the schema cannot be read: there is more after its end"}},
		{
			"too deep", strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200),
			[]string{" | . | the schema cannot be read: it is nested deeper than 100 levels"},
		},
		{
			"too many values", `{"enum": [` + repeat("1", 50_000) + `]}`,
			[]string{" | . | the schema cannot be read: it has more than 50000 values"},
		},
		{"reference is no text", `{"$ref": 5}`, []string{"$ref | .$ref | 5 is not of type 'string'"}},
		{"lookahead", `{"properties": {"a": {"pattern": "(?!b)"}}}`, []string{"properties/a/pattern | .pattern | '(?!b)'" + pattern + " (here: the negative look-ahead (?! at character 1)"}},
		{
			"back-reference in patternProperties", `{"patternProperties": {"(a)\\1": {}}}`,
			[]string{`patternProperties/(a)\1 | .patternProperties | '(a)\\1'` + pattern + ` (here: the back-reference \1 at character 4)`},
		},
		{"loop", `{"$ref": "#"}`, []string{"$ref | .$ref | $ref '#'" + loop}},
		{"loop through combinators", `{"allOf": [{"not": {"$ref": "#"}}]}`, []string{"allOf/0/not/$ref | .$ref | $ref '#'" + loop}},
		{
			"loop of two", `{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"anyOf": [{"$ref": "#/definitions/a"}]}}}`,
			[]string{"definitions/b/anyOf/0/$ref | .$ref | $ref '#/definitions/a'" + loop},
		},
		{"long chain", chain(100), []string{" | . | its combinators and references lead through 101 schemas at one place of the data," +
			" and 64 is the most: simplify them"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(refusal(t, tt.schema))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A reference without a target does not keep the rest of a schema from being used. It is known beforehand, and a finding
// of checks that reach it.
func TestSchema_Unresolved(t *testing.T) {
	t.Parallel()
	const outside = " points outside the schema: a DataSchema may only refer to itself, with a $ref that starts with #, or to" +
		" another one by its name, as in acme/Address/v1#/definitions/street"
	tests := []struct {
		name, schema, data string
		want, reached      []string
	}{
		{
			"file", `{"$ref": "file:///etc/passwd"}`, `1`,
			[]string{"$ref | .$ref | 'file:///etc/passwd'" + outside},
			[]string{" | .$ref | 'file:///etc/passwd'" + outside},
		},
		{
			"http, not reached", `{"properties": {"a": {"$ref": "http://x/y#/z"}, "b": {"type": "null"}}}`, `{"b": 1}`,
			[]string{"properties/a/$ref | .$ref | 'http://x/y#/z'" + outside},
			[]string{"b | .properties.b.type | 1 is not of type 'null'"},
		},
		{
			"several, relative and in definitions", `{"definitions": {"a": {"$ref": "other.json"}}, "properties": {"b": {"$ref": "#/none"}, "c": {"$ref": "acme/None/v1"}}}`, `{}`,
			[]string{
				"definitions/a/$ref | .$ref | 'other.json'" + outside, "properties/b/$ref | .$ref | Unresolvable JSON pointer: 'none'",
				"properties/c/$ref | .$ref | the DataSchema acme/None/v1 is not registered, or cannot be used",
			},
			nil,
		},
		{
			"dynamic", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"$dynamicRef": "https://x/y"}}}`, `{"a": 1}`,
			[]string{"properties/a/$dynamicRef | .$dynamicRef | 'https://x/y'" + strings.Replace(outside, "$ref", "$dynamicRef", 1)},
			[]string{"a | .properties.a.$dynamicRef | 'https://x/y'" + strings.Replace(outside, "$ref", "$dynamicRef", 1)},
		},
		{"none", `{"properties": {"a": {"$ref": "#"}}}`, `{"a": {}}`, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			schema := mustCompile(t, tt.schema)
			if diff := cmp.Diff(tt.want, lines(schema.Unresolved())); diff != "" {
				t.Errorf("known beforehand (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.reached, lines(check(t, schema, []byte(tt.data)))); diff != "" {
				t.Errorf("reached (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnusable_Error(t *testing.T) {
	t.Parallel()
	tests := map[string]*Unusable{
		"the schema cannot be used":                 {},
		"the schema cannot be used: a":              {Findings: []Finding{{Message: "a"}}},
		"the schema cannot be used: a (and 2 more)": {Findings: []Finding{{Message: "a"}, {}, {}}},
	}
	for want, u := range tests {
		if got := u.Error(); got != want {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}
