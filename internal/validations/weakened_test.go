package validations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

// gate returns a ValidationPolicy that lists validations: NAME, or NAME=DURATION for one with an expiry.
func gate(name string, lists ...string) Policy {
	var items []string
	for _, item := range lists {
		validation, after, expires := strings.Cut(item, "=")
		text := fmt.Sprintf(`{"name":%q}`, validation)
		if expires {
			text = fmt.Sprintf(`{"name":%q,"expiresAfter":%q}`, validation, after)
		}
		items = append(items, text)
	}
	id := document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: name}
	return ParsePolicy(id, []byte(`{"validations":[`+strings.Join(items, ",")+`]}`), false)
}

// approved returns a ValidationPolicy that needs approvals of the validation x.
func approved(name string, approvals int) Policy {
	id := document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: name}
	return ParsePolicy(id, fmt.Appendf(nil, `{"validations":[{"name":"x","approvals":%d}]}`, approvals), false)
}

func TestWeakened(t *testing.T) {
	t.Parallel()
	some := func(policies ...Policy) []Policy { return policies }
	var many, gone []string
	for i := range 30 {
		name := fmt.Sprintf("v%02d", i)
		if many = append(many, name); i < 19 {
			gone = append(gone, "No ValidationPolicy requires "+name+" any more")
		}
	}
	for name, c := range map[string]struct {
		before, after []Policy
		want          []string
	}{
		"none":           {},
		"the same":       {some(gate("a", "x=P1D")), some(gate("a", "x=P1D")), nil},
		"its alias":      {some(gate("a", SchemaValidation)), some(gate("a", SchemaValidationAlias)), nil},
		"of an alias":    {some(gate("a", SchemaValidationAlias)), some(gate("a", SchemaValidation)), nil},
		"a new one":      {nil, some(gate("a", "x")), nil},
		"more":           {some(gate("a", "x")), some(gate("a", "x=P1D", "y")), nil},
		"other words":    {some(gate("a", "x=P1D")), some(gate("a", "x=PT24H")), nil},
		"stricter":       {some(gate("a", "x=P2D")), some(gate("a", "x=P1D")), nil},
		"listed by both": {some(gate("a", "x=P1D"), gate("b", "x")), some(gate("a", "x=P1D"), gate("b", "y")), nil},
		"it is broken":   {some(gate("a", "x=P1D")), some(gate("a", "x=P1D", "y=1 day")), nil},
		"deleted": {some(gate("a", "x", "y")), nil, []string{
			"The ValidationPolicy a no longer applies", "No ValidationPolicy requires x any more",
			"No ValidationPolicy requires y any more",
		}},
		"deleted, and another requires the same": {some(gate("a", "x"), gate("b", "x")), some(gate("b", "x")), []string{
			"The ValidationPolicy a no longer applies",
		}},
		"a validation is removed": {some(gate("a", "x", "y")), some(gate("a", "y")), []string{
			"No ValidationPolicy requires x any more",
		}},
		"later": {some(gate("a", "x=P1D")), some(gate("a", "x=P7D")), []string{
			"Results of x expire after P7D, not after P1D any more",
		}},
		"never": {some(gate("a", "x=P1D", "y")), some(gate("a", "x", "y")), []string{
			"Results of x do not expire any more; they did after P1D",
		}},
		"the server's own, which do not expire": {
			some(gate("a", SchemaValidation+"=P1D")), some(gate("a", SchemaValidation)), nil,
		},
		"the stricter one is removed": {
			some(gate("a", "x=P1D"), gate("b", "x=P7D")), some(gate("b", "x=P7D")), []string{
				"The ValidationPolicy a no longer applies", "Results of x expire after P7D, not after P1D any more",
			},
		},
		"fewer approvals": {some(approved("a", 3), approved("b", 1)), some(approved("a", 2), approved("b", 2)), []string{
			"x needs 2 approvals, not 3 any more",
		}},
		"no approvals":   {some(approved("a", 1)), some(gate("a", "x")), []string{"x needs 0 approvals, not 1 any more"}},
		"more approvals": {some(gate("a", "x")), some(approved("a", 2)), nil},
		"many":           {some(gate("a", many...)), some(gate("a", "y")), append(gone, "Policies are weakened in 11 more ways")},
	} {
		if diff := cmp.Diff(c.want, Weakened(c.before, c.after)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestJudge_notice(t *testing.T) {
	t.Parallel()
	own := []string{SchemaValidation}
	for name, c := range map[string]struct {
		policies []Policy
		defaults []string
		posted   []string
		want     string
	}{
		"a policy":    {[]Policy{gate("a", "x")}, own, nil, ""},
		"none":        {nil, own, nil, "There is no ValidationPolicy: only the server's own checks counted"},
		"posted ones": {nil, own, []string{"x"}, "There is no ValidationPolicy: only the server's own checks and posted results counted"},
		"in Deckhand": {nil, nil, nil, ""},
		"no defaults": {nil, []string{}, nil, "There is no ValidationPolicy: no check counted"},
		"only posted": {nil, []string{}, []string{"x"}, "There is no ValidationPolicy: only posted results counted"},
	} {
		outcomes := []Outcome{{Name: SchemaValidation}}
		for _, posted := range c.posted {
			outcomes = append(outcomes, Outcome{Name: posted})
		}
		if got := Decide(c.policies, c.defaults, Known{Outcomes: outcomes}, outcomes[0].At).Notice; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A validation is required less firmly if it becomes advisory, gets a condition or needs fewer approvals, in all policies.
func TestWeakened_demands(t *testing.T) {
	t.Parallel()
	const when, other = "{name: x-validation, when: {schemas: [a, b]}}", "{name: x-validation, when: {schemas: [a]}}"
	const always, advisory = "{name: x-validation}", "{name: x-validation, advisory: true}"
	const broken = "The ValidationPolicy p violates its schema, so it fails: the findings say where"
	approvals := func(n int) string { return fmt.Sprintf("{name: x-validation, approvals: %d}", n) }
	for name, c := range map[string]struct{ before, after, want string }{
		"the same condition":             {when, "{name: x-validation, when: {schemas: [b, a]}}", ""},
		"a condition":                    {always, when, "Only revisions with certain documents require x-validation: it has a condition"},
		"a condition in one policy":      {always, always + ", " + when, ""},
		"another condition":              {when, other, "Other revisions than before require x-validation: it has another condition"},
		"one more condition":             {when, when + ", " + other, "Other revisions than before require x-validation: it has another condition"},
		"no condition any more":          {when, always, ""},
		"advisory":                       {always, advisory, "Failures of x-validation only make warnings: it is advisory"},
		"advisory in one policy":         {always, always + ", " + advisory, ""},
		"not advisory any more":          {advisory, when, ""},
		"fewer approvals":                {approvals(3), approvals(1), "x-validation needs 1 approval, not 3 any more"},
		"no approvals":                   {approvals(2), always, "x-validation needs 0 approvals, not 2 any more"},
		"more approvals":                 {approvals(2), approvals(3), ""},
		"approvals in one policy":        {approvals(2), always + ", " + approvals(2), ""},
		"advisory approvals":             {approvals(2), "{name: x-validation, approvals: 2, advisory: true}, " + always, "x-validation needs 0 approvals, not 2 any more"},
		"a broken condition":             {always, "{name: x-validation, when: {}}", broken + "; No ValidationPolicy requires x-validation any more"},
		"a broken condition as before":   {"{name: y-validation, when: {}}, " + always, "{name: y-validation, when: {}}", "No ValidationPolicy requires x-validation any more"},
		"a condition and less approvals": {approvals(2), when, "Only revisions with certain documents require x-validation: it has a condition; x-validation needs 0 approvals, not 2 any more"},
	} {
		before, after := policy(t, "p", "validations: ["+c.before+"]"), policy(t, "p", "validations: ["+c.after+"]")
		got := strings.Join(Weakened([]Policy{before}, []Policy{after}), "; ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
