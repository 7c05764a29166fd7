package propertygroups

import (
	"testing"

	"purser/internal/document"
)

// FuzzParse searches for inputs that cause a panic, or different results when repeated.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{properties_groups_schema: [{AND: [[a], {XOR: [[l, b], [l, c]]}]}, {API_VERSIONS: {CLIENT_PLUGIN: k, VERSIONS: [1, v2], PROPERTIES: [[a]]}}]}`,
		`{property_groups: [{g: {properties: [a.b, property_groups.h], operator: depends_on}}, {h: {properties: [a.c], operator: or}}]}`,
		`{property_groups: {g: {properties: [h, l.x], client_plugin: k, client_plugin_supported: ['1.2']}, h: {properties: [g], operator: xor}}}`,
		`{properties: {a: {type: array, items: {additionalProperties: false}}}, property_groups: {g: {properties: [a.b], operator: and}}}`,
		`{definitions: {x: {property_groups: [{}]}}, properties_groups_schema: [[]]}`,
	} {
		f.Add(seed, `{a: {b: [1, null]}, l: [{b: 1}, [], 2], k: null}`, "1.2")
	}
	limits := document.Limits{Body: 1 << 16, Documents: 10, Size: 1 << 16, Depth: 50, Values: 1_000}
	f.Fuzz(func(t *testing.T, schema, object, version string) {
		parsed, err := document.ParseOne(t.Context(), []byte(schema), document.YAML, limits)
		if err != nil {
			t.Skip()
		}
		(Extension{}).Examine(parsed)
		m, ok := parsed.(document.Mapping)
		data, err := document.ParseOne(t.Context(), []byte(object), document.YAML, limits)
		if o, isObject := data.(document.Mapping); ok && err == nil && isObject {
			again(t, m, decoded(t, document.AppendJSON(nil, o)), Versions{"k": version})
		}
	})
}

func again(t *testing.T, schema document.Mapping, object map[string]any, versions Versions) {
	t.Helper()
	g, err := Parse(schema)
	if err != nil || g == nil {
		return
	}
	first := judge(t, g, object, versions)
	short(t, first, g.Describe())
	if sketch(judge(t, g, object, versions)) != sketch(first) {
		t.Error("another check finds something else")
	}
	if !g.NamesVersions() && sketch(judge(t, g, object, nil)) != sketch(first) {
		t.Error("versions matter where none are named")
	}
}
