package jsonschema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A finding of anyOf or oneOf explains the branch that was meant.
func TestSchema_Check_causes(t *testing.T) {
	t.Parallel()
	const kinds = `{"oneOf": [
		{"properties": {"kind": {"enum": ["disk"]}, "size": {"type": "integer"}}, "required": ["kind", "size"]},
		{"properties": {"kind": {"enum": ["nic"]}, "mac": {"type": "string"}}, "required": ["kind", "mac"]}
	]}`
	tests := []struct {
		name, schema, data string
		want               []string
	}{
		{"by enum", kinds, `{"kind": "nic", "size": 1}`, []string{" | .oneOf.1.required | 'mac' is a required property"}},
		{"by another enum", kinds, `{"kind": "disk", "size": "x"}`, []string{"size | .oneOf.0.properties.size.type | 'x' is not of type 'integer'"}},
		{"by type", `{"anyOf": [{"type": "string", "minLength": 3}, {"type": "array"}]}`, `"a"`, []string{" | .anyOf.0.minLength | 'a' is too short"}},
		{"of no type", `{"anyOf": [{"type": "string"}, {"type": "array"}]}`, `1`, nil},
		{
			"by reference", `{"anyOf": [{"$ref": "#/definitions/a"}, {"type": "null"}], "definitions": {"a": {"type": "object", "required": ["x"]}}}`,
			`{}`,
			[]string{" | .anyOf.0.required | 'x' is a required property"},
		},
		{
			"the furthest", `{"anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}}]}`, `{"b": 1}`,
			[]string{"b | .anyOf.1.properties.b.type | 1 is not of type 'string'"},
		},
		{
			"by const", `{"$schema": "http://json-schema.org/draft-07/schema#", "anyOf": [
				{"properties": {"k": {"const": 1}, "v": {"type": "string"}}}, {"properties": {"k": {"const": 2}, "v": {"type": "null"}}}]}`,
			`{"k": 2, "v": 3}`,
			[]string{"v | .anyOf.1.properties.v.type | 3 is not of type 'null'"},
		},
		{
			"dynamic", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "http://x/outer", "$ref": "inner",
				"$defs": {"a": {"$dynamicAnchor": "n", "type": "string", "minLength": 2},
				"inner": {"$id": "inner", "anyOf": [{"$dynamicRef": "#n"}, {"type": "null"}], "$defs": {"a": {"$dynamicAnchor": "n"}}}}}`,
			`"x"`,
			[]string{" | .anyOf.0.minLength | 'x' is too short"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := check(t, mustCompile(t, tt.schema), []byte(tt.data))
			if len(found) != 1 {
				t.Fatalf("%d findings: %v", len(found), lines(found))
			}
			if diff := cmp.Diff(tt.want, lines(found[0].Causes)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchema_Check_hints(t *testing.T) {
	t.Parallel()
	const closed = `{"properties": {"name": {}, "rack": {}, "role": {}}, "additionalProperties": false}`
	for _, tt := range []struct{ name, schema, data, want string }{
		{"misspelt", closed, `{"naem": 1, "rack": 1, "rolle": 2}`, `did you mean "name" for "naem", "role" for "rolle"?`},
		{
			"unevaluated", `{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"gateway": {}}, "unevaluatedProperties": false}`,
			`{"gatway": 1}`, `did you mean "gateway" for "gatway"?`,
		},
		{"not one that is there", closed, `{"racks": 1, "rack": 1}`, ""},
		{"nothing like it", closed, `{"other": 1}`, ""},
		{"valid twice", `{"oneOf": [{}, {"type": "null"}, {"minimum": 0}]}`, `1`, "it is valid under oneOf.0 and oneOf.2, and must be under one alone"},
		{"examples", `{"pattern": "^P", "examples": ["P1D", 3, "P2W"]}`, `"1"`, "write, for example, P1D, P2W"},
		{"no examples", `{"pattern": "^P"}`, `"1"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := check(t, mustCompile(t, tt.schema), []byte(tt.data))
			if len(found) != 1 || found[0].Hint != tt.want {
				t.Errorf("findings: %+v, want the hint %q", found, tt.want)
			}
		})
	}
}
