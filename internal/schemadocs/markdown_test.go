package schemadocs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func golden(t *testing.T, cases map[string][2]string) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(strings.TrimPrefix(c[1], "\n"), body(t, c[0])); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			checkHTML(t, htmlOf(t, page(t, c[0])))
		})
	}
}

func TestMarkdown_head(t *testing.T) {
	t.Parallel()
	got := markdownOf(t, Page{
		Name: "acme/Widget/v1", Source: "registered by document a_b in bucket b, revision 3",
		Schema: document.Mapping{
			{Key: "title", Value: "A widget"},
			{Key: "description", Value: "What one\nsays of it:\n- this\n- that\n\n\n  # no heading\n===\n"},
			{Key: "type", Value: "string"},
		},
	})
	want := `# acme/Widget/v1

This schema is registered by document a_b in bucket b, revision 3.

**A widget**

What one
says of it:\
\- this\
\- that

\# no heading
\===

Type: string.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMarkdown_tables(t *testing.T) {
	t.Parallel()
	golden(t, map[string][2]string{
		"properties": {`
type: object
properties:
  name: {type: string, minLength: 1, maxLength: 10, pattern: '^(a|b)$', title: Name, description: What it is called}
  rack: {type: integer, minimum: 1, maximum: 40, exclusiveMaximum: true, default: 3}
  role: {enum: [control, 'on', 7, null]}
  kind: {enum: [one]}
  tags: {type: array, minItems: 1, uniqueItems: true, items: {type: string, maxLength: 63, description: A label}}
  labels: {type: object, minProperties: 2, additionalProperties: {type: string, pattern: '^.'}}
  none: {type: object, additionalProperties: false}
  when: {type: [string, 'null'], format: date}
  step: {multipleOf: 0.5}
  any: {}
required: [rack, name]
additionalProperties: false`, `
| Property | Type | Presence | Constraints | Description |
| --- | --- | --- | --- | --- |
` + "| `name` | string | Required | 1 to 10 characters; matches `^(a\\|b)$` | **Name.** What it is called |" + `
` + "| `rack` | integer | Required | at least 1; less than 40; default `3` |  |" + `
` + "| `role` | string or integer or null | Optional | one of `\"control\"`, `\"on\"`, `7` or `null` |  |" + `
` + "| `kind` | string | Optional | only `\"one\"` |  |" + `
` + "| `tags` | array | Optional | at least 1 item; no item twice |  |" + `
` + "| `tags`: each item | string |  | at most 63 characters | A label |" + `
` + "| `labels` | object | Optional | at least 2 properties |  |" + `
` + "| `labels`: each value | string |  | matches `^.` |  |" + `
` + "| `none` | object | Optional | no properties |  |" + `
` + "| `when` | string or null | Optional | format `date` (not checked) |  |" + `
` + "| `step` | number | Optional | a multiple of 0.5; other types pass unchecked |  |" + `
` + "| `any` | any | Optional |  |  |" + `

No other properties.
`},
		"sections": {`
type: object
properties:
  ROLES:
    type: array
    items:
      type: object
      description: Who may do what
      properties: {ROLE: {type: object, properties: {x: {}}, additionalProperties: false}}
  disks: {type: object, additionalProperties: {type: object, minProperties: 1, required: [size]}}
patternProperties:
  ^x-: {type: integer}
additionalProperties: {type: string}`, `
| Property | Type | Presence | Constraints |
| --- | --- | --- | --- |
` + "| `ROLES` | array of [object](#roles) | Optional |  |" + `
` + "| `disks` | object | Optional |  |" + `
` + "| `disks`: each value | object |  | at least 1 property; requires `size` |" + `
` + "| names matching `^x-` | integer |  |  |" + `
| any other name | string |  |  |

` + "## `ROLES[]`" + `

Who may do what

| Property | Type | Presence |
| --- | --- | --- |
` + "| `ROLE` | [object](#rolesrole) | Optional |" + `

Other properties are allowed.

` + "## `ROLES[].ROLE`" + `

` + "In [`ROLES[]`](#roles)." + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `x` | any | Optional |" + `

No other properties.
`},
		"tuple": {`
type: array
items: [{type: string}, {type: integer}]
additionalItems: false`, `
Type: array; no further items.

| Property | Type |
| --- | --- |
` + "| `[0]` | string |" + `
` + "| `[1]` | integer |" + `
`},
	})
}

func TestMarkdown_definitions(t *testing.T) {
	t.Parallel()
	golden(t, map[string][2]string{
		"references": {`
definitions:
  ip: {type: string, pattern: '^(\d+|x)$'}
  tree: {type: object, properties: {left: {$ref: '#/definitions/tree'}, data: {$ref: '#'}}, additionalProperties: false}
  unused: {type: boolean}
  empty: {}
  twice: {$ref: '#/definitions/ip'}
type: object
properties:
  ip: {$ref: '#/definitions/ip', description: hidden}
  trees: {type: array, items: {$ref: '#/definitions/tree'}}
  other: {allOf: [{$ref: '#/properties/own'}], description: Like own}
  own: {type: object, properties: {a: {}}, additionalProperties: false}
  lost: {$ref: '#/definitions/lost'}
  away: {$ref: 'http://example.org/x'}
  odd: {$ref: 3}
  empty: {$ref: '#/definitions/empty'}
  place: {$ref: '#/elsewhere/0'}
elsewhere: [{type: number}]
additionalProperties: false`, `
| Property | Type | Presence | Description |
| --- | --- | --- | --- |
` + "| `ip` | string ([`ip`](#ip)) | Optional |  |" + `
` + "| `trees` | array of [`tree`](#tree) | Optional |  |" + `
` + "| `other` | various | Optional | Like own |" + `
` + "| `other`: all of (1) | [`#/properties/own`](#own) |  |  |" + `
` + "| `own` | [object](#own) | Optional |  |" + `
` + "| `lost` | `#/definitions/lost` (which does not exist) | Optional |  |" + `
` + "| `away` | `http://example.org/x` (outside this schema: not allowed) | Optional |  |" + `
` + "| `odd` | `3` (outside this schema: not allowed) | Optional |  |" + `
` + "| `empty` | [`empty`](#empty) | Optional |  |" + `
` + "| `place` | number ([`#/elsewhere/0`](#elsewhere0)) | Optional |  |" + `

No other properties.

` + "## `own`" + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `a` | any | Optional |" + `

No other properties.

## Definitions

` + "### `ip`" + `

` + "Type: string; matches `^(\\d+|x)$`." + `

` + "### `tree`" + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `left` | [`tree`](#tree) | Optional |" + `
` + "| `data` | [this schema](#acmewidgetv1) | Optional |" + `

No other properties.

` + "### `unused`" + `

Type: boolean.

` + "### `empty`" + `

Type: any.

` + "### `twice`" + `

` + "Type: string ([`ip`](#ip))." + `

` + "### `#/elsewhere/0`" + `

Type: number.
`},
		"as a whole": {`{$ref: '#/definitions/a', type: object, definitions: {a: {$ref: '#/definitions/b'}, b: {$ref: '#/definitions/a'}}}`, `
` + "Type: [`a`](#a)." + `

## Definitions

` + "### `a`" + `

` + "Type: [`b`](#b)." + `

` + "### `b`" + `

` + "Type: [`a`](#a)." + `
`},
	})
}

func TestMarkdown_conditions(t *testing.T) {
	t.Parallel()
	golden(t, map[string][2]string{
		"alternatives": {`
type: object
oneOf:
- {required: [content]}
- {type: object, description: Fetched, allOf: [{required: [url, path]}]}
- properties: {x: {}}
not: {properties_groups_schema: [{AND: [[a], [b]]}]}
anyOf: [{}, {not: {type: string, minLength: 2}}]
dependencies: {a: [b, c], d: {required: [e]}}`, `
| Property | Type | Constraints | Description |
| --- | --- | --- | --- |
| at least one of (1) | any |  |  |
| at least one of (2) | any |  |  |
| at least one of (2): not | string | at least 2 characters |  |
` + "| exactly one of (1) |  | requires `content` |  |" + `
| exactly one of (2) | object |  | Fetched |
` + "| exactly one of (2): all of (1) |  | requires `url` and `path` |  |" + `
` + "| exactly one of (3) | [object](#data-oneof-3) |  |  |" + `
` + "| not | [`data (not)`](#data-not) |  |  |" + `
` + "| if `a` is given |  | requires `b` and `c` |  |" + `
` + "| if `d` is given |  | requires `e` |  |" + `

` + "## `data (oneOf 3)`" + `

Type: object; other types pass unchecked.

| Property | Type | Presence |
| --- | --- | --- |
` + "| `x` | any | Optional |" + `

Other properties are allowed.

` + "## `data (not)`" + `

| Property | Type | Presence | Description |
| --- | --- | --- | --- |
` + "| `a` | not declared here | Optional | Required together with: b. |" + `
` + "| `b` | not declared here | Optional | Required together with: a. |" + `

### Property groups

* all of: a, b.
`},
		"in a property": {`
type: object
properties:
  port: {anyOf: [{type: integer}, {type: string}]}
  list: {type: array, items: {oneOf: [{type: string}, {type: 'null'}]}}
  host: {type: string, oneOf: [{pattern: '^a'}, {enum: [b]}]}
additionalProperties: false`, `
| Property | Type | Presence | Constraints |
| --- | --- | --- | --- |
` + "| `port` | various | Optional |  |" + `
` + "| `port`: at least one of (1) | integer |  |  |" + `
` + "| `port`: at least one of (2) | string |  |  |" + `
` + "| `list` | array | Optional |  |" + `
` + "| `list`: each item | various |  |  |" + `
` + "| `list`: each item: exactly one of (1) | string |  |  |" + `
` + "| `list`: each item: exactly one of (2) | null |  |  |" + `
` + "| `host` | string | Optional |  |" + `
` + "| `host`: exactly one of (1) |  |  | matches `^a` |" + `
` + "| `host`: exactly one of (2) | string |  | only `\"b\"` |" + `

No other properties.
`},
	})
}
