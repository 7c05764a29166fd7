package jsonschema

import (
	"strings"
	"testing"
)

// Each keyword accepts some values and refuses others in the drafts that have it, and is ignored in earlier ones.
func TestSchema_Check_keywords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		keywords    string
		from, until *draft
		good, bad   []string
	}{
		{`"type": "integer"`, draft6, draft2020, []string{`1`, `1.0`, `1e2`}, []string{`1.5`, `"1"`, `true`}},
		{`"const": {"a": [1, null]}`, draft6, draft2020, []string{`{"a": [1.0, null]}`}, []string{`{"a": [1]}`, `1`, `null`}},
		{`"const": null`, draft6, draft2020, []string{`null`}, []string{`0`, `false`, `{}`}},
		{`"exclusiveMinimum": 3`, draft6, draft2020, []string{`4`, `"x"`}, []string{`3`, `2`}},
		{`"exclusiveMaximum": 3`, draft6, draft2020, []string{`2`}, []string{`3.0`, `4`}},
		{`"contains": {"type": "null"}`, draft6, draft2020, []string{`[1, null]`, `{}`}, []string{`[]`, `[1]`}},
		{`"propertyNames": {"maxLength": 1}`, draft6, draft2020, []string{`{"a": 1}`, `{}`}, []string{`{"ab": 1}`}},
		{`"propertyNames": false`, draft6, draft2020, []string{`{}`, `[]`}, []string{`{"a": 1}`}},
		{`"properties": {"a": false, "b": true}`, draft6, draft2020, []string{`{"b": 1}`}, []string{`{"a": 1}`}},
		{`"items": false`, draft6, draft2020, []string{`[]`, `1`}, []string{`[1]`}},
		{`"not": true`, draft6, draft2020, nil, []string{`1`, `{}`}},
		{`"required": []`, draft6, draft2020, []string{`{}`}, nil},
		{`"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "string"}`, draft7, draft2020, []string{`5`, `"x"`}, []string{`4`, `null`}},
		{`"if": {"type": "integer"}, "then": false`, draft7, draft2020, []string{`"x"`}, []string{`4`}},
		{`"dependencies": {"a": ["b"], "c": {"required": ["d"]}}`, draft4, draft7, []string{`{"a": 1, "b": 1}`, `{"b": 1}`, `{"c": 1, "d": 1}`}, []string{`{"a": 1}`, `{"c": 1}`}},
		{`"dependentRequired": {"a": ["b"]}`, draft2019, draft2020, []string{`{"a": 1, "b": 1}`, `{"b": 1}`}, []string{`{"a": 1}`}},
		{`"dependentSchemas": {"a": {"required": ["b"]}}`, draft2019, draft2020, []string{`{"a": 1, "b": 1}`}, []string{`{"a": 1}`}},
		{`"contains": {"type": "null"}, "minContains": 2, "maxContains": 3`, draft2019, draft2020, []string{`[null, 1, null]`}, []string{`[null]`, `[null, 1, null, 1, null, 1, null]`}},
		{`"contains": {"type": "null"}, "minContains": 0`, draft2019, draft2020, []string{`[]`, `[1]`}, nil},
		{`"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": false`, draft2019, draft2020, []string{`{"a": 1, "b": 1}`}, []string{`{"c": 1}`}},
		{`"anyOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false`, draft2019, draft2020, []string{`{"a": null, "b": 1}`, `{"b": 1}`}, []string{`{"a": 1}`}},
		{`"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"properties": {"b": {}}}, "unevaluatedProperties": {"type": "null"}`, draft2019, draft2020, []string{`{"a": 1, "b": 1}`, `{"b": null}`}, []string{`{"b": 1}`}},
		{`"$defs": {"s": {"$anchor": "x", "type": "null"}}, "$ref": "#x"`, draft2019, draft2020, []string{`null`}, []string{`1`}},
		{`"$defs": {"s": {"$id": "http://x/s", "type": "null"}}, "items": {"$ref": "http://x/s"}`, draft2019, draft2020, []string{`[null]`}, []string{`[1]`}},
		{`"$defs": {"s": {"type": "integer"}}, "$ref": "#/$defs/s", "minimum": 3`, draft2019, draft2020, []string{`3`}, []string{`2`, `"x"`}},
		{`"definitions": {"s": {"$id": "#x", "type": "null"}}, "$ref": "#x"`, draft6, draft7, []string{`null`}, []string{`1`}},
		{`"definitions": {"s": {"$id": "http://x/s", "type": "null"}}, "items": {"$ref": "http://x/s"}`, draft6, draft7, []string{`[null]`}, []string{`[1]`}},
		{`"definitions": {"s": {"id": "http://x/s", "type": "null"}}, "items": {"$ref": "http://x/s#"}`, draft4, draft4, []string{`[null]`}, []string{`[1]`}},
		{`"additionalItems": {"type": "null"}, "items": [{}]`, draft4, draft2019, []string{`[1]`, `[1, null]`}, []string{`[1, 1]`}},
		{`"additionalItems": {"type": "null"}, "items": {}`, draft4, draft2019, []string{`[1, 1]`}, nil},
		{`"items": [{"type": "null"}], "additionalItems": false`, draft4, draft2019, []string{`[null]`, `[]`}, []string{`[1]`, `[null, 1]`}},
		{`"items": [{"type": "null"}], "unevaluatedItems": false`, draft2019, draft2019, []string{`[null]`}, []string{`[null, 1]`}},
		{`"prefixItems": [{"type": "null"}], "items": {"type": "integer"}`, draft2020, draft2020, []string{`[null, 1]`, `[]`}, []string{`[1]`, `[null, null]`}},
		{`"prefixItems": [{"type": "null"}], "items": false`, draft2020, draft2020, []string{`[null]`}, []string{`[null, 1]`}},
		{`"prefixItems": [{}], "contains": {"type": "null"}, "unevaluatedItems": false`, draft2020, draft2020, []string{`[1, null]`, `[null]`}, []string{`[1, null, 2]`, `[1]`}},
		{`"$recursiveAnchor": true, "$id": "http://x/t", "additionalProperties": {"$recursiveRef": "#"}, "maxProperties": 1`, draft2019, draft2019, []string{`{"a": {}}`}, []string{`{"a": {"b": 1, "c": 1}}`}},
		{
			`"$id": "http://x/strict", "$dynamicAnchor": "n", "$ref": "tree", "unevaluatedProperties": false,
			"$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "n", "properties": {"kids": {"items": {"$dynamicRef": "#n"}}}}}`,
			draft2020, draft2020,
			[]string{`{"kids": [{"kids": []}]}`},
			[]string{`{"kids": [{"other": 1}]}`},
		},
		{`"$ref": "http://json-schema.org/draft-07/schema#"`, draft4, draft2020, []string{`{"type": "string"}`}, []string{`{"type": 5}`}},
		{`"$ref": "https://json-schema.org/draft/2020-12/schema"`, draft4, draft2020, []string{`{"$defs": {"a": true}}`}, []string{`{"$defs": 5}`, `{"properties": {"a": {"minimum": "x"}}}`}},
		{`"pattern": "^a$"`, draft6, draft2020, []string{`"a"`}, []string{`"a\n"`, `"b"`}},
		{`"pattern": "^a$"`, draft4, draft4, []string{`"a"`, `"a\n"`}, []string{`"b"`}},
		{`"pattern": "^\\s\\S$"`, draft6, draft2020, []string{`"\u00a0x"`}, []string{`"xx"`, `"x\u2003"`}},
		{`"pattern": "^[\\s\\d]+[^\\S]$"`, draft6, draft2020, []string{`"1\ufeff2\u2028"`}, []string{`"a "`}},
		{`"pattern": "^\\p{Script=Greek}\\p{L}\\u0061\\u{1F600}\\cJ\\/$"`, draft6, draft2020, []string{`"αñ` + `a\ud83d\ude00\n/"`}, []string{`"aa"`}},
	}
	for _, tt := range tests {
		for _, d := range drafts {
			s, err := Compile(unmetered(), []byte(`{"$schema": "`+d.uri+`", `+tt.keywords+`}`), Options{})
			if !d.atLeast(tt.from) || !tt.until.atLeast(d) {
				continue
			}
			if err != nil {
				t.Errorf("%s in %s: %v", tt.keywords, d.uri, err)
				continue
			}
			for _, good := range tt.good {
				if found := check(t, s, []byte(good)); found != nil {
					t.Errorf("%s in %s refuses %s: %v", tt.keywords, d.uri, good, lines(found))
				}
			}
			for _, bad := range tt.bad {
				if check(t, s, []byte(bad)) == nil {
					t.Errorf("%s in %s takes %s", tt.keywords, d.uri, bad)
				}
			}
		}
	}
}

// Keywords of later drafts are ignored in Draft 4.
func TestSchema_Check_unknownKeywords(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"const": 1, "if": {}, "then": false, "contains": {"type": "null"}, "propertyNames": {"maxLength": 0},
		"prefixItems": [{"type": "null"}], "dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false, "$defs": 5}`)
	for _, data := range []string{`{"a": 1}`, `[1]`, `2`} {
		if found := check(t, s, []byte(data)); found != nil {
			t.Errorf("%s: %v", data, lines(found))
		}
	}
}

func TestCompile_unknownDraft(t *testing.T) {
	t.Parallel()
	found := refusal(t, `{"$schema": "http://example.org/mine"}`)
	if len(found) != 1 || found[0].SchemaPath != ".$schema" || !strings.Contains(found[0].Message, draft2020.uri) {
		t.Errorf("an unknown draft is refused with %v", found)
	}
}

// The messages are python-jsonschema's.
func TestSchema_Check_laterWords(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"const": "a"}`:                            " | .const | 'a' was expected",
		`{"exclusiveMinimum": 3}`:                   " | .exclusiveMinimum | 3 is less than or equal to the minimum of 3",
		`{"contains": {"type": 5}, "type": "null"}`: "",
		`{"not": true}`:                             " | .not | 3 should not be valid under True",
		`{"allOf": [false]}`:                        " | .allOf.0 | False schema does not allow 3",
		`{"if": true, "then": {"maximum": 1}}`:      " | .then.maximum | 3 is greater than the maximum of 1",
	} {
		if want == "" {
			continue
		}
		s := mustCompile(t, `{"$schema": "https://json-schema.org/draft/2020-12/schema", `+schema[1:])
		if got := lines(check(t, s, []byte(`3`))); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
	for _, tt := range []struct{ schema, data, want string }{
		{`{"contains": {"type": "null"}}`, `[1]`, " | .contains | [1] does not contain items matching the given schema"},
		{`{"contains": {"type": "null"}, "minContains": 2}`, `[null]`, " | .minContains | Too few items match the given schema (expected at least 2 but only 1 matched)"},
		{`{"contains": true, "maxContains": 1}`, `[1, 2]`, " | .maxContains | Too many items match the given schema (expected at most 1)"},
		{`{"prefixItems": [{}], "items": false}`, `[1, 2]`, " | .items | Expected at most 1 items, but found 2"},
		{`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`, " | .dependentRequired | 'b' is a dependency of 'a'"},
		{`{"unevaluatedProperties": false}`, `{"a": 1, "b": 1}`, " | .unevaluatedProperties | Unevaluated properties are not allowed ('a', 'b' were unexpected)"},
		{`{"unevaluatedItems": false}`, `["a"]`, " | .unevaluatedItems | Unevaluated items are not allowed ('a' was unexpected)"},
		{`{"propertyNames": {"maxLength": 1}}`, `{"ab": 1}`, " | .propertyNames.maxLength | 'ab' is too long"},
		{`{"properties": {"required": false}}`, `{"required": 1}`, "required | .properties.required | False schema does not allow 1"},
	} {
		s := mustCompile(t, `{"$schema": "https://json-schema.org/draft/2020-12/schema", `+tt.schema[1:])
		if got := lines(check(t, s, []byte(tt.data))); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %q, want %q", tt.schema, got, tt.want)
		}
	}
}

// Formats are asserted where a schema or the server asks for it, and never in Draft 4.
func TestSchema_Check_formats(t *testing.T) {
	t.Parallel()
	const vocabulary = `"$vocabulary": {"https://json-schema.org/draft/2020-12/vocab/format-assertion": true}, `
	for _, d := range drafts {
		for _, tt := range []struct {
			more    string
			options Options
			want    bool
		}{
			{"", Options{}, false},
			{"", Options{AssertFormats: true}, d != draft4},
			{vocabulary, Options{}, d == draft2020},
		} {
			s, err := Compile(unmetered(), []byte(`{"$schema": "`+d.uri+`", `+tt.more+`"format": "ipv4"}`), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			found := lines(check(t, s, []byte(`"1.2.3"`)))
			if tt.want != (len(found) == 1 && found[0] == " | .format | '1.2.3' is not a 'ipv4'") {
				t.Errorf("%s %s: %q", d.uri, tt.more, found)
			}
			if found := check(t, s, []byte(`"1.2.3.4"`)); found != nil {
				t.Errorf("%s: %v", d.uri, found)
			}
		}
	}
}

// Texts of the format regex are regular expressions within the limits of patterns.
func TestSchema_Check_regex(t *testing.T) {
	t.Parallel()
	s, err := Compile(unmetered(), []byte(`{"$schema": "`+draft7.uri+`", "format": "regex"}`), Options{AssertFormats: true})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"^[a-z]+$": 0, "(": 1, strings.Repeat("a", 4096): 0, strings.Repeat("a", 4097): 1, strings.Repeat(`\\pL`, 1000): 1,
	} {
		if found := check(t, s, []byte(`"`+text+`"`)); len(found) != want {
			t.Errorf("%.20s: %v", text, found)
		}
	}
	if found := check(t, s, []byte(`5`)); found != nil {
		t.Errorf("a number: %v", found)
	}
}

// Dynamic references that form a loop at the same place of the data end in a finding.
func TestSchema_Check_dynamicLoop(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicAnchor": "x", "allOf": [{"$dynamicRef": "#x"}]}`)
	found := check(t, s, []byte(`1`))
	if len(found) != 1 || !strings.Contains(found[0].Message, "is a loop") {
		t.Errorf("found %v", lines(found))
	}
}
