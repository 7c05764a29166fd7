package document

import (
	"testing"
)

func TestRepr(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value any
		want  string
	}{
		{"it's", `"it's"`},
		{nil, "None"},
		{true, "True"},
		{false, "False"},
		{Number("5"), "5"},
		{Number("1e-07"), "1e-07"},
		{[]any{}, "[]"},
		{Mapping{}, "{}"},
		{[]any{"it's", `q"`, `b'"`, `back\slash`, nil, false}, `["it's", 'q"', 'b\'"', 'back\\slash', None, False]`},
		{Mapping{{Key: "a", Value: []any{Number("1")}}, {Key: "b'", Value: "x"}}, `{'a': [1], "b'": 'x'}`},
		{[]any{"\n\r\t\x00\x7f\u0085\u00a0\u200b\u2028é日\U0001f600\U000e0001"}, `['\n\r\t\x00\x7f\x85\xa0\u200b\u2028é日😀\U000e0001']`},
	} {
		if got := Repr(c.value); got != c.want {
			t.Errorf("%v: %s, want %s", c.value, got, c.want)
		}
	}
}

func TestRepr_parsed(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`null`:                   `None`,
		`true`:                   `True`,
		`false`:                  `False`,
		`1e-07`:                  `1e-07`,
		`100.0`:                  `100.0`,
		`12345678901234567890`:   `12345678901234567890`,
		`{"b":1,"a":[]}`:         `{'b': 1, 'a': []}`,
		`[1,"x",{}]`:             `[1, 'x', {}]`,
		`"it's"`:                 `"it's"`,
		`"both ' and \""`:        `'both \' and "'`,
		`"q\"x"`:                 `'q"x'`,
		`"tab\t\\\r\n"`:          `'tab\t\\\r\n'`,
		`"\u0000\u001f\u007f"`:   `'\x00\x1f\x7f'`,
		`"\u0080\u00a0\u00ad"`:   `'\x80\xa0\xad'`,
		`"\u200b\u2028\ufeff"`:   `'\u200b\u2028\ufeff'`,
		`"é 日本 \ud83d\ude00"`:    `'é 日本 😀'`,
		`"\udb40\udc01\ue000"`:   `'\U000e0001\ue000'`,
		`"\u3000\u0301"`:         `'\u3000` + "\u0301'",
		`{"k'":{"n":[null,-0]}}`: `{"k'": {'n': [None, -0]}}`,
	}
	for data, want := range tests {
		v, err := ParseJSON([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if got := Repr(v); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

// Appending stops soon after a buffer has most bytes.
func TestAppend_most(t *testing.T) {
	t.Parallel()
	items := make([]any, 1000)
	for i := range items {
		items[i] = Mapping{{Key: "key", Value: "é"}}
	}
	whole := Repr(items)
	got := string(AppendRepr(nil, items, 100))
	if len(got) < 101 || len(got) > 120 || got[:101] != whole[:101] {
		t.Errorf("appending at most 100 bytes gives %q", got)
	}
}
