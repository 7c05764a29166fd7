package puppet

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/document"
)

// canonical agrees with the rule of spec/puppet.md §3.
func TestCanonical(t *testing.T) {
	t.Parallel()
	rule := regexp.MustCompile(`^(::)?[A-Za-z][A-Za-z0-9_]*(::[A-Za-z][A-Za-z0-9_]*)*$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[:aAz_9é ]{0,8}`).Draw(t, "name")
		got, ok := canonical(name)
		if ok != rule.MatchString(name) {
			t.Fatalf("%q: %v", name, ok)
		}
		if want := capitalised(regexp.MustCompile("^::").ReplaceAllString(name, "")); ok && got != want {
			t.Fatalf("%q: %q, want %q", name, got, want)
		}
	})
}

func TestYAML_reads(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"1e-07": "1.0e-07", "1.5E+3": "1.5E+3", `"\u2028 :x"`: `"\u2028 :x"`, `["80,443"]`: `["80,443"]`} {
		if got := string(flow(parseForTest(t, in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func parseForTest(t *testing.T, json string) any {
	t.Helper()
	value, err := document.ParseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
