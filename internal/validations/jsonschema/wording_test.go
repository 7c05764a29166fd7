package jsonschema

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestFailure_messages(t *testing.T) {
	t.Parallel()
	names := mapping{{Key: "c"}, {Key: "b"}}
	patterns := mapping{{Key: "patternProperties", Value: mapping{{Key: "y"}, {Key: "x"}}}}
	pair := &arrayRules{prefix: []*node{{}}}
	schemas := []any{mapping{{Key: "a"}}, mapping{{Key: "b"}}}
	for want, tt := range map[string]struct {
		v     failure
		held  any
		rules rules
		other mapping // keywords
	}{
		"1 is not of type 'string', 'null'": {
			v:    failure{keyword: "type", value: document.Number("1")},
			held: []any{"string", "null"},
		},
		"False schema does not allow None": {},
		"'b' is a dependency of 'a'":       {v: failure{keyword: "dependencies", extras: []any{"b", "a"}}},
		"'b', 'c' do not match any of the regexes: 'x', 'y'": {
			v:     failure{keyword: "additionalProperties", value: names},
			rules: rules{objects: new(objectRules)}, other: patterns,
		},
		"Expected at most 1 items, but found 2": {
			v:     failure{keyword: "items", value: []any{nil, nil}},
			rules: rules{arrays: pair},
		},
		"Additional items are not allowed (None was unexpected)": {
			v: failure{keyword: "additionalItems", value: []any{nil, nil}}, rules: rules{arrays: pair},
		},
		"True is valid under each of {'b': None}, {'a': None}": {
			v: failure{keyword: "oneOf", value: true, note: "0 1"}, held: schemas,
		},
		"'a' is a required property|'b' is a required property": {
			v:    failure{keyword: "required", value: mapping{}},
			held: []any{"a", "b", "c"},
		},
	} {
		tt.v.node = &node{rules: &tt.rules, resource: &resource{draft: draft4}}
		tt.v.node.members = tt.other.With(tt.v.keyword, tt.held)
		if diff := cmp.Diff(want, strings.Join(tt.v.messages(counter{}, 2), "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.v.keyword, diff)
		}
	}
	if diff := cmp.Diff(mapping{{Key: "c"}, {Key: "b"}}, names); diff != "" {
		t.Errorf("a message changed the names (-want +got):\n%s", diff)
	}
}

func TestMessage_String(t *testing.T) {
	t.Parallel()
	got := new(message).quote(strings.Repeat("é", maxMessage)).add(" and more").repr([]any{"x"}).String()
	if len(got) > maxMessage || len(got) < maxMessage-4 || !strings.HasSuffix(got, "é…") || !utf8.ValidString(got) {
		t.Errorf("a long message has %d bytes and ends with %q", len(got), got[len(got)-10:])
	}
}
