package validations_test

import (
	"strings"
	"testing"

	"purser/internal/validations"
)

// The warning about a result that no policy lists suggests a name that is similar in more than its usual ending.
func TestUnlistedWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		listed []string
		want   string
	}{
		{"site-validation", []string{"site-validation"}, ""},
		{"sit-validation", []string{"rack-validation", "site-validation"}, "; did you mean site-validation?"},
		{"site-validaton", []string{"rack-validation", "site-validation"}, "; did you mean site-validation?"},
		{"site-validation", []string{"rack-validation", "site-validaton"}, "; did you mean site-validaton?"},
		{"extra-validation", []string{"short-validation", "x-validation", "other"}, "so its results are ignored"},
	} {
		policy := validations.Policy{}
		for _, name := range c.listed {
			policy.Requirements = append(policy.Requirements, validations.Requirement{Name: name})
		}
		got := validations.UnlistedWarning([]validations.Policy{policy}, c.name)
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s with %v listed: %q, want %q at the end", c.name, c.listed, got, c.want)
		}
	}
}
