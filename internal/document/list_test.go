package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

// A body that consists of one list, in JSON or YAML, is read as the documents in that list.
func TestListed(t *testing.T) {
	t.Parallel()
	one, two := Mapping{{"a", Number("1")}}, Mapping{{"b", Number("2")}}
	for body, want := range map[string]struct {
		values []any
		last   Position // of b in the last document
	}{
		"\n[{\"a\": 1},\n{\"b\": 2}]\n": {[]any{one, two}, Position{3, 7}},
		"# c\n---\n[{a: 1},\n {b: 2}]":  {[]any{one, two}, Position{4, 6}},
		"- a: 1\n-\n  b: 2\n":           {[]any{one, two}, Position{3, 6}},
		"--- [{a: 1}, {b: 2}]":          {[]any{one, two}, Position{1, 18}},
		"a: [1]\nb: 2":                  {[]any{Mapping{{"a", []any{Number("1")}}, two[0]}}, Position{2, 4}},
		"- a: 1\n--- {b: 2}":            {[]any{[]any{one}, two}, Position{2, 9}},
		"%YAML 1.1\n---\n[{b: 2}]":      {[]any{two}, Position{3, 6}},
		"\ufeff[{\"b\": 2}]":            {[]any{two}, Position{1, 8}},
		"%TAG ! x\n---\n[{b: 2}]":       {[]any{[]any{two}}, Position{3, 1}},
		"- &x {b: 2}\n- *x":             {[]any{two, two}, Position{1, 10}},
		"--- -1":                        {[]any{Number("-1")}, Position{1, 5}},
	} {
		segments, err := Split(t.Context(), []byte(body), YAML, DefaultLimits())
		if err == nil {
			segments, err = Listed(t.Context(), []byte(body), segments, DefaultLimits())
		}
		if err != nil {
			t.Fatal(err)
		}
		var values []any
		var at []Position
		for i, s := range segments {
			entry, err := Decode(t.Context(), s, DefaultLimits())
			if err != nil || entry.Index != i+1 {
				t.Fatalf("%q: document %d, %v", body, entry.Index, err)
			}
			values = append(values, entry.Value)
			if at, err = entry.Positions(budget.NewMeter(t.Context()), [][]string{{"b"}}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want.values, values); diff != "" || at[0] != want.last {
			t.Errorf("%q: b at %v, want %v (-want +got)\n%s", body, at[0], want.last, diff)
		}
	}
	limits := DefaultLimits()
	limits.Documents = 2
	for body, part := range map[string]string{
		"[{}, {}, {}]": "more than 2 documents", "- a\n- b\n- c": "more than 2 documents", "- a\n- [": "document 1",
		"- a: 1\n- a: .nan": "document 2, line 2, column 6: JSON has no",
	} {
		segments, err := Split(t.Context(), []byte(body), YAML, limits)
		if err == nil {
			segments, err = Listed(t.Context(), []byte(body), segments, limits)
		}
		for _, s := range segments {
			if err == nil {
				_, err = Decode(t.Context(), s, limits)
			}
		}
		requireRefusal(t, segments, err, part)
	}
}
