package document

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// ParseJSON returns the value that was written, and an error, not a panic or a value, for truncated or damaged text.
func TestParseJSON(t *testing.T) {
	t.Parallel()
	const text = `{"a": [1, -2.5e+300, true, false, null, "x\\\"\u0007é"] , "b":{},"c":[ ], "" : "" }`
	value, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":[1,-2.5e+300,true,false,null,"x\\\"\u0007é"],"b":{},"c":[],"":""}`
	if diff := cmp.Diff(want, string(AppendJSON(nil, value))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for i := range len(text) {
		if value, err := ParseJSON([]byte(text[:i])); err == nil {
			t.Errorf("%q is read as %v", text[:i], value)
		}
	}
	for _, damaged := range []string{"{}{}", "[1 2]", "[,1]", "{1:2}", `{"a" 1}`, "nul", "[tru]", `"\q"`, "x", "}", "[}"} {
		if value, err := ParseJSON([]byte(damaged)); err == nil {
			t.Errorf("%q is read as %v", damaged, value)
		}
	}
}

// ParseJSON reads text written by this package in the same way as the decoder of request bodies.
func TestParseJSON_likeOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom(strings.Split(`{ } [ ] , : "a" "b" "\n\u00e9" 1 -0.5 true null`, " "))).Draw(t, "tokens")
		joined := []byte(strings.Join(text, ""))
		value, err := ParseOne(t.Context(), joined, JSON, DefaultLimits())
		if err != nil || value == nil {
			_, _ = ParseJSON(joined) // must not panic
			return
		}
		written := AppendJSON(nil, value)
		back, err := ParseJSON(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if diff := cmp.Diff(value, back); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", written, diff)
		}
	})
}

// Strings are read as encoding/json reads them, whoever escaped them.
func FuzzParseJSON_string(f *testing.F) {
	for _, text := range []string{
		``, `plain`, `\"\\\/\b\f\n\r\t`, `\u0041\u00e9\u2028\uFFFD`, `\ud83d\ude00`, `\uD83D`, `\ud83d\u0041`, `\ude00\ud83d`,
		`\ud83d\ud83d\ude00`, `\\\\`, `\\\"`, `a\\`, `\q`, `\u12`, `\u12g4`, `\ud83d\u`, `\ud83d\u12`, `é\né`, `\`, `"`, `\u+041`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		quoted := []byte(`"` + text + `"`)
		var want string
		wantErr := json.Unmarshal(quoted, &want)
		got, err := ParseJSON(quoted)
		switch {
		case wantErr != nil && strings.IndexFunc(text, func(r rune) bool { return r < ' ' }) >= 0:
			// Control characters are not looked for.
		case (err == nil) != (wantErr == nil):
			t.Errorf("%q: %v, want %v", text, err, wantErr)
		case err == nil && utf8.ValidString(text) && got != want:
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}
