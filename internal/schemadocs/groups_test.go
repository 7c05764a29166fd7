package schemadocs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const widget = `
type: object
properties:
  ROLES:
    type: array
    items:
      type: object
      properties: {ROLE: {type: string, description: The role}, PROJECT: {type: string}, DOMAIN: {type: string}}
      required: [ROLE]
      additionalProperties: false
  prop1: {type: object, properties: {subprop1: {type: integer}}, additionalProperties: false}
  prop2: {type: string, description: Another way to say it}
  PropertyA: {type: string}
required: [PropertyA]
additionalProperties: true
property_groups:
  - role-project: {properties: [ROLES.ROLE, ROLES.PROJECT], operator: AND}
  - role-domain: {properties: [ROLES.ROLE, ROLES.DOMAIN], operator: AND}
  - either: {properties: [property_groups.role-project, property_groups.role-domain], operator: OR}
  - dep: {properties: [a, b, c], operator: depends_on}
  - group1: {properties: [PropertyA], client_plugin: docker, client_plugin_supported: '1.2'}
properties_groups_schema:
  - XOR: [[prop1, subprop1], [prop2], {AND: [[prop3], [prop4]]}]
  - AND: [[a], [b]]
  - API_VERSIONS: {CLIENT_PLUGIN: keystone, VERSIONS: ['1.2', '2.0'], PROPERTIES: [[PropertyA], [PropertyB]]}
`

// The exact output.
func TestMarkdown_groups(t *testing.T) {
	t.Parallel()
	want := "" +
		"| Property | Type | Presence | Description |\n" +
		"| --- | --- | --- | --- |\n" +
		"| `ROLES` | array of [object](#roles) | Optional |  |\n" +
		"| `prop1` | [object](#prop1) | Optional |  |\n" +
		"| `prop2` | string | Optional | Another way to say it. Exclusive with: prop1.subprop1, (prop3 and prop4). |\n" +
		"| `PropertyA` | string | Required | Only with client plugin docker 1.2 or newer. Only with client plugin keystone 1.2 or 2.0. |\n" +
		"| `a` | not declared here | Optional | Needs: b, c. Required together with: b. |\n" +
		"| `b` | not declared here | Optional | Needed by: a. Required together with: a. |\n" +
		"| `c` | not declared here | Optional | Needed by: a. |\n" +
		"| `prop3` | not declared here | Optional | In (prop3 and prop4), exclusive with: prop1.subprop1, prop2. |\n" +
		"| `prop4` | not declared here | Optional | In (prop3 and prop4), exclusive with: prop1.subprop1, prop2. |\n" +
		"| `PropertyB` | not declared here | Optional | Only with client plugin keystone 1.2 or 2.0. |\n" + `
Other properties are allowed.

## Property groups

* **either** - at least one of: (ROLES.ROLE and ROLES.PROJECT), (ROLES.ROLE and ROLES.DOMAIN). Judged for each item of ROLES.
* **dep** - a needs b and c.
* **group1** - PropertyA: client plugin docker 1.2 or newer.
* exactly one of: prop1.subprop1, prop2, (prop3 and prop4).
* all of: a, b.
* PropertyA, PropertyB: only with client plugin keystone 1.2 or 2.0.

Terms used above: **role-project** = ROLES.ROLE and ROLES.PROJECT; **role-domain** = ROLES.ROLE and ROLES.DOMAIN.

` +
		"## `ROLES[]`\n\n" +
		"| Property | Type | Presence | Description |\n" +
		"| --- | --- | --- | --- |\n" +
		"| `ROLE` | string | Required | The role. At least one of: (ROLES.ROLE and ROLES.PROJECT), (ROLES.ROLE and ROLES.DOMAIN). |\n" +
		"| `PROJECT` | string | Optional | At least one of: (ROLES.ROLE and ROLES.PROJECT), (ROLES.ROLE and ROLES.DOMAIN). |\n" +
		"| `DOMAIN` | string | Optional | At least one of: (ROLES.ROLE and ROLES.PROJECT), (ROLES.ROLE and ROLES.DOMAIN). |\n\n" +
		"No other properties.\n\n" +
		"## `prop1`\n\n" +
		"| Property | Type | Presence | Description |\n" +
		"| --- | --- | --- | --- |\n" +
		"| `subprop1` | integer | Optional | Exclusive with: prop2, (prop3 and prop4). |\n\n" +
		"No other properties.\n"
	if diff := cmp.Diff(want, body(t, widget)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	checkHTML(t, htmlOf(t, page(t, widget)))
}

// Groups within a property's schema have a section there, one level below its heading.
func TestMarkdown_groupsBelow(t *testing.T) {
	t.Parallel()
	got := body(t, `
properties:
  l: {type: array, items: {$ref: '#/definitions/x'}}
  m: {type: object, properties_groups_schema: [{OR: [[a, b], [c]]}]}
definitions: {x: {property_groups: {g: {properties: [y.z], operator: and}}, properties: {y: {$ref: '#'}}}}
property_groups: {h: {properties: [l.y.z, m.n], operator: or}}`)
	for _, want := range []string{
		"## Property groups\n\n* **h** - at least one of: l.y.z, m.n.",
		"\n### Property groups\n\n* at least one of: a.b, c.\n",
		"\n#### Property groups\n\n* **g** - all of: y.z.\n",
		"| `a` | not declared here | Optional | b: At least one of: a.b, c. |",
		"| `l` | array of [`x`](#x) | Optional | y.z: At least one of: l.y.z, m.n. |",
		"| `m` | [object](#m) | Optional |  |",
		"| `n` | not declared here | Optional | At least one of: l.y.z, m.n. |",
		"| `y` | [this schema](#acmewidgetv1) | Optional | z: Required. |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

func TestMarkdown_malformedGroups(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{properties: {a: {}}, property_groups: [{g: {properties: [a], operator: nand}}]}`: "## Property groups\n\n" +
			"These groups are malformed, and no document can be judged by them. At `property_groups/0/g`: " +
			"Properties group schema incorrectly specified. Operator of group 'g' should be one of: AND, OR, XOR, DEPENDS_ON.\n",
		`{properties_groups_schema: 3}`: "At `properties_groups_schema`: Properties group schema incorrectly specified. " +
			"properties_groups_schema should be a list of groups, found &lt;class 'int'&gt; instead.\n",
		`{property_groups: []}`: "## Property groups\n\nNone.\n",
		`{not: {property_groups: {g: 1}}}`: "## `data (not)`\n\nType: any.\n\n### Property groups\n\nThese groups are malformed, and no document can be judged by them. " +
			"At `property_groups/g`: Properties group schema incorrectly specified. Group 'g' should be a mapping, found ",
	} {
		if got := body(t, schema); !strings.Contains(got, want) {
			t.Errorf("%s: %s is missing in\n%s", schema, want, got)
		}
	}
}
