package wire

import "testing"

func TestVerdict_Final(t *testing.T) {
	t.Parallel()
	of := func(status string, validations ...Validation) Policy {
		return Policy{Name: "p", Status: status, Validations: validations}
	}
	missing, good := Validation{Name: "v", Status: "missing"}, Validation{Name: "w", Status: success}
	for name, test := range map[string]struct {
		policies []Policy
		final    bool
	}{
		"missing":                             {[]Policy{of("failure", missing)}, false},
		"missing, of the server":              {[]Policy{of("failure", Validation{Name: "deckhand-v", Status: "missing"})}, true},
		"missing, reserved":                   {[]Policy{of("failure", Validation{Name: "purser-v", Status: "missing"})}, true},
		"expired":                             {[]Policy{of("failure", Validation{Name: "v", Status: "expired"})}, false},
		"a broken policy":                     {[]Policy{of("failure", good)}, true},
		"a broken policy and missing":         {[]Policy{of("failure"), of("failure", missing)}, true},
		"expired, but waived":                 {[]Policy{of(success, Validation{Name: "v", Status: "expired", Waived: &Waived{}})}, true},
		"missing, and another advisory":       {[]Policy{of("failure", missing, Validation{Name: "x", Status: "failure", Advisory: true})}, false},
		"missing, and another does not apply": {[]Policy{of("failure", missing, Validation{Name: "x", Status: "not-applicable"})}, false},
		"a broken policy of advice":           {[]Policy{of("failure", Validation{Name: "x", Status: "failure", Advisory: true})}, true},
		"a policy of nothing, and missing":    {[]Policy{of(success), of("failure", missing)}, false},
	} {
		verdict := Verdict{Status: "failure", Policies: test.policies}
		if verdict.Final() != test.final {
			t.Errorf("%s: final %v, want %v", name, !test.final, test.final)
		}
	}
}
