package schemadocs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

const hostile = "a|b `c` <script>alert(1)</script> \n\n# [x](javascript:alert(1)) ![y](http://z) **b** _i_ &lt; \\| ~~s~~ " +
	"</td> \u202egnp \x00 --- \xff"

// Everything in a schema is written as text.
func TestHTML_escapes(t *testing.T) {
	t.Parallel()
	leaf := document.Mapping{
		{Key: "title", Value: hostile},
		{Key: "description", Value: hostile},
		{Key: "type", Value: hostile},
		{Key: "pattern", Value: hostile},
		{Key: "format", Value: hostile},
		{Key: "default", Value: hostile},
		{Key: "enum", Value: []any{hostile, []any{hostile}, document.Mapping{{Key: hostile, Value: hostile}}}},
	}
	made := htmlOf(t, Page{Name: hostile, Source: hostile, Schema: document.Mapping{
		{Key: "title", Value: hostile},
		{Key: "description", Value: hostile},
		{Key: "properties", Value: document.Mapping{
			{Key: hostile, Value: leaf},
			{Key: "ref", Value: document.Mapping{{Key: "$ref", Value: "#/definitions/" + hostile}}},
			{Key: "deep", Value: document.Mapping{{Key: "properties", Value: document.Mapping{{Key: hostile, Value: document.Mapping{
				{Key: "properties", Value: document.Mapping{{Key: "x", Value: leaf}}},
			}}}}}},
		}},
		{Key: "patternProperties", Value: document.Mapping{{Key: hostile, Value: leaf}}},
		{Key: "definitions", Value: document.Mapping{{Key: hostile, Value: leaf}}},
		{Key: "required", Value: []any{hostile, hostile + "2"}},
		{Key: "anyOf", Value: []any{leaf, document.Mapping{{Key: "not", Value: leaf}}}},
		{Key: "dependencies", Value: document.Mapping{{Key: hostile, Value: []any{hostile}}, {Key: "z", Value: leaf}}},
		{Key: "property_groups", Value: document.Mapping{{Key: hostile, Value: document.Mapping{
			{Key: "properties", Value: []any{hostile}}, {Key: "operator", Value: "and"},
		}}}},
	}})
	checkHTML(t, made)
	if want := "&lt;script&gt;alert(1)&lt;/script&gt; # [x](javascript:alert(1)) ![y](http://z) **b** _i_ &amp;lt; \\| ~~s~~ "; !strings.Contains(made, want) {
		t.Errorf("%s is missing in\n%s", want, made)
	}
}

func TestMarkdown_escapes(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		hostile:        "a&#124;b \\`c\\` &lt;script&gt;alert(1)&lt;/script&gt; # \\[x\\](javascript:alert(1)) !\\[y\\](http://z) \\*\\*b\\*\\* \\_i\\_ &amp;lt; \\\\&#124; \\~\\~s\\~\\~ &lt;/td&gt; ⟨U+202E⟩gnp ⟨U+0000⟩ --- \uFFFD",
		"snake_case_":  `snake_case\_`,
		"1. x":         `1\. x`,
		"+ x":          `\+ x`,
		"=":            `\=`,
		"\n \t":        "",
		"ein Schlüßel": "ein Schlüßel",
	} {
		if diff := cmp.Diff(want, prose(said)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", said, diff)
		}
	}
	for said, want := range map[string]string{
		"":           "`\"\"`",
		"a`b":        "``a`b``",
		"`":          "`` ` ``",
		" x":         "`\" x\"`",
		"a\nb":       "`\"a\\nb\"`",
		"\u202egnp":  "`\"\\u202egnp\"`",
		"<script>":   "`<script>`",
		"[a](b) _c_": "`[a](b) _c_`",
	} {
		if diff := cmp.Diff(want, code(said)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", said, diff)
		}
	}
}

// A pipe in a table is escaped, and elsewhere is not.
func TestMarkdown_pipes(t *testing.T) {
	t.Parallel()
	schema := `{type: string, pattern: 'a|b', definitions: {x: {properties: {y: {type: string, pattern: 'a|b'}, z: {type: string, pattern: 'a\|b'}}}}}`
	got := body(t, schema)
	for _, want := range []string{"matches `a|b`.", "matches `a\\|b` |", `matches a\\&#124;b |`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	made := htmlOf(t, page(t, schema))
	if n := strings.Count(made, "<code>a|b</code>"); n != 2 || !strings.Contains(made, `matches a\|b</td>`) {
		t.Errorf("%d patterns in\n%s", n, made)
	}
}

// Invalid schemas are reported in their place.
func TestMarkdown_malformed(t *testing.T) {
	t.Parallel()
	got := body(t, `
properties: {a: 5, b: {properties: [x]}, c: {type: {}}, d: {type: thing}, e: {items: text}, f: {enum: 3, minimum: x, pattern: 4}}
definitions: {g: [], h: {required: true, allOf: {}}}
required: {x: y}
additionalProperties: nonsense`)
	for _, want := range []string{
		"| `a` | malformed (not a schema) |",
		"| `b` | any | Optional | malformed: `properties` should be a mapping |",
		"malformed: `type` should be a name or a list of names",
		"| `e` | any | Optional | malformed: `items` should be a schema |",
		"| `d` | `thing` (not a type) |",
		"malformed: `enum` should be a list; malformed: `minimum` should be a number; malformed: `pattern` should be a string",
		"malformed: `required` should be a list of names",
		"| any other name | malformed (not a schema) |",
		"### `g`\n\nType: malformed (not a schema).",
		"malformed: `allOf` should be a list",
		"Type: object; malformed: `required` should be a list of names; other types pass unchecked.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}

// bounded makes both pages, within a bound for their length.
func bounded(t *testing.T, schema document.Mapping, limit int) (md string) {
	t.Helper()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	p := Page{Name: "acme/Widget/v1", Source: "built in", Schema: schema}
	text, err := write(ctx, p, limit, (*table).markdown)
	if err != nil {
		t.Fatal(err)
	}
	if md = string(text); len(md) > limit*5/4 {
		t.Errorf("%d bytes of Markdown", len(md))
	}
	made, err := write(ctx, p, limit, (*table).html)
	if err != nil || len(made) > limit*5/4 {
		t.Errorf("%d bytes of HTML (%v)", len(made), err)
	}
	steps, bytes := budget.From(ctx).Spent()
	t.Logf("%d bytes of Markdown, %d of HTML, %d ms", len(md), len(made), steps/1e6)
	if bytes != 0 {
		t.Errorf("%d bytes are not released", bytes)
	}
	short, err := write(t.Context(), p, maxPage>>6, (*table).html) // as much is left out, and looking at it takes no seconds
	if err != nil {
		t.Fatal(err)
	}
	checkHTML(t, string(short))
	return md
}

func many(n int, key string, value func(i int) any) document.Mapping {
	m := make(document.Mapping, n)
	for i := range m {
		m[i] = document.Member{Key: fmt.Sprintf(key, i), Value: value(i)}
	}
	return m
}

func schemaWith(keyword string, value any) document.Mapping {
	return document.Mapping{{Key: keyword, Value: value}}
}

// The bounds are those of a page a quarter as long, except for one page that has the whole length.
func TestHTML_bounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("<&\"", 1<<20/3)
	refs := func(i int) any { return schemaWith("$ref", fmt.Sprintf("#/definitions/d%d", i)) }
	wide := func(leaf document.Mapping) func(int) any { // 8^4 leaves
		for range 4 {
			leaf = schemaWith("anyOf", slice(8, leaf))
		}
		return func(int) any { return leaf }
	}
	for name, schema := range map[string]document.Mapping{
		"combinations": schemaWith("properties", many(5, "p%d", wide(schemaWith("type", "string")))),
		"wide":         schemaWith("properties", many(5, "p%d", wide(schemaWith("minLength", document.Number("3"))))),
		"properties":   schemaWith("properties", many(70_000, "p%d", func(int) any { return schemaWith("pattern", "a|b") })),
		"sections":     schemaWith("properties", many(25_000, "p%d", func(int) any { return schemaWith("properties", schemaWith("a", document.Mapping{})) })),
		"references":   {{Key: "properties", Value: many(8_000, "p%d", refs)}, {Key: "definitions", Value: many(8_000, "d%d", refs)}},
		"huge texts":   schemaWith("properties", many(1000, "p%d", func(int) any { return schemaWith("description", huge) })),
		"huge names":   schemaWith("properties", many(10, huge+"%d", func(int) any { return schemaWith("properties", schemaWith("a", document.Mapping{})) })),
		"conditions":   schemaWith("anyOf", slice(50_000, schemaWith("not", schemaWith("minLength", document.Number("3"))))),
		"long lists":   schemaWith("oneOf", slice(20_000, schemaWith("description", strings.Repeat("<>", 2000)))),
		"one target":   {{Key: "properties", Value: many(20_000, "p%d", func(int) any { return schemaWith("$ref", "#/x") })}, {Key: "x", Value: many(50_000, "k%d", refs)}},
		"values":       schemaWith("enum", slice(90_000, "a|b")),
		"required":     schemaWith("required", slice(90_000, "a")),
		"members":      append(many(40_000, "k%d", func(int) any { return nil }), document.Member{Key: "anyOf", Value: []any{schemaWith("minLength", "x")}}),
		"groups":       schemaWith("properties", many(500, "p%d", manyGroups)),
		"backticks":    schemaWith("properties", many(5_000, "p%d", func(int) any { return schemaWith("pattern", strings.Repeat("`|\\", 99)) })),
		"brackets":     schemaWith("properties", many(1000, "p%d", func(int) any { return schemaWith("description", strings.Repeat("[*_<", 999)) })),
		"same anchor": schemaWith("properties", many(5_000, "p%[1]d.", func(i int) any {
			return schemaWith("properties", schemaWith(strings.Repeat(".", i%9), document.Mapping{}))
		})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := maxPage / 4
			if name == "properties" {
				limit = maxPage
			}
			if md := bounded(t, schema, limit); len(md) > limit/2 && !strings.Contains(md, "Left out, because this page would be too long: ") {
				t.Error("nothing is said of what is left out")
			}
		})
	}
}

// The same for keywords of later drafts.
func TestHTML_boundedLater(t *testing.T) {
	t.Parallel()
	anchors := func(keyword, value string) func(int) any {
		return func(i int) any {
			return document.Mapping{{Key: keyword, Value: fmt.Sprintf(value, i)}, {Key: "const", Value: document.Number("1")}}
		}
	}
	refs := func(value string) func(int) any {
		return func(i int) any {
			return document.Mapping{{Key: "$ref", Value: fmt.Sprintf(value, i)}, {Key: "maxLength", Value: document.Number("3")}}
		}
	}
	bush := func(keywords ...string) any { // 2^12 leaves
		var tree any = true
		for i := range 12 {
			tree = document.Mapping{{Key: keywords[i%2], Value: tree}, {Key: keywords[2+i%2], Value: tree}, {Key: "required", Value: []any{"a"}}}
		}
		return tree
	}
	for name, schema := range map[string]document.Mapping{
		"anchors":      {{Key: "$defs", Value: many(6_000, "d%d", anchors("$anchor", "a%d"))}, {Key: "properties", Value: many(6_000, "p%d", refs("#a%d"))}},
		"resources":    {{Key: "$defs", Value: many(6_000, "d%d", anchors("$id", "http://x/%d"))}, {Key: "properties", Value: many(6_000, "p%d", refs("http://x/%d"))}},
		"dynamic":      {{Key: "$dynamicAnchor", Value: "n"}, {Key: "properties", Value: many(20_000, "p%d", func(int) any { return schemaWith("$dynamicRef", "#n") })}},
		"metaschemas":  schemaWith("properties", many(20_000, "p%d", func(int) any { return schemaWith("$ref", "http://json-schema.org/draft-07/schema") })),
		"long refs":    schemaWith("properties", many(2_000, "p%d", func(int) any { return schemaWith("$ref", "#"+strings.Repeat("/a", 1000)) })),
		"constants":    schemaWith("properties", many(20_000, "p%d", func(int) any { return schemaWith("const", "<\"|") })),
		"booleans":     schemaWith("properties", many(60_000, "p%d", func(i int) any { return i%2 == 0 })),
		"prefixes":     schemaWith("prefixItems", slice(20_000, schemaWith("contains", schemaWith("properties", schemaWith("a", false))))),
		"patterns":     schemaWith("propertyNames", schemaWith("anyOf", slice(20_000, schemaWith("pattern", strings.Repeat("(a|b)*", 20))))),
		"conditions":   {{Key: "if", Value: true}, {Key: "then", Value: bush("if", "if", "else", "then")}},
		"dependents":   schemaWith("dependentSchemas", many(20_000, "p%d", func(int) any { return schemaWith("unevaluatedProperties", false) })),
		"unevaluated":  schemaWith("unevaluatedItems", bush("unevaluatedItems", "contains", "contains", "propertyNames")),
		"dependencies": schemaWith("dependentRequired", many(20_000, "p%d", func(int) any { return []any{"a", "b"} })),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bounded(t, append(schemaWith("$schema", drafts["2020-12"]), schema...), maxPage/4)
		})
	}
}

func slice(n int, value any) []any {
	s := make([]any, n)
	for i := range s {
		s[i] = value
	}
	return s
}

func manyGroups(int) any {
	paths := many(40, "g%d", func(i int) any {
		return document.Mapping{{Key: "properties", Value: []any{"a", "b", fmt.Sprintf("c%d", i)}}, {Key: "operator", Value: "xor"}}
	})
	return schemaWith("property_groups", paths)
}

// Each way into the depth ends, and says so.
func TestHTML_deep(t *testing.T) {
	t.Parallel()
	for _, keyword := range []string{
		"properties", "items", "additionalProperties", "not", "allOf", "dependencies", "default",
		"contains", "propertyNames", "if", "prefixItems", "unevaluatedProperties", "dependentSchemas", "$defs", "const",
	} {
		t.Run(keyword, func(t *testing.T) {
			t.Parallel()
			for _, depth := range [...]int{45, 2000} { // only the first is one that checks take
				schema := schemaWith("properties", schemaWith("x", document.Mapping{}))
				for range depth {
					switch keyword {
					case "properties", "dependencies", "dependentSchemas", "$defs":
						schema = schemaWith(keyword, schemaWith("x", schema))
					case "allOf", "prefixItems":
						schema = schemaWith(keyword, []any{schema, schema[:0]})
					case "if":
						schema = document.Mapping{{Key: "if", Value: schema}, {Key: "then", Value: true}}
					default:
						schema = schemaWith(keyword, schema)
					}
				}
				bounded(t, schema, maxPage)
				bounded(t, append(schemaWith("$schema", drafts["2020-12"]), schema...), maxPage)
			}
		})
	}
}

func TestMarkdown_leftOut(t *testing.T) {
	t.Parallel()
	written, err := write(t.Context(), Page{Schema: document.Mapping{
		{Key: "properties", Value: many(1000, "p%d", func(i int) any { return schemaWith("$ref", fmt.Sprintf("#/definitions/d%d", i)) })},
		{Key: "definitions", Value: many(1000, "d%d", func(int) any { return schemaWith("type", "string") })},
	}}, 10<<10, (*table).markdown)
	if err != nil {
		t.Fatal(err)
	}
	md := string(written)
	_, said, _ := strings.Cut(md, "Left out, because this page would be too long: ")
	left, said, _ := strings.Cut(said, " rows.\n")
	_, said, _ = strings.Cut(said, "Left out, because this page would be too long: ")
	if left == "" || !strings.HasSuffix(said, " sections.\n") {
		t.Errorf("%q and %q are said to be left out", left, said)
	}
	if row := rowOf(t, md, "`p1`"); strings.Contains(row, "](#") {
		t.Errorf("a link to what is left out: %s", row)
	}
}

// A page that costs more than the request may spend is refused.
func TestHTML_budget(t *testing.T) {
	t.Parallel()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	meter := budget.NewMeter(ctx)
	meter.Charge(2*budget.Second - 1000)
	if err := meter.Check(); err != nil {
		t.Fatal(err)
	}
	p := Page{Name: "acme/Widget/v1", Schema: schemaWith("properties", many(1000, "p%d", func(int) any { return document.Mapping{} }))}
	if _, err := HTML(ctx, p); fault.KindOf(err) != fault.TooLarge || !strings.Contains(err.Error(), "the documentation of acme/Widget/v1") {
		t.Errorf("refused with %v", err)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(widget, "acme/Widget/v1")
	for _, seed := range []string{
		"{properties: {'a|b': {description: '<script>'}, 'x`': {pattern: '`|'}}, required: [\"\\n\"]}",
		"{anyOf: [{$ref: '#'}, {not: {$ref: '#/anyOf/1'}}], definitions: {a: 3, '': {}}, dependencies: {a: {b: c}}}",
		"{items: [{type: array, items: {items: {required: [a]}}}], additionalItems: {properties: {'[x](y)': {}}}}",
		"{$schema: 'https://json-schema.org/draft/2020-12/schema', $ref: '#x', prefixItems: [false, {$anchor: x}], items: true, contains: {not: {}}," +
			"if: {$dynamicRef: '#'}, then: {const: '|'}, dependentSchemas: {a: {unevaluatedProperties: {$id: 'b', $ref: '#'}}}}",
		"{title: '<a href=x onclick=y>', description: \"- a\\n\\n    b\\n===\\n\", default: {'`': '``'}, enum: ['|', '\\|']}",
	} {
		f.Add(seed, "<b>")
	}
	limits := document.Limits{Body: 1 << 16, Documents: 10, Size: 1 << 16, Depth: 50, Values: 1_000}
	f.Fuzz(func(t *testing.T, schema, name string) {
		parsed, err := document.ParseOne(t.Context(), []byte(schema), document.YAML, limits)
		m, ok := parsed.(document.Mapping)
		if err != nil || !ok {
			t.Skip()
		}
		p := Page{Name: name, Source: name, Schema: m}
		made := htmlOf(t, p)
		checkHTML(t, made)
		if made != htmlOf(t, p) {
			t.Error("another page for the same schema")
		}
	})
}
