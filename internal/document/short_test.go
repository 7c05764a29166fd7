package document

import (
	"strings"
	"testing"
)

// A value is written if it fits, and only then.
func TestShortJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		nil, true, "abc", "\u0001\u0001", Number("12"),
		[]any{},
		[]any{nil, "x"},
		Mapping{},
		Mapping{{"a", []any{Number("1")}}, {"b", "c"}},
		strings.Repeat("x", 90),
		[]any{strings.Repeat("é", 30), Mapping{{strings.Repeat("k", 30), nil}}},
	} {
		text := string(AppendJSON(nil, value))
		for most := range 2 * len(text) {
			want := text
			if most < len(text) {
				want = ""
			}
			if got := string(ShortJSON(value, most)); got != want {
				t.Errorf("%s within %d bytes is %q", text, most, got)
			}
		}
	}
}
