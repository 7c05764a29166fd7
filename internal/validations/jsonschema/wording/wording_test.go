package wording

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/validations/jsonschema/work"
)

func TestViolation_Messages(t *testing.T) {
	t.Parallel()
	names := []any{"c", "b"}
	for want, v := range map[string]Violation{
		"1 is not of type 'string', 'null'":                      {Keyword: "type", Value: document.Number("1"), Held: []any{"string", "null"}},
		"False schema does not allow None":                       {},
		"'b' is a dependency of 'a'":                             {Keyword: "dependencies", Extras: []any{"b", "a"}},
		"'b', 'c' do not match any of the regexes: 'x', 'y'":     {Keyword: "additionalProperties", Extras: names, Patterns: document.Mapping{{Key: "y"}, {Key: "x"}}},
		"Expected at most 1 items, but found 2":                  {Keyword: "items", Value: []any{nil, nil}, Extras: []any{nil}},
		"Additional items are not allowed (None was unexpected)": {Keyword: "additionalItems", Value: []any{nil, nil}, Extras: []any{nil}},
		"True is valid under each of {'b': None}, {'a': None}":   {Keyword: "oneOf", Value: true, Note: "0 1", Held: []any{document.Mapping{{Key: "a"}}, document.Mapping{{Key: "b"}}}},
		"'a' is a required property|'b' is a required property":  {Keyword: "required", Value: document.Mapping{}, Held: []any{"a", "b", "c"}},
	} {
		if diff := cmp.Diff(want, strings.Join(v.Messages(work.Counter{}, 2), "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v.Keyword, diff)
		}
	}
	if diff := cmp.Diff([]any{"c", "b"}, names); diff != "" {
		t.Errorf("a message changed the names (-want +got):\n%s", diff)
	}
}

func TestMessage_String(t *testing.T) {
	t.Parallel()
	got := new(Message).Quote(strings.Repeat("é", MaxMessage)).Add(" and more").Repr([]any{"x"}).String()
	if len(got) > MaxMessage || len(got) < MaxMessage-4 || !strings.HasSuffix(got, "é…") || !utf8.ValidString(got) {
		t.Errorf("a long message has %d bytes and ends with %q", len(got), got[len(got)-10:])
	}
}
