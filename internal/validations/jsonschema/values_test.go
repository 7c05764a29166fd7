package jsonschema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		limit   int
		want    any
		refusal string
	}{
		{`{"a":1,"b":2,"a":3}`, -1, document.Mapping{{Key: "a", Value: document.Number("3")}, {Key: "b", Value: document.Number("2")}}, ""},
		{`["a",[null]]`, 4, []any{"a", []any{nil}}, ""},
		{`["a",[null]]`, 3, nil, "it has more than 3 values"},
		{strings.Repeat("[", 102) + strings.Repeat("]", 102), -1, nil, "it is nested deeper than 100 levels"},
		{`1 2`, -1, nil, "there is more after its end"},
		{`[1`, -1, nil, "it is not JSON: unexpected EOF"},
	} {
		got, err := parse(counter{}, []byte(tt.text), tt.limit)
		refusal := ""
		if err != nil {
			refusal = err.Error()
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || refusal != tt.refusal {
			t.Errorf("%s: %q, want %q; (-want +got):\n%s", tt.text, refusal, tt.refusal, diff)
		}
	}
}

func TestKeySet_has(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, fewKeys, fewKeys + 1} {
		object := document.Mapping{{Key: "a"}}
		for i := range n {
			object = append(object, document.Member{Key: strings.Repeat("b", i)})
		}
		keys := keysOf(counter{}, object, 2)
		if !keys.has("a") || keys.has("c") {
			t.Errorf("of %d keys, a is %v and c is %v", n, keys.has("a"), keys.has("c"))
		}
	}
}
