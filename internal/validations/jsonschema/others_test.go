package jsonschema

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A schema may refer to others by name, in any draft.
func TestCompile_others(t *testing.T) {
	t.Parallel()
	others := map[string][]byte{
		"acme/Address/v1": []byte(`{"definitions":{"street":{"type":"string"}},"properties":{"street":{"$ref":"#/definitions/street"},
			"of":{"$ref":"acme/Person/v1"}},"required":["street"]}`),
		"acme/Person/v1": []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://acme/person",
			"properties":{"home":{"$ref":"acme/Address/v1"},"age":{"const":1}},"required":[]}`),
		"acme/Broken/v1": []byte(`{"type":5}`),
		"acme/Odd/v1":    []byte(`{"pattern":"(?=x)","$ref":"#/definitions/a","definitions":{"a":{"type":"null"}}}`),
		"acme/Loop/v1":   []byte(`{"$ref":"acme/Pool/v1"}`),
		"acme/Pool/v1":   []byte(`{"$ref":"acme/Loop/v1"}`),
	}
	for _, tt := range []struct {
		name, schema, data string
		want               []string
	}{
		{"whole", `{"properties":{"at":{"$ref":"acme/Address/v1"}}}`, `{"at":{"street":1}}`, []string{"at/street | .properties.at.properties.street.type | 1 is not of type 'string'"}},
		{"a part", `{"items":{"$ref":"acme/Address/v1#/definitions/street"}}`, `[1]`, []string{"0 | .items.type | 1 is not of type 'string'"}},
		{"in a circle", `{"$ref":"acme/Person/v1"}`, `{"home":{"street":"x","of":{"home":{},"age":2}}}`, []string{
			"home/of/age | .properties.home.properties.of.properties.age.const | 1 was expected",
			"home/of/home | .properties.home.properties.of.properties.home.required | 'street' is a required property",
		}},
		{"missing", `{"items":{"$ref":"acme/None/v1"}}`, `[1]`, []string{"0 | .items.$ref | the DataSchema acme/None/v1 is not registered, or cannot be used"}},
		{"missing, not come to", `{"items":{"$ref":"acme/None/v1"}}`, `[]`, nil},
		{"missing part", `{"items":{"$ref":"acme/Address/v1#/definitions/x"}}`, `[1]`, []string{"0 | .items.$ref | Unresolvable JSON pointer: 'definitions/x'"}},
		{"unusable", `{"items":{"$ref":"acme/Broken/v1"}}`, `[1]`, []string{"0 | .items.$ref | the DataSchema acme/Broken/v1 is not registered, or cannot be used"}},
		{"with something that is not supported", `{"items":{"$ref":"acme/Odd/v1"}}`, `[1]`, []string{"0 | .items.type | 1 is not of type 'null'"}},
		{"a loop of others", `{"items":{"$ref":"acme/Loop/v1"}}`, `[1]`, []string{"0 | .items.$ref | the schema is a loop: it leads back to itself at the same place of the data"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Compile(unmetered(), []byte(tt.schema), Options{Others: others})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(check(t, s, []byte(tt.data)))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	got := References([]byte(`{"$ref":"#/a","x":{"$ref":"acme/B/v1"},"y":{"$ref":"acme/A/v2#/d"},"z":[{"$ref":"acme/B/v1#"},{"$ref":"http://x/y/v1"},{"$dynamicRef":"acme/C/v1#x"}]}`))
	if want := []string{"acme/A/v2", "acme/B/v1", "acme/C/v1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
