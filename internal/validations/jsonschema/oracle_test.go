package jsonschema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	santhosh "github.com/santhosh-tekuri/jsonschema/v5"
	"pgregory.net/rapid"
)

// schemaDrawer draws small schemas that are likely to conflict with small data.
type schemaDrawer struct {
	t *rapid.T
	d *draft
}

func (s schemaDrawer) pick(from ...string) string {
	return rapid.SampledFrom(from).Draw(s.t, "word")
}

func (s schemaDrawer) number() int { return rapid.IntRange(0, 3).Draw(s.t, "number") }

// schema draws a schema with at most depth levels below it.
func (s schemaDrawer) schema(depth int) any {
	if s.d.hasBooleans() && s.number() == 0 && rapid.Bool().Draw(s.t, "plain") {
		return rapid.Bool().Draw(s.t, "boolean")
	}
	m := members{}
	for range rapid.IntRange(0, 3).Draw(s.t, "keywords") {
		s.keyword(m, depth)
	}
	return m
}

func (s schemaDrawer) list(depth int) []any {
	list := []any{}
	for range rapid.IntRange(1, 3).Draw(s.t, "schemas") {
		list = append(list, s.schema(depth-1))
	}
	return list
}

func (s schemaDrawer) named(depth int, names ...string) members {
	m := members{}
	for range rapid.IntRange(1, 2).Draw(s.t, "schemas") {
		m[s.pick(names...)] = s.schema(depth - 1)
	}
	return m
}

// keyword adds a keyword of the draft to a schema.
func (s schemaDrawer) keyword(m members, depth int) {
	assertions := []string{
		"type", "enum", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "minItems", "maxItems",
		"uniqueItems", "required", "minProperties", "maxProperties", "$ref", "exclusive",
	}
	if s.d.atLeast(draft6) {
		assertions = append(assertions, "const")
	}
	if s.d.atLeast(draft2019) {
		assertions = append(assertions, "dependentRequired")
	}
	keywords := assertions
	if depth > 0 {
		for keyword := range s.d.applicators {
			if keyword != "definitions" && keyword != "$defs" {
				keywords = append(keywords, keyword)
			}
		}
	}
	// maps have no order, and a test must be repeatable
	slices.Sort(keywords)
	switch k := s.pick(keywords...); k {
	case "type":
		m[k] = s.pick("null", "boolean", "integer", "number", "string", "array", "object")
	case "enum":
		m[k] = []any{s.value(1), "only"}
	case "const":
		m[k] = s.value(1)
	case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		m[k] = s.number()
	case "exclusive":
		if s.d == draft4 {
			m["minimum"], m["exclusiveMinimum"] = s.number(), true
		} else {
			m["exclusiveMinimum"] = s.number()
		}
	case "multipleOf":
		m[k] = 2
	case "uniqueItems":
		m[k] = true
	case "pattern":
		m[k] = s.pick("^a", "b", "^.?$")
	case "required":
		m[k] = []any{s.pick("a", "b", "c")}
	case "dependentRequired":
		m[k] = members{s.pick("a", "b"): []any{s.pick("a", "b", "c")}}
	case "$ref":
		m[k] = s.pick("#/definitions/x", "#/definitions/y")
	default:
		s.applicator(m, k, depth)
	}
	if s.d.atLeast(draft2019) && m["contains"] != nil && s.number() == 0 {
		m["minContains"], m["maxContains"] = s.number(), 2
	}
}

// applicator adds a keyword that applies schemas, and one without which it means nothing.
func (s schemaDrawer) applicator(m members, k string, depth int) {
	switch {
	case k == "additionalItems" && m["items"] == nil:
		m["items"] = s.list(depth)
	case (k == "then" || k == "else") && m["if"] == nil:
		m["if"] = s.schema(depth - 1)
	}
	switch shape := s.d.applicators[k].shape; {
	case k == "dependencies" && rapid.Bool().Draw(s.t, "of keys"):
		m[k] = members{"a": []any{"b"}}
	case k == "patternProperties":
		m[k] = s.named(depth, "^a", "b")
	case shape&byName != 0:
		m[k] = s.named(depth, "a", "b", "c")
	case shape&many != 0 && (shape&one == 0 || rapid.Bool().Draw(s.t, "a list")):
		m[k] = s.list(depth)
	case shape&noBooleans != 0 && rapid.Bool().Draw(s.t, "a boolean"):
		m[k] = rapid.Bool().Draw(s.t, "boolean")
	default:
		m[k] = s.schema(depth - 1)
	}
}

func (s schemaDrawer) value(depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(s.t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(s.t, "boolean")
	case 2:
		return s.number()
	case 3:
		return s.pick("", "a", "ab", "c")
	case 4:
		return 1.5
	case 5:
		list := []any{}
		for range s.number() {
			list = append(list, s.value(depth-1))
		}
		return list
	}
	m := members{}
	for range s.number() {
		m[s.pick("a", "b", "c", "d")] = s.value(depth - 1)
	}
	return m
}

// library returns the library's verdict; ok is false if it refuses the schema.
func library(d *draft, schema, data []byte) (valid, ok bool) {
	c := santhosh.NewCompiler()
	c.Draft = map[*draft]*santhosh.Draft{
		draft4: santhosh.Draft4, draft6: santhosh.Draft6, draft7: santhosh.Draft7,
		draft2019: santhosh.Draft2019, draft2020: santhosh.Draft2020,
	}[d]
	if err := c.AddResource("test:///schema", strings.NewReader(string(schema))); err != nil {
		return false, false
	}
	compiled, err := c.Compile("test:///schema")
	if err != nil {
		return false, false
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return false, false
	}
	return compiled.Validate(v) == nil, true
}

// backwards returns the JSON text of a value, with the members of its objects in the reverse of the usual order.
func backwards(t *rapid.T, v any) []byte {
	t.Helper()
	var parts [][]byte
	switch v := v.(type) {
	case members:
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(v))) {
			parts = append(parts, append(append(marshal(t, key), ':'), backwards(t, v[key])...))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	case []any:
		for _, item := range v {
			parts = append(parts, backwards(t, item))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	return marshal(t, v)
}

// verdicts draws a schema and data in a draft and compares our verdict with the library's, whatever the order of the
// keywords.
func verdicts(t *rapid.T) {
	d := rapid.SampledFrom(drafts).Draw(t, "draft")
	s := schemaDrawer{t, d}
	m := members{"definitions": members{"x": s.schema(1), "y": s.schema(0)}}
	for range rapid.IntRange(1, 4).Draw(t, "keywords") {
		s.keyword(m, 3)
	}
	m["$schema"] = d.uri
	schema := marshal(t, m)
	var compiled []*Schema
	for _, text := range [][]byte{schema, backwards(t, m)} {
		c, err := Compile(unmetered(), text, Options{})
		if err != nil {
			return // such as a loop, which the library follows
		}
		compiled = append(compiled, c)
	}
	for range 5 {
		data := marshal(t, s.value(3))
		valid, ok := library(d, schema, data)
		if !ok {
			return
		}
		for i, order := range []string{"sorted", "backwards"} {
			if found := check(t, compiled[i], data); (found == nil) != valid {
				t.Fatalf("%s, %s\n%s with %s: the library says %v, we %v", d.uri, order, schema, data, valid, lines(found))
			}
		}
	}
}

// Our verdict equals the library's in all drafts.
func TestLaws_oracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, verdicts)
}

// FuzzOracle compares our verdict with the library's for an unlimited time.
func FuzzOracle(f *testing.F) { f.Fuzz(rapid.MakeFuzz(verdicts)) }
