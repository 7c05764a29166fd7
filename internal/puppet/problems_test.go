package puppet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The number of problems that are listed, and what the last one says of the others, does not depend on secret ones.
func TestProblemList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open, secret int
		last         string // of the open ones
	}{
		"few":                    {2, 1, "open"},
		"as many as fit":         {maxProblems, 0, "open"},
		"secret ones take none":  {maxProblems, 3 * maxProblems, "open"},
		"more than fit":          {maxProblems + 2, 0, "open (and 2 more)"},
		"more than fit, of both": {maxProblems + 2, maxProblems + 5, "open (and 2 more)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var list Problems
			for range c.secret {
				list.add(Problem{Message: "secret", Secret: true})
			}
			for range c.open {
				list.add(Problem{Message: "open"})
			}
			open, last := 0, ""
			for _, problem := range list.All() {
				if !problem.Secret {
					open, last = open+1, problem.Message
				}
			}
			if diff := cmp.Diff([]any{min(c.open, maxProblems), c.last}, []any{open, last}); diff != "" {
				t.Errorf("open problems and the last one (-want +got)\n%s", diff)
			}
		})
	}
}
