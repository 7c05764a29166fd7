package jsonschema

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyJSON draws a JSON value.
func anyJSON() *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.IntRange(-3, 3).AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(),
		rapid.String().AsAny(),
	)
	below := rapid.OneOf(scalar, rapid.SliceOfN(scalar, 0, 3).AsAny(), rapid.MapOfN(rapid.String(), scalar, 0, 3).AsAny())
	return rapid.OneOf(below, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), below, 0, 4).AsAny())
}

func marshal(t *rapid.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type members = map[string]any

// A violation is reported at its place, whatever the keys on the way are.
func TestProperty_places(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "keys")
		schema, data, path := members{"type": "null"}, any(1), ""
		for _, key := range slices.Backward(keys) {
			schema, data = members{"properties": members{key: schema}}, members{key: data}
			path = ".properties." + key + path
		}
		s, err := Compile(unmetered(), marshal(t, schema), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []Finding{{Message: "1 is not of type 'null'", Instance: keys, SchemaPath: path + ".type"}}
		if diff := cmp.Diff(want, check(t, s, marshal(t, data))); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})
}

// A value equals itself, in enum and in uniqueItems.
func TestProperty_equality(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyJSON().Draw(t, "value")
		data := marshal(t, v)
		is := func(schema members, data []byte) bool {
			s, err := Compile(unmetered(), marshal(t, schema), Options{})
			if err != nil {
				t.Fatal(err)
			}
			return check(t, s, data) == nil
		}
		enum := members{"enum": []any{v}}
		if !is(enum, data) || is(members{"not": enum}, data) {
			t.Errorf("%s does not equal itself", data)
		}
		if is(members{"uniqueItems": true}, marshal(t, []any{v, v})) || !is(members{"uniqueItems": true}, marshal(t, []any{v})) {
			t.Errorf("%s is not itself", data)
		}
	})
}

// Wrapping a schema in a reference or in an allOf of one changes neither messages nor places.
func TestProperty_wrapping(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SampledFrom([]string{
			`{"type":"string"}`, `{"items":{"type":"integer"}}`, `{"required":["a"],"additionalProperties":false}`,
			`{"not":{"type":["array","null"]}}`, `{"additionalProperties":{"anyOf":[{"type":"string"},{"minimum":0}]}}`,
		}).Draw(t, "schema")
		data := marshal(t, anyJSON().Draw(t, "data"))
		check := func(schema string) []Finding {
			s, err := Compile(unmetered(), []byte(schema), Options{})
			if err != nil {
				t.Fatal(err)
			}
			return check(t, s, data)
		}
		want := check(inner)
		if diff := cmp.Diff(want, check(`{"$ref":"#/definitions/a","definitions":{"a":`+inner+`}}`)); diff != "" {
			t.Errorf("by reference (-plain +wrapped):\n%s", diff)
		}
		got := check(`{"allOf":[` + inner + `]}`)
		for i := range got {
			got[i].SchemaPath = got[i].SchemaPath[len(".allOf.0"):]
			for j := range got[i].Causes {
				got[i].Causes[j].SchemaPath = got[i].Causes[j].SchemaPath[len(".allOf.0"):]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in allOf (-plain +wrapped):\n%s", diff)
		}
	})
}
