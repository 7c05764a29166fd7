package rendering

import (
	"testing"

	"purser/internal/document"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{"it's", "it's"},
		{nil, "None"},
		{true, "True"},
		{false, "False"},
		{document.Number("5"), "5"},
		{document.Number("1e-07"), "1e-07"},
		{[]any{}, "[]"},
		{document.Mapping{}, "{}"},
		{[]any{"it's", `q"`, `b'"`, `back\slash`, nil, false}, `["it's", 'q"', 'b\'"', 'back\\slash', None, False]`},
		{document.Mapping{{Key: "a", Value: []any{document.Number("1")}}, {Key: "b'", Value: "x"}}, `{'a': [1], "b'": 'x'}`},
		{[]any{"\n\r\t\x00\x7f\u0085\u00a0\u200b\u2028é日\U0001f600\U000e0001"}, `['\n\r\t\x00\x7f\x85\xa0\u200b\u2028é日😀\U000e0001']`},
	} {
		if got := plain(c.value); got != c.want {
			t.Errorf("%v: %s, want %s", c.value, got, c.want)
		}
	}
}
