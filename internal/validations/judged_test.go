package validations

import (
	"testing"
	"time"
)

// A result is beside a status that leaves something out.
func TestJudged_ResultTells(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		judged Judged
		want   bool
	}{
		"no result":              {Judged{Status: Missing}, false},
		"a success":              {Judged{Result: &Outcome{At: now, User: "anna"}}, false},
		"a failure":              {Judged{Status: Failure, Result: &Outcome{Status: Failure, Message: "no host"}}, false},
		"a success that expires": {Judged{Until: now, Result: &Outcome{}}, true},
		"an expired success":     {Judged{Status: Expired, Result: &Outcome{}}, true},
		"too few approvals":      {Judged{Status: Missing, Result: &Outcome{}}, true},
		"it does not apply":      {Judged{Status: NotApplicable, Result: &Outcome{}}, true},
		"another user rejects":   {Judged{Status: Failure, Result: &Outcome{}}, true},
		"carried over":           {Judged{Result: &Outcome{CarriedFrom: 3}}, true},
		"with inputs":            {Judged{Result: &Outcome{Inputs: `{"schemas":["*"]}`}}, true},
		"with a page":            {Judged{Result: &Outcome{URL: "https://ci.example/1"}}, true},
		"the server's own":       {Judged{Name: SchemaValidation, Status: NotApplicable, Result: &Outcome{}}, false},
	} {
		if got := c.judged.ResultTells(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
