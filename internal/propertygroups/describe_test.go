package propertygroups

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups_Describe(t *testing.T) {
	t.Parallel()
	const schema = `
properties:
  l: {type: array, items: {type: object, properties: {m: {type: object, properties: {x: {}, y: {}}}}}}
properties_groups_schema:
  - AND: [[a], [b]]
  - XOR: [[a], [c, d], {AND: [[e], [f]]}]
  - API_VERSIONS: {CLIENT_PLUGIN: keystone, VERSIONS: ['1.2', '2.0'], PROPERTIES: [[a], [b]]}
property_groups:
  - either: {properties: [term, l.m.y], operator: or, client_plugin: nova, client_plugin_supported: '2'}
  - term: {properties: [l.m.x, l.m.y], operator: and, client_plugin: nova, client_plugin_supported: ['3']}
  - dep: {properties: [g, h, i], operator: depends_on}
  - since: {properties: [g], client_plugin: docker, client_plugin_supported: '1.2'}
  - alone: {properties: [o], operator: or}`
	want := Description{
		Rules: []Sentence{
			{"", "all of: a, b."},
			{"", "exactly one of: a, c.d, (e and f)."},
			{"", "a, b: only with client plugin keystone 1.2 or 2.0."},
			{"either", "at least one of: (l.m.x and l.m.y), l.m.y. Judged for each item of l. Only with client plugin nova 2 or newer."},
			{"dep", "g needs h and i."},
			{"since", "g: client plugin docker 1.2 or newer."},
			{"alone", "at least one of: o."},
		},
		Referenced: []Sentence{{"term", "l.m.x and l.m.y (client plugin nova 3 or newer)"}},
		Properties: []CrossLines{
			{[]string{"a"}, []string{"Required together with: b.", "Exclusive with: c.d, (e and f).", "Only with client plugin keystone 1.2 or 2.0."}},
			{[]string{"b"}, []string{"Required together with: a.", "Only with client plugin keystone 1.2 or 2.0."}},
			{[]string{"c", "d"}, []string{"Exclusive with: a, (e and f)."}},
			{[]string{"e"}, []string{"In (e and f), exclusive with: a, c.d."}},
			{[]string{"f"}, []string{"In (e and f), exclusive with: a, c.d."}},
			{[]string{"l", "m", "x"}, []string{"At least one of: (l.m.x and l.m.y), l.m.y.", "Only with client plugin nova 2 or newer.", "Only with client plugin nova 3 or newer."}},
			{[]string{"l", "m", "y"}, []string{"At least one of: (l.m.x and l.m.y), l.m.y.", "Only with client plugin nova 2 or newer.", "Only with client plugin nova 3 or newer."}},
			{[]string{"g"}, []string{"Needs: h, i.", "Only with client plugin docker 1.2 or newer."}},
			{[]string{"h"}, []string{"Needed by: g."}},
			{[]string{"i"}, []string{"Needed by: g."}},
			{[]string{"o"}, []string{"Required."}},
		},
	}
	if diff := cmp.Diff(want, groupsOf(t, schema).Describe()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestGroups_Describe_lists(t *testing.T) {
	t.Parallel()
	const rule = `properties_groups_schema: [{OR: [[l, m, n, x], [l, m, n, y]]}]`
	for properties, want := range map[string]string{
		`{}`:                 "",
		`{l: {type: array}}`: "l",
		`{l: {type: array, items: {$ref: '#/definitions/m'}}}`:                                       "l",
		`{l: {type: object, properties: {m: {items: {type: object}}}}}`:                              "l.m",
		`{l: {properties: {m: {items: {items: {properties: {n: {type: array, items: {}}}}}}}}}`:      "l.m.n",
		`{l: {type: array, items: {properties: {m: {properties: {n: {type: object}}}}}}}`:            "l",
		`{l: {anyOf: [{type: array}], type: array, items: {properties: {m: {type: array}}}}}`:        "",
		`{l: {type: [object, array], properties: {m: {type: array}}}}`:                               "",
		`{l: {type: object, additionalProperties: {type: array, items: {properties: {n: {}}}}}}`:     "l.m",
		`{l: {type: object, patternProperties: {m: {}}, properties: {m: {type: array, items: {}}}}}`: "",
	} {
		_, got, _ := strings.Cut(groupsOf(t, `{`+rule+`, properties: `+properties+`}`).Describe().Rules[0].Text, " Judged for each item of ")
		if diff := cmp.Diff(want, strings.TrimSuffix(got, ".")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", properties, diff)
		}
	}
}
