package schemadocs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

var drafts = map[string]string{ // by the folder or the file of the metaschemas
	"draft4":  "http://json-schema.org/draft-04/schema#",
	"draft6":  "http://json-schema.org/draft-06/schema#",
	"draft7":  "http://json-schema.org/draft-07/schema#",
	"2019-09": "https://json-schema.org/draft/2019-09/schema",
	"2020-12": "https://json-schema.org/draft/2020-12/schema",
}

// examples has for each keyword: other keywords that it needs, the keyword, data that it refuses in the drafts that
// have it, and the text of the page about it.
var examples = map[string][][4]string{
	"$ref": {
		{`$defs: {a: {type: "null"}}, definitions: {a: {type: "null"}}, properties: {p: {%}}`, `$ref: "#/definitions/a"`, `{"p": 1}`, "[`a`](#a)"},
	},
	"$dynamicRef": {
		{`$defs: {a: {$dynamicAnchor: n, type: "null"}}, properties: {p: {%}}`, `$dynamicRef: "#n"`, `{"p": 1}`, "[`a`](#a)"},
	},
	"$recursiveRef": {
		{`type: object, properties: {p: {%}}`, `$recursiveRef: "#"`, `{"p": 1}`, "[this schema](#acmewidgetv1)"},
	},
	"type": {
		{`%`, `type: string`, `1`, "Type: string"},
	},
	"enum": {
		{`%`, `enum: [1, "2"]`, `3`, "one of `1` or `\"2\"`"},
	},
	"const": {
		{`%`, `const: 2`, `3`, "only `2`"},
		{`%`, `const: null`, `3`, "only `null`"},
		{`properties: {a: {%}}`, `const: {a: b}`, `{"a": 1}`, "only `{\"a\":\"b\"}`"},
	},
	"allOf": {
		{`%`, `allOf: [{minimum: 5}]`, `3`, "| all of (1) | number | at least 5; other types pass unchecked |"},
	},
	"anyOf": {
		{`%`, `anyOf: [{minimum: 5}, {type: string}]`, `3`, "| at least one of (1) | number | at least 5; other types pass unchecked |\n| at least one of (2) | string |"},
	},
	"oneOf": {
		{`%`, `oneOf: [{minimum: 5}, {type: string}]`, `3`, "| exactly one of (1) | number | at least 5; other types pass unchecked |\n| exactly one of (2) | string |"},
	},
	"not": {
		{`%`, `not: {type: integer}`, `3`, "| not | integer |"},
		{`%`, `not: true`, `3`, "| not | any |"},
		{`properties: {p: {%}}`, `not: {}`, `{"p": 1}`, "| `p`: not | any |"},
	},
	"if": {
		{`then: {minimum: 5}, %`, `if: {type: integer}`, `3`, "| if | integer |"},
		{`else: {minLength: 3}, %`, `if: {type: integer}`, `"x"`, "| if | integer |"},
	},
	"then": {
		{`if: {type: integer}, %`, `then: {minimum: 5}`, `3`, "| then | number | at least 5; other types pass unchecked |"},
		{`if: {type: integer}, %`, `then: false`, `3`, "| then | no value |"},
	},
	"else": {
		{`properties: {p: {if: {type: integer}, %}}`, `else: {minLength: 3}`, `{"p": "x"}`, "| `p`: otherwise | string |  | at least 3 characters; other types pass unchecked |"},
	},
	"dependencies": {
		{`%`, `dependencies: {a: [b]}`, `{"a": 1}`, "| if `a` is given |  | requires `b` |"},
		{`%`, `dependencies: {a: {required: [b]}}`, `{"a": 1}`, "| if `a` is given | object | requires `b`; other types pass unchecked |"},
	},
	"dependentRequired": {
		{`%`, `dependentRequired: {a: [b]}`, `{"a": 1}`, "| if `a` is given |  | requires `b` |"},
	},
	"dependentSchemas": {
		{`%`, `dependentSchemas: {a: {required: [b]}}`, `{"a": 1}`, "| if `a` is given | object | requires `b`; other types pass unchecked |"},
		{`%`, `dependentSchemas: {a: false}`, `{"a": 1}`, "| if `a` is given | no value |"},
	},
	"properties": {
		{`%`, `properties: {a: {type: string}}`, `{"a": 1}`, "| `a` | string | Optional |"},
		{`%`, `properties: {a: false}`, `{"a": 1}`, "| `a` | no value | Not allowed |"},
	},
	"patternProperties": {
		{`%`, `patternProperties: {a: {type: string}}`, `{"a": 1}`, "| names matching `a` | string |"},
		{`%`, `patternProperties: {a: false}`, `{"a": 1}`, "| names matching `a` | no value |"},
	},
	"additionalProperties": {
		{`%`, `additionalProperties: {type: string}`, `{"a": 1}`, "| each value | string |"},
		{`properties: {p: {%}}`, `additionalProperties: false`, `{"p": {"a": 1}}`, "| `p` | object | Optional | no properties; other types pass unchecked |"},
	},
	"unevaluatedProperties": {
		{`%`, `unevaluatedProperties: false`, `{"a": 1}`, "no properties but those described"},
		{`properties: {b: {}}, %`, `unevaluatedProperties: {type: string}`, `{"a": 1}`, "| each other property | string |"},
		{`%`, `unevaluatedProperties: {required: [b]}`, `{"a": {}}`, "| each other property | object | requires `b`; other types pass unchecked |"},
	},
	"propertyNames": {
		{`%`, `propertyNames: {maxLength: 1}`, `{"ab": 1}`, "| each name |  | at most 1 character |"},
		{`%`, `propertyNames: false`, `{"ab": 1}`, "no properties"},
		{`%`, `propertyNames: {not: {const: ab}}`, `{"ab": 1}`, "| each name: not | string | only `\"ab\"` |"},
	},
	"required": {
		{`%`, `required: [a]`, `{}`, "requires `a`"},
	},
	"minProperties": {
		{`%`, `minProperties: 1`, `{}`, "at least 1 property"},
	},
	"maxProperties": {
		{`%`, `maxProperties: 0`, `{"a": 1}`, "at most 0 properties"},
	},
	"items": {
		{`%`, `items: {type: string}`, `[1]`, "| each item | string |"},
		{`%`, `items: [{type: string}]`, `[1]`, "| `[0]` | string |"},
		{`%`, `items: false`, `[1]`, "no items"},
	},
	"prefixItems": {
		{`%`, `prefixItems: [{type: string}]`, `[1]`, "| `[0]` | string |"},
		{`%`, `prefixItems: [false]`, `[1]`, "| `[0]` | no value |"},
	},
	"additionalItems": {
		{`items: [{}], %`, `additionalItems: {type: string}`, `[1, 1]`, "| each further item | string |"},
		{`items: [{}], %`, `additionalItems: false`, `[1, 1]`, "no further items"},
	},
	"unevaluatedItems": {
		{`%`, `unevaluatedItems: false`, `[1]`, "no items but those described"},
		{`%`, `unevaluatedItems: {type: string}`, `[1]`, "| each other item | string |"},
		{`%`, `unevaluatedItems: {items: {not: {}}}`, `[[1]]`, "| each other item: each item: not | any |"},
	},
	"minItems": {
		{`%`, `minItems: 1`, `[]`, "at least 1 item"},
	},
	"maxItems": {
		{`%`, `maxItems: 0`, `[1]`, "at most 0 items"},
	},
	"uniqueItems": {
		{`%`, `uniqueItems: true`, `[1, 1]`, "no item twice"},
	},
	"contains": {
		{`%`, `contains: {type: string}`, `[1]`, "| at least 1 item | string |"},
		{`%`, `contains: {properties: {a: {type: string}}}`, `[{"a": 1}]`, "| at least 1 item | [object](#data-contains) |"},
		{`%`, `contains: true`, `[]`, "| at least 1 item | any |"},
	},
	"minContains": {
		{`contains: {type: string}, %`, `minContains: 2`, `["a"]`, "| at least 2 items | string |"},
		{`contains: {properties: {a: {}}}, %`, `minContains: 2`, `[{}]`, "| at least 2 items | [object](#data-contains) |"},
	},
	"maxContains": {
		{`contains: {type: string}, %`, `maxContains: 1`, `["a", "b"]`, "| exactly 1 item | string |"},
	},
	"pattern": {
		{`%`, `pattern: a`, `"b"`, "matches `a`"},
	},
	"minLength": {
		{`%`, `minLength: 3`, `"b"`, "at least 3 characters"},
	},
	"maxLength": {
		{`%`, `maxLength: 0`, `"b"`, "at most 0 characters"},
	},
	"minimum": {
		{`%`, `minimum: 5`, `3`, "at least 5"},
	},
	"maximum": {
		{`%`, `maximum: 1`, `3`, "at most 1"},
	},
	"exclusiveMinimum": {
		{`%`, `exclusiveMinimum: 3`, `3`, "more than 3"},
		{`minimum: 3, %`, `exclusiveMinimum: true`, `3`, "more than 3"},
	},
	"exclusiveMaximum": {
		{`%`, `exclusiveMaximum: 3`, `3`, "less than 3"},
		{`maximum: 3, %`, `exclusiveMaximum: true`, `3`, "less than 3"},
	},
	"multipleOf": {
		{`%`, `multipleOf: 2`, `3`, "a multiple of 2"},
	},
	"format": {
		{`$vocabulary: {"https://json-schema.org/draft/2020-12/vocab/format-assertion": true}, %`, `format: ipv4`, `"b"`, "format `ipv4`."},
	},
}

// silent are the keywords that refuse no data on their own. Those that name schemas are tested with references.
var silent = strings.Fields(`$schema $id id $anchor $recursiveAnchor $dynamicAnchor $vocabulary $comment $defs definitions title
	description default examples readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema`)

// Each keyword that checks of a draft read is on the page of a schema that has it, and those of other drafts are not.
func TestMarkdown_keywords(t *testing.T) {
	t.Parallel()
	for keyword, cases := range examples {
		wasRead := false
		for _, c := range cases {
			for draft, uri := range drafts {
				p := page(t, `{$schema: "`+uri+`", `+strings.Replace(c[0], "%", c[1], 1)+`}`)
				md := markdownOf(t, p)
				isRead, isValid := refuses(t, p, c[2])
				if shows := strings.Contains(md, c[3]); isValid && shows != isRead {
					t.Errorf("%s: %s in %s: the page says %q: %v\n%s", draft, c[1], c[0], c[3], shows, md)
				}
				wasRead = wasRead || isRead
				checkHTML(t, htmlOf(t, p))
			}
		}
		if !wasRead {
			t.Errorf("no draft reads %s", keyword)
		}
	}
}

// refuses reports whether data breaks the schema of a page, and whether that is a schema that can be used.
func refuses(t *testing.T, p Page, data string) (ok, isValid bool) {
	t.Helper()
	meter := budget.NewMeter(t.Context())
	s, err := jsonschema.Compile(meter, document.AppendJSON(nil, p.Schema), jsonschema.Options{})
	if err != nil {
		return false, false
	}
	found, err := s.Check(meter, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return found != nil, true
}

// The list of examples has all keywords of the metaschemas.
func TestMarkdown_allKeywords(t *testing.T) {
	t.Parallel()
	known := silent
	for keyword := range examples {
		known = append(known, keyword)
	}
	files, err := filepath.Glob("../validations/jsonschema/metaschemas/*.json")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../validations/jsonschema/metaschemas/*/*.json")
	if err != nil || len(files) < 3 || len(more) < 10 {
		t.Fatalf("%v, %v (%v)", files, more, err)
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var metaschema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(text, &metaschema); err != nil {
			t.Fatal(err)
		}
		for keyword := range metaschema.Properties {
			if !slices.Contains(known, keyword) {
				t.Errorf("there is no example of %s of %s", keyword, file)
			}
		}
	}
}

// The pages of schemas of later drafts.
func TestMarkdown_drafts(t *testing.T) {
	t.Parallel()
	golden(t, map[string][2]string{
		"keywords of 2020-12": {`
$schema: https://json-schema.org/draft/2020-12/schema
type: object
properties:
  kind: {const: widget}
  never: false
  always: true
  num: {type: number, exclusiveMinimum: 1, exclusiveMaximum: 5, maximum: 7}
  flags: {type: array, contains: {const: x}, minContains: 2, maxContains: 3}
  pair: {type: array, prefixItems: [{type: string}, {type: integer}], items: false}
  more: {type: array, prefixItems: [{type: string}], items: {type: boolean}, description: More}
  older: {dependencies: {a: [b]}, additionalItems: false, definitions: {}}
  ext: {$ref: '#/$defs/base', properties: {x: {type: string}}, unevaluatedProperties: false}
if: {properties: {kind: {const: a}}, required: [kind]}
then: {required: [b]}
else: false
$defs:
  base: {type: object, properties: {id: {type: string}}, required: [id]}
  none: false`, `
| Property | Type | Presence | Constraints | Description |
| --- | --- | --- | --- | --- |
` + "| `kind` | string | Optional | only `\"widget\"` |  |" + `
` + "| `never` | no value | Not allowed |  |  |" + `
` + "| `always` | any | Optional |  |  |" + `
` + "| `num` | number | Optional | more than 1; less than 5; at most 7 |  |" + `
` + "| `flags` | array | Optional |  |  |" + `
` + "| `flags`: 2 to 3 items | string |  | only `\"x\"` |  |" + `
` + "| `pair` | [array](#pair) | Optional | no further items |  |" + `
` + "| `more` | [array](#more) | Optional |  | More |" + `
` + "| `older` | any | Optional |  |  |" + `
` + "| `ext` | [`base`](#base) and [`ext`](#ext) | Optional | no properties but those described |  |" + `
` + "| if | [object](#data-if) |  |  |  |" + `
` + "| then |  |  | requires `b` |  |" + `
| otherwise | no value |  |  |  |

Other properties are allowed.

` + "## `pair`" + `

Type: array; no further items.

| Property | Type |
| --- | --- |
` + "| `[0]` | string |" + `
` + "| `[1]` | integer |" + `

` + "## `more`" + `

More

Type: array.

| Property | Type |
| --- | --- |
` + "| `[0]` | string |" + `
| each further item | boolean |

` + "## `ext`" + `

` + "Type: [`base`](#base); no properties but those described." + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `x` | string | Optional |" + `

` + "## `data (if)`" + `

Type: object; other types pass unchecked.

| Property | Type | Presence | Constraints |
| --- | --- | --- | --- |
` + "| `kind` | string | Required | only `\"a\"` |" + `

Other properties are allowed.

## Definitions

` + "### `base`" + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `id` | string | Required |" + `

Other properties are allowed.

` + "### `none`" + `

Type: no value.
`},
		"references in 2020-12": {`
$schema: https://json-schema.org/draft/2020-12/schema
$dynamicAnchor: node
type: object
properties:
  ip: {$ref: '#/$defs/ip', description: The address, maxLength: 20}
  street: {$ref: '#street'}
  both: {anyOf: [{$ref: '#/$defs/ip'}, {type: 'null'}]}
  named: {$ref: 'acme/Address/v1#/definitions/street'}
  rules: {$ref: 'https://json-schema.org/draft/2020-12/schema'}
  lost: {$ref: '#lost'}
  away: {$ref: 'http://example.org/x'}
  kids: {type: array, items: {$dynamicRef: '#node'}}
  part: {$ref: 'http://x/part'}
$defs:
  ip: {type: string, format: ipv4}
  s: {$anchor: street, type: string}
  part:
    $id: http://x/part
    $schema: http://json-schema.org/draft-07/schema#
    const: 3
    prefixItems: [1]
    definitions: {ip: {type: integer}}
    properties: {ip: {$ref: '#/definitions/ip', minLength: 3}}`, `
| Property | Type | Presence | Constraints | Description |
| --- | --- | --- | --- | --- |
` + "| `ip` | string ([`ip`](#ip)) | Optional | at most 20 characters | The address |" + `
` + "| `street` | string ([`s`](#s)) | Optional |  |  |" + `
` + "| `both` | various | Optional |  |  |" + `
` + "| `both`: at least one of (1) | string ([`ip`](#ip)) |  |  |  |" + `
` + "| `both`: at least one of (2) | null |  |  |  |" + `
` + "| `named` | `acme/Address/v1#/definitions/street` | Optional |  |  |" + `
` + "| `rules` | `https://json-schema.org/draft/2020-12/schema` | Optional |  |  |" + `
` + "| `lost` | `#lost` (which does not exist) | Optional |  |  |" + `
` + "| `away` | `http://example.org/x` (outside this schema: not allowed) | Optional |  |  |" + `
` + "| `kids` | array of [this schema](#acmewidgetv1) | Optional |  |  |" + `
` + "| `part` | [`part`](#part) | Optional |  |  |" + `

Other properties are allowed.

## Definitions

` + "### `ip`" + `

` + "Type: string; format `ipv4` (not checked)." + `

` + "### `s`" + `

Type: string.

` + "### `part`" + `

` + "Type: integer; only `3`." + `

| Property | Type | Presence |
| --- | --- | --- |
` + "| `ip` | integer ([`#/$defs/part/definitions/ip`](#defspartdefinitionsip)) | Optional |" + `

Other properties are allowed.

` + "### `#/$defs/part/definitions/ip`" + `

Type: integer.
`},
		"references in Draft 7": {`
$schema: http://json-schema.org/draft-07/schema#
definitions: {a: {$id: '#an', type: string}, b: {$id: 'http://x/b', type: integer}}
properties:
  a: {$ref: '#an', minLength: 3}
  b: {$ref: 'http://x/b'}
  c: {$ref: '#/$defs/c', unevaluatedProperties: false}
$defs: {c: {type: string}}`, `
Type: object; other types pass unchecked.

| Property | Type | Presence |
| --- | --- | --- |
` + "| `a` | string ([`a`](#a)) | Optional |" + `
` + "| `b` | integer ([`b`](#b)) | Optional |" + `
` + "| `c` | string ([`c`](#c)) | Optional |" + `

Other properties are allowed.

## Definitions

` + "### `a`" + `

Type: string.

` + "### `b`" + `

Type: integer.

` + "### `c`" + `

Type: string.
`},
	})
}

func TestMarkdown_formats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema   string
		asserted bool
		want     string
	}{
		{`{format: ipv4}`, true, "format `ipv4` (not checked)."},
		{`{$schema: "http://json-schema.org/draft-06/schema", format: ipv4}`, true, "format `ipv4`."},
		{`{$schema: "http://json-schema.org/draft-06/schema", format: ipv4}`, false, "format `ipv4` (not checked)."},
		{`{$schema: "http://json-schema.org/draft-06/schema", format: other}`, true, "format `other` (not checked)."},
		{`{$schema: "https://json-schema.org/draft/2020-12/schema", format: ipv4}`, true, "format `ipv4`."},
	} {
		p := page(t, c.schema)
		p.AssertFormats = c.asserted
		if got := markdownOf(t, p); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s is missing in\n%s", c.schema, c.want, got)
		}
	}
}

func TestMarkdown_unknownDraft(t *testing.T) {
	t.Parallel()
	got := body(t, `{$schema: 'http://example.org/s', const: 1, type: string}`)
	want := "No document can be checked by it: its `$schema` names no known version of JSON Schema, `http://example.org/s`.\n\nType: string.\n"
	if got != want {
		t.Errorf("%s", got)
	}
}

// Malformed keywords of later drafts are reported in their place, too.
func TestMarkdown_malformedLater(t *testing.T) {
	t.Parallel()
	got := body(t, `{$schema: 'https://json-schema.org/draft/2020-12/schema', properties: {a: 5, b: {if: 3, then: {}}, c: {contains: [x]}},
		exclusiveMinimum: true, $defs: 3, minContains: x, dependentRequired: 1, unevaluatedItems: text, $ref: 3}`)
	for _, want := range []string{
		"| `a` | malformed (not a schema) |", "malformed: `if` should be a schema", "malformed: `contains` should be a schema",
		"malformed: `exclusiveMinimum` should be a number", "malformed: `$defs` should be a mapping",
		"malformed: `minContains` should be a number", "malformed: `dependentRequired` should be a mapping",
		"malformed: `unevaluatedItems` should be a schema", "`3` (outside this schema: not allowed)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}
