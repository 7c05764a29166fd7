package propertygroups

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

const (
	saysOperators = "Properties group schema key should be one of the operators: AND, OR, XOR."
	saysValues    = "Schemas' values should be lists of properties names or nested schemas."
	saysItems     = `List items should be properties list-type names with format "[prop, prop_child, prop_sub_child, ...]" ` +
		"or nested properties group schemas."
	saysNames  = "Properties of group 'g' should be a list of properties names or groups."
	saysSince  = "client_plugin_supported should be a list of versions."
	saysList   = "VERSIONS should be a list of versions."
	saysPlugin = "CLIENT_PLUGIN should be a client plugin name."
	saysWhole  = "API_VERSIONS requires CLIENT_PLUGIN, VERSIONS and PROPERTIES."
	saysNeeds  = "Group 'g' needs client_plugin."
	saysWords  = "Operator of group 'g' should be one of: AND, OR, XOR, DEPENDS_ON."
)

func TestParse_noKeyword(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{}`, `{type: object, properties: {property_groups: {type: string}}}`} {
		if g, err := Parse(schemaOf(t, schema)); g != nil || err != nil {
			t.Errorf("%s: %v, %v", schema, g, err)
		}
	}
}

func TestParse_expressions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{`[]`, ""},
		{`[{and: [[p, q]]}, {Or: [[p], {xOR: [[q]]}]}]`, ""},
		{`{OR: [[p]]}`, ": properties_groups_schema should be a list of groups, found <class 'dict'> instead."},
		{`null`, ": properties_groups_schema should be a list of groups, found <class 'NoneType'> instead."},
		{`[[[p]]]`, "/0: Schema should be a mapping, found <class 'list'> instead."},
		{`[p]`, "/0: Schema should be a mapping, found <class 'str'> instead."},
		{`[1.5]`, "/0: Schema should be a mapping, found <class 'float'> instead."},
		{`[1]`, "/0: Schema should be a mapping, found <class 'int'> instead."},
		{`[{OR: [[p]]}, true]`, "/1: Schema should be a mapping, found <class 'bool'> instead."},
		{`[{}]`, "/0: Schema should be one-key dict."},
		{`[{OR: [[p]], AND: [[q]]}]`, "/0: Schema should be one-key dict."},
		{`[{NOR: [[p]]}]`, "/0: " + saysOperators},
		{`[{depends_on: [[p], [q]]}]`, "/0: " + saysOperators},
		{`[{OR: [{API_VERSIONS: {}}]}]`, "/0: " + saysOperators},
		{`[{OR: {p: q}}]`, "/0: " + saysValues},
		{`[{OR: []}]`, "/0: " + saysValues},
		{`[{OR: [[p], {AND: null}]}]`, "/0: " + saysValues},
		{`[{OR: [p]}]`, "/0: " + saysItems},
		{`[{OR: [[]]}]`, "/0: " + saysItems},
		{`[{OR: [[p, ""]]}]`, "/0: " + saysItems},
		{`[{OR: [[p, 1]]}]`, "/0: " + saysItems},
		{`[{OR: [[{AND: [[p]]}]]}]`, "/0: " + saysItems},
		{`[{OR: [{AND: [p]}, {NOR: 1}]}]`, "/0: " + saysItems},
		{`[{OR: [{NOR: [p]}, [q, 1]]}]`, "/0: " + saysOperators},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			checkFault(t, "properties_groups_schema", c.value, c.want)
		})
	}
}

func checkFault(t *testing.T, keyword, value, want string) {
	t.Helper()
	if want != "" {
		want = keyword + want
	}
	if diff := cmp.Diff(want, fault(t, document.Mapping{{Key: keyword, Value: yamlValue(t, value)}})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParse_apiVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{`{CLIENT_PLUGIN: k, VERSIONS: [1, 2.0, v3, liberty], PROPERTIES: [[p, q]]}`, ""},
		{`{client_plugin: k, Versions: ['1'], properties: [[p]]}`, ""},
		{`[]`, "API_VERSIONS should be a mapping, found <class 'list'> instead."},
		{`{}`, saysWhole},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1']}`, saysWhole},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: [[p]], more: 1, "it's": 2}`, `Unknown key(s) ['more', "it's"]`},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: [[p]], versions: ['2']}`, `Unknown key(s) ['versions']`},
		{`{CLIENT_PLUGIN: '', VERSIONS: ['1'], PROPERTIES: [[p]]}`, saysPlugin},
		{`{CLIENT_PLUGIN: {}, VERSIONS: ['1'], PROPERTIES: [[p]]}`, saysPlugin},
		{`{CLIENT_PLUGIN: k, VERSIONS: '1', PROPERTIES: [[p]]}`, saysList},
		{`{CLIENT_PLUGIN: k, VERSIONS: [], PROPERTIES: [[p]]}`, saysList},
		{`{CLIENT_PLUGIN: k, VERSIONS: [true], PROPERTIES: [[p]]}`, saysList},
		{`{CLIENT_PLUGIN: k, VERSIONS: [''], PROPERTIES: [[p]]}`, saysList},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: p}`, saysItems},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: []}`, saysItems},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: [p]}`, saysItems},
		{`{CLIENT_PLUGIN: k, VERSIONS: ['1'], PROPERTIES: [{OR: [[p]]}]}`, saysItems},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want != "" {
				want = "/1: " + want
			}
			checkFault(t, "properties_groups_schema", `[{OR: [[p]]}, {API_VERSIONS: `+c.value+`}]`, want)
		})
	}
}

func TestParse_named(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{`[]`, ""},
		{`{}`, ""},
		{`{g: {properties: [p.q, property_groups], operator: Depends_On}}`, ""},
		{`[{g: {properties: [p, h, property_groups.i]   , operator: or}}, {h: {properties: [q, i], operator: or}}, {i: {properties: [r], operator: or}}]`, ""},
		{`3`, ": property_groups should be a list of named groups, found <class 'int'> instead."},
		{`[g]`, "/0: Schema should be a mapping, found <class 'str'> instead."},
		{`[{}]`, "/0: Schema should be one-key dict."},
		{`[{g: {properties: [p], operator: or}, h: {}}]`, "/0: Schema should be one-key dict."},
		{`{g: [p]}`, "/g: Group 'g' should be a mapping, found <class 'list'> instead."},
		{`[{g: null}]`, "/0/g: Group 'g' should be a mapping, found <class 'NoneType'> instead."},
		{`[{g: {properties: [p], operator: or}}, {g: {properties: [p], operator: or}}]`, "/1/g: Group 'g' is declared twice."},
		{`{g: {properties: [p], operator: or, Operator: or}}`, "/g: Unknown key(s) ['Operator']"},
		{`{g: {properties: [p]}}`, "/g: " + saysWords},
		{`{g: {properties: [p], client_plugin: c}}`, "/g: " + saysWords},
		{`{g: {properties: [p], operator: null}}`, "/g: " + saysWords},
		{`{g: {properties: [p], operator: not}}`, "/g: " + saysWords},
		{`{g: {operator: or}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: p}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: []}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: [1]}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: ['']}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: [p.]}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: [.p]}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: [p..q]}}`, "/g: " + saysNames},
		{`{g: {operator: or, properties: [[p]]}}`, "/g: " + saysNames},
		{`{g: {operator: depends_on, properties: [p]}}`, "/g: Group 'g' with depends_on needs at least two entries."},
		{`{g: {operator: or, properties: [property_groups.h]}}`, "/g: Group 'g' refers to unknown group 'h'."},
		{`{g: {operator: or, properties: [property_groups.]}}`, "/g: Group 'g' refers to unknown group ''."},
		{`{g: {operator: or, properties: [g]}}`, "/g: Group 'g' refers to itself: g -> g."},
		{`{f: {operator: or, properties: [h]}, g: {operator: or, properties: [h]}, h: {operator: and, properties: [p, i]}, i: {operator: or, properties: [q, h]}}`, "/h: Group 'h' refers to itself: h -> i -> h."},
		{`{f: {operator: or, properties: [g]}, g: {properties: [p], client_plugin: c, client_plugin_supported: 1}}`, "/g: " + saysWords},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			checkFault(t, "property_groups", c.value, c.want)
		})
	}
}

func TestParse_since(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ keys, want string }{
		{`client_plugin: c, client_plugin_supported: ['1.2', 2, v3.0]`, ""},
		{`client_plugin: c, client_plugin_supported_since: 1.2`, ""},
		{`client_plugin: c, client_plugin_supported: '1', client_plugin_supported_since: ['2']`, ""},
		{`client_plugin_supported: '1'`, saysNeeds},
		{`client_plugin: '', client_plugin_supported: '1'`, saysNeeds},
		{`client_plugin: [c], client_plugin_supported: '1'`, saysNeeds},
		{`operator: or, client_plugin: c`, saysSince},
		{`client_plugin: c, client_plugin_supported: []`, saysSince},
		{`client_plugin: c, client_plugin_supported: null`, saysSince},
		{`client_plugin: c, client_plugin_supported_since: ['1', '1.x']`, saysSince},
		{`client_plugin: c, client_plugin_supported: -1`, saysSince},
		{`client_plugin: c, client_plugin_supported: v`, saysSince},
	} {
		t.Run(c.keys, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want != "" {
				want = "/g: " + want
			}
			checkFault(t, "property_groups", `{g: {properties: [p], `+c.keys+`}}`, want)
		})
	}
}

// The first fault in the order of the keywords and groups is reported.
func TestParse_order(t *testing.T) {
	t.Parallel()
	const named, expressions = `property_groups: [{f: {properties: [h], operator: or}}, {g: 1}, {h: 2}]`, `properties_groups_schema: [1]`
	for schema, want := range map[string]string{
		`{` + named + `, ` + expressions + `}`: "property_groups/1/g: Group 'g' should be a mapping, found <class 'int'> instead.",
		`{` + expressions + `, ` + named + `}`: "properties_groups_schema/0: Schema should be a mapping, found <class 'int'> instead.",
	} {
		if diff := cmp.Diff(want, fault(t, schemaOf(t, schema))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", schema, diff)
		}
	}
}
