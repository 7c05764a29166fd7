package puppet

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// canonical agrees with Puppet's rule.
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
