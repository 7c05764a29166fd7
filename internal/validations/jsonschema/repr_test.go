package jsonschema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessage_repr(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`null`:                   `None`,
		`true`:                   `True`,
		`false`:                  `False`,
		`1e-07`:                  `1e-07`,
		`100.0`:                  `100.0`,
		`12345678901234567890`:   `12345678901234567890`,
		`{"b":1,"a":[]}`:         `{'b': 1, 'a': []}`,
		`{"a":1,"b":2,"a":3}`:    `{'a': 3, 'b': 2}`,
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
		v, err := parse(unmetered(), []byte(data), -1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, new(message).repr(v).String()); diff != "" {
			t.Errorf("repr of %s (-want +got):\n%s", data, diff)
		}
	}
}

func TestReadPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		written     string
		matches     []string
		matchesNone []string
	}{
		{`b`, []string{"abc"}, []string{"ac"}},
		{`^a$`, []string{"a", "a\n"}, []string{"a\n\n", "b\na", "ab"}},
		{`^a\Z`, []string{"a"}, []string{"a\n"}},
		{`^[$]\$$`, []string{"$$", "$$\n"}, []string{"a$"}},
		{`^[]$]$`, []string{"]", "$"}, []string{"a"}},
		{`^[^]$]$`, []string{"a"}, []string{"]", "$"}},
		{`^\\$`, []string{`\`}, []string{`\$`}},
		{`(?i)^A$`, []string{"a"}, []string{"a\n"}},
		{`^(?P<x>é)$`, []string{"é\n"}, []string{"e"}},
		{`^(?:a|b$)`, []string{"ax", "b"}, []string{"bx"}},
	}
	for _, tt := range tests {
		p, err := readPattern(unmetered(), tt.written, draft4)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tt.matches {
			if !p.compiled.MatchString(s) {
				t.Errorf("%s does not match %q", tt.written, s)
			}
		}
		for _, s := range tt.matchesNone {
			if p.compiled.MatchString(s) {
				t.Errorf("%s matches %q", tt.written, s)
			}
		}
	}
	for _, written := range []string{`(?!a)`, `(?<=a)b`, `(a)\1`, `(`, `[`, `a{2000}`, `\`} {
		if _, err := readPattern(unmetered(), written, draft4); err == nil {
			t.Errorf("%s is taken as a pattern", written)
		}
	}
}

func TestPattern_sameOnceTranslated(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"patternProperties":{"a$":{"type":"null"},"a(?:\\n?\\z)":{"type":"string"}},"additionalProperties":false}`)
	want := []string{
		"a | .patternProperties.a$.type | 1 is not of type 'null'",
		`a | .patternProperties.a(?:\n?\z).type | 1 is not of type 'string'`,
	}
	if diff := cmp.Diff(want, lines(check(t, s, []byte(`{"a":1}`)))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
