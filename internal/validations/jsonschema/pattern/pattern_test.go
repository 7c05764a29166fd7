package pattern

import (
	"testing"

	"purser/internal/validations/jsonschema/draft"
	"purser/internal/validations/jsonschema/work"
)

func TestCompile(t *testing.T) {
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
		p, err := Compile(work.Counter{}, tt.written, draft.V4)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tt.matches {
			if !p.Matches(work.Counter{}, s) {
				t.Errorf("%s does not match %q", tt.written, s)
			}
		}
		for _, s := range tt.matchesNone {
			if p.Matches(work.Counter{}, s) {
				t.Errorf("%s matches %q", tt.written, s)
			}
		}
	}
	for _, written := range []string{`(?!a)`, `(?<=a)b`, `(a)\1`, `(`, `[`, `a{2000}`, `\`} {
		if _, err := Compile(work.Counter{}, written, draft.V4); err == nil {
			t.Errorf("%s is taken as a pattern", written)
		}
	}
}
