package jsonschema

import (
	"strings"
	"testing"
)

func TestCompilePattern(t *testing.T) {
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
		p, err := compilePattern(counter{}, tt.written, draft4)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tt.matches {
			if !(counter{}).matches(p, s) {
				t.Errorf("%s does not match %q", tt.written, s)
			}
		}
		for _, s := range tt.matchesNone {
			if (counter{}).matches(p, s) {
				t.Errorf("%s matches %q", tt.written, s)
			}
		}
	}
	for written, refusal := range map[string]string{
		"[" + strings.Repeat(`\pL`, 1300) + "]": "it takes too much work to compile; make its repetitions and its classes smaller",
		strings.Repeat(`\s`, 2049):              "it has 4098 bytes, and at most 4096 are allowed; shorten it, or split it into several",
	} {
		for _, d := range drafts {
			if _, err := compilePattern(counter{}, written, d); err == nil || err.Error() != refusal {
				t.Errorf("%.20s is refused with %v", written, err)
			}
		}
	}
	for _, written := range []string{`(?!a)`, `(?<=a)b`, `(a)\1`, `(`, `[`, `a{2000}`, `\`} {
		if _, err := compilePattern(counter{}, written, draft4); err == nil {
			t.Errorf("%s is taken as a pattern", written)
		}
	}
}
