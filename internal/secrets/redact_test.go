package secrets

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"purser/internal/document"
)

func TestRedacted(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{ // as Deckhand shows them
		"hunter2": "4ddbb67bf993867e13253c146a339ed3b33ea5b895543569278e99d5b3c2b7d5",
		".":       "7299b59de0b5dad3b622afc3bdf57544e505249c77a6d4254bd14b1fc9a4ade8",
		"x":       "ba2df4903a2c14e86dc3bcca58911b44ac1d2514b7227bf6eb08cfb978f55a1b",
	} {
		if got := Redacted(value); got != want {
			t.Errorf("%q is shown as %s instead of %s", value, got, want)
		}
	}
	mixed := document.Mapping{
		{Key: "b", Value: []any{document.Number("1"), document.Number("1.5"), true, nil}},
		{Key: "a", Value: document.Mapping{}},
	}
	if got, want := Redacted(mixed), "006f64ed443148f2c9e03fa155d1faf298ec453e70fa1bb0ba0585cd6a89f7cb"; got != want {
		t.Errorf("a mapping is shown as %s instead of %s", got, want)
	}
}

// The expected outputs of json.dumps were recorded with Python.
func TestAppendPython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{document.Number("1e+16"), `1e+16`},
		{"a\"\\/\b\f\n\r\t\x00\x1f\x7f é € 😀 \u2028", `"a\"\\/\b\f\n\r\t\u0000\u001f\u007f \u00e9 \u20ac \ud83d\ude00 \u2028"`},
		{document.Mapping{
			{Key: "b", Value: []any{document.Number("1"), true, nil, []any{}, document.Mapping{}}},
			{Key: "a", Value: document.Mapping{{Key: "é", Value: false}, {Key: "c", Value: ""}}},
		}, `{"b": [1, true, null, [], {}], "a": {"\u00e9": false, "c": ""}}`},
	} {
		if diff := cmp.Diff(c.want, string(appendPython(nil, c.value))); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("it is ASCII that reads as the same text", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			want := rapid.String().Draw(t, "text")
			written := appendPython(nil, want)
			var got string
			if err := json.Unmarshal(written, &got); err != nil || got != want {
				t.Fatalf("%q is written as %s", want, written)
			}
			for _, b := range written {
				if b < ' ' || b > '~' {
					t.Fatalf("%q is written as %s", want, written)
				}
			}
		})
	})
}
