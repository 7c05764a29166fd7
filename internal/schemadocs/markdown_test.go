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
` + "| `rack` | integer | Required | at least 1 and less than 40; default `3` |  |" + `
` + "| `role` | string or integer or null | Optional | one of `control`, `\"on\"`, `7` or `null` |  |" + `
` + "| `kind` | string | Optional | only `one` |  |" + `
` + "| `tags` | array of string | Optional | at least 1 item; no item twice; each item: at most 63 characters | Each item: A label |" + `
` + "| `labels` | map of string | Optional | at least 2 properties; each value: matches `^.` |  |" + `
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
| Property | Type | Presence |
| --- | --- | --- |
` + "| [`ROLES`](#roles) | array of object | Optional |" + `
` + "| [`disks`](#disks) | map of object | Optional |" + `
` + "| names matching `^x-` | integer | Optional |" + `
| any other name | string | Optional |

` + "## `ROLES[]`" + `

Who may do what

| Property | Type | Presence |
| --- | --- | --- |
` + "| [`ROLE`](#rolesrole) | object | Optional |" + `

Other properties are allowed.

` + "## `ROLES[].ROLE`" + `

` + "In [`ROLES[]`](#roles)." + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `x` | any | Optional |" + `

No other properties.

` + "## `disks.*`" + `

Type: object; at least 1 property.

| Property | Type | Presence |
| --- | --- | --- |
` + "| `size` | not declared here | Required |" + `

Other properties are allowed.
`},
		"tuple": {`
type: array
items: [{type: string}, {type: integer}]
additionalItems: false`, `
Type: array.

| Property | Type |
| --- | --- |
` + "| `[0]` | string |" + `
` + "| `[1]` | integer |" + `

No further items.
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
` + "| `other` | [`#/properties/own`](#own) | Optional | Like own |" + `
` + "| [`own`](#own) | object | Optional |  |" + `
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

` + "The same as string ([`ip`](#ip))." + `

` + "### `#/elsewhere/0`" + `

Type: number.
`},
		"as a whole": {`{$ref: '#/definitions/a', type: object, definitions: {a: {$ref: '#/definitions/b'}, b: {$ref: '#/definitions/a'}}}`, `
` + "The same as [`a`](#a)." + `

## Definitions

` + "### `a`" + `

` + "The same as [`b`](#b)." + `

` + "### `b`" + `

` + "The same as [`a`](#a)." + `
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
Type: object.

Exactly one of these must hold:

` + "* `content` is required" + `
* object. Fetched
  * All of these must hold:
    ` + "* `url` and `path` are required" + `
` + "* object, see [`data (option 3)`](#data-option-3)" + `

This must not hold:

* all of: a, b.

At least one of these must hold:

* anything
* This must not hold:
  * string; at least 2 characters

` + "If `a` is given, `b` and `c` are required." + `

` + "If `d` is given, this must hold as well:" + `

` + "* `e` is required" + `

` + "## `data (option 3)`" + `

Type: object; other types pass unchecked.

| Property | Type | Presence |
| --- | --- | --- |
` + "| `x` | any | Optional |" + `

Other properties are allowed.
`},
		"in a property": {`
type: object
properties:
  port: {anyOf: [{type: integer}, {type: string}]}
  list: {type: array, items: {oneOf: [{type: string}, {type: 'null'}]}}
  host: {type: string, oneOf: [{pattern: '^a'}, {enum: [b]}]}
additionalProperties: false`, `
| Property | Type | Presence |
| --- | --- | --- |
` + "| `port` | integer or string | Optional |" + `
` + "| `list` | array of (string or null) | Optional |" + `
` + "| [`host`](#host) | string | Optional |" + `

No other properties.

` + "## `host`" + `

Type: string.

Exactly one of these must hold:

` + "* matches `^a`" + `
` + "* string; only `b`" + `
`},
	})
}
