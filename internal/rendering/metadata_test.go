package rendering

import (
	"testing"

	"purser/internal/document"
)

func TestEqualText(t *testing.T) {
	t.Parallel()
	for _, same := range [][]any{
		{true, document.Number("1"), document.Number("1.0")},
		{false, document.Number("0"), document.Number("-0.0")},
		{document.Number("1e+16"), document.Number("10000000000000000")},
		{document.Number("18446744073709551615")},
		{"1"},
		{"true"},
		{nil},
		{"null"},
		{document.Number("1.5")},
		{document.Number("1e+300")},
		{[]any{true}, []any{document.Number("1")}},
		{document.Mapping{{Key: "a", Value: "x"}, {Key: "b"}}, document.Mapping{{Key: "b"}, {Key: "a", Value: "x"}}},
	} {
		for _, value := range same {
			if got, want := equalText(value), equalText(same[0]); got != want {
				t.Errorf("%v: %s, want %s", value, got, want)
			}
		}
	}
	if equalText("1") == equalText(document.Number("1")) || equalText(nil) != nullLabel || equalText("null") == nullLabel {
		t.Error("different values are the same")
	}
}
