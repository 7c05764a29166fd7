package validations

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/document"
)

func policy(t *testing.T, name, data string) Policy {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(data), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return ParsePolicy(document.Identity{Schema: "deckhand/ValidationPolicy/v1", Name: name},
		document.AppendJSON(nil, value), false)
}

// described writes a verdict as "status; policy status name=status …; ignored …; reported …".
func described(v Verdict) string {
	parts := []string{v.Status.String()}
	for _, p := range v.Policies {
		parts = append(parts, judgedWords(p.Policy.Name+" "+p.Status.String(), p.Validations))
	}
	if v.Ignored != nil {
		parts = append(parts, judgedWords("ignored", v.Ignored))
	}
	if v.Reported != nil {
		parts = append(parts, judgedWords("reported", v.Reported))
	}
	return strings.Join(parts, "; ")
}

func judgedWords(title string, all []Judged) string {
	list := []string{title}
	for _, j := range all {
		list = append(list, j.Name+"="+j.Status.String())
	}
	return strings.Join(list, " ")
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	own := Outcome{Name: SchemaValidation, At: now.Add(-1000 * time.Hour)}
	external := func(name string, status Status, age time.Duration) Outcome {
		return Outcome{Name: name, Status: status, At: now.Add(-age)}
	}
	const ready = "validations: [{name: deckhand-schema-validation}, {name: x-validation, expiresAfter: PT1H}]"
	for name, c := range map[string]struct {
		policies map[string]string
		outcomes []Outcome
		want     string
	}{
		"no policy, all well":     {nil, []Outcome{own, external("x-validation", Success, 0)}, "success; reported deckhand-schema-validation=success x-validation=success"},
		"no policy, one failure":  {nil, []Outcome{own, external("x-validation", Failure, 0)}, "failure; reported deckhand-schema-validation=success x-validation=failure"},
		"met":                     {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Success, 0)}, "success; p success deckhand-schema-validation=success x-validation=success"},
		"missing":                 {map[string]string{"p": ready}, []Outcome{own}, "failure; p failure deckhand-schema-validation=success x-validation=missing"},
		"failed":                  {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Failure, 0)}, "failure; p failure deckhand-schema-validation=success x-validation=failure"},
		"old enough to be good":   {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Success, time.Hour)}, "success; p success deckhand-schema-validation=success x-validation=success"},
		"too old":                 {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Success, time.Hour+1)}, "failure; p failure deckhand-schema-validation=success x-validation=expired"},
		"an old failure":          {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Failure, 9*time.Hour)}, "failure; p failure deckhand-schema-validation=success x-validation=failure"},
		"extra":                   {map[string]string{"p": ready}, []Outcome{own, external("x-validation", Success, 0), external("y-validation", Failure, 0)}, "success; p success deckhand-schema-validation=success x-validation=success; ignored y-validation=failure"},
		"its own is extra":        {map[string]string{"p": "validations: []"}, []Outcome{own}, "success; p success; ignored deckhand-schema-validation=success"},
		"the other name":          {map[string]string{"p": "validations: [{name: deckhand-document-schema-validation}]"}, []Outcome{own}, "success; p success deckhand-document-schema-validation=success; ignored deckhand-schema-validation=success"},
		"its own does not expire": {map[string]string{"p": "validations: [{name: deckhand-schema-validation, expiresAfter: PT1S}]"}, []Outcome{own}, "success; p success deckhand-schema-validation=success"},
		"broken, no list":         {map[string]string{"p": "validations: 5"}, []Outcome{own}, "failure; p failure; ignored deckhand-schema-validation=success"},
		"broken duration":         {map[string]string{"p": "validations: [{name: x-validation, expiresAfter: soon}]"}, []Outcome{own, external("x-validation", Success, 0)}, "failure; p failure; ignored deckhand-schema-validation=success x-validation=success"},
		"not built":               {map[string]string{"p": "validations: [{name: deckhand-policy-validation}]"}, []Outcome{own}, "failure; p failure deckhand-policy-validation=missing; ignored deckhand-schema-validation=success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var policies []Policy
			for name, data := range c.policies {
				policies = append(policies, policy(t, name, data))
			}
			if diff := cmp.Diff(c.want, described(Decide(policies, DefaultValidations(), Known{Outcomes: c.outcomes}, now))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Approvals are counted by users: the newest that are needed must be young enough, and a failure of one is a rejection.
func TestDecide_approvals(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	yes := func(user string, age time.Duration) Vote { return Vote{User: user, At: now.Add(-age)} }
	no := func(user, message string) Vote { return Vote{User: user, At: now, Failed: true, Message: message} }
	for name, c := range map[string]struct {
		votes []Vote
		want  string // with when it expires
	}{
		"none":              {nil, "missing: 0 of 2 approvals"},
		"one":               {[]Vote{yes("anna", 0)}, "missing: 1 of 2 approvals, by anna"},
		"one without name":  {[]Vote{yes("", 0)}, "missing: 1 of 2 approvals"},
		"enough":            {[]Vote{yes("anna", time.Minute), yes("bob", time.Hour)}, "success, until 12:00"},
		"more":              {[]Vote{yes("anna", time.Minute), yes("", 10*time.Minute), yes("bob", 9*time.Hour)}, "success, until 12:50"},
		"one is too old":    {[]Vote{yes("anna", time.Minute), yes("bob", time.Hour+1)}, "expired"},
		"a rejection":       {[]Vote{no("bob", "bad rack"), yes("anna", 0), yes("carl", 0)}, "failure: rejected by bob: bad rack"},
		"without a reason":  {[]Vote{no("bob", "")}, "failure: rejected by bob"},
		"of nobody we know": {[]Vote{no("", "bad rack")}, "failure: bad rack"},
	} {
		known := Known{
			Outcomes: []Outcome{{Name: "x-validation", At: now}}, Votes: map[string][]Vote{"x-validation": c.votes},
		}
		verdict := Decide([]Policy{policy(t, "p", "validations: [{name: x-validation, approvals: 2, expiresAfter: PT1H}]")}, nil, known, now)
		judged := verdict.Policies[0].Validations[0]
		got := judged.Status.String()
		if judged.Message != "" {
			got += ": " + judged.Message
		}
		if !judged.Until.IsZero() {
			got += ", until " + judged.Until.Format("15:04")
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Every policy must be met; a validation that any of them lists is not ignored.
func TestJudge_severalPolicies(t *testing.T) {
	t.Parallel()
	policies := []Policy{
		policy(t, "a", "validations: [{name: x-validation}]"),
		policy(t, "b", "validations: [{name: x-validation, expiresAfter: P1D}, {name: y-verification}]"),
	}
	now := time.Now()
	outcomes := []Outcome{{Name: "x-validation", At: now.Add(-48 * time.Hour)}, {Name: "y-verification", At: now}}
	want := "failure; a success x-validation=success; b failure x-validation=expired y-verification=success"
	if diff := cmp.Diff(want, described(Decide(policies, DefaultValidations(), Known{Outcomes: outcomes}, now))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A verdict that requires a result nobody may post cannot become a success by waiting, and suggests a similar name.
func TestVerdict_Pending(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pending  bool
		obstacle string
	}{
		"site-validation":             {true, "site-validation: missing (policy p)"},
		"deckhand-policy-validation":  {false, "deckhand-policy-validation: missing (policy p)"},
		"deckhand-site-validation":    {false, "deckhand-site-validation: missing (policy p): the server makes no such validation, and others cannot post one of this name; did you mean deckhand-schema-validation?"},
		"purser-coverag-validation":   {false, "purser-coverag-validation: missing (policy p): the server makes no such validation, and others cannot post one of this name; did you mean purser-coverage-validation?"},
		"murano-package-verification": {true, "murano-package-verification: missing (policy p)"},
	} {
		verdict := Decide([]Policy{policy(t, "p", "validations: [{name: "+name+"}]")}, DefaultValidations(), Known{}, time.Now())
		if diff := cmp.Diff([]string{c.obstacle}, verdict.Obstacles(nil)); diff != "" || verdict.Pending() != c.pending {
			t.Errorf("%s: pending %v, want %v; obstacles (-want +got)\n%s", name, verdict.Pending(), c.pending, diff)
		}
	}
}

// A reason that several of the server's own validations have is given once. Those of other services are their own.
func TestVerdict_Obstacles_same(t *testing.T) {
	t.Parallel()
	failed := func(name, message string) Outcome { return Outcome{Name: name, Status: Failure, Message: message} }
	outcomes := []Outcome{
		failed("a-validation", "timeout"), failed("b-validation", "timeout"), failed("c-validation", "no policy"),
		failed(PolicyValidation, "no policy"), failed(RenderingValidation, "no policy"), failed(SchemaValidation, "99"),
	}
	verdict := Decide(nil, DefaultValidations(), Known{Outcomes: outcomes}, time.Now())
	want := []string{
		"a-validation: failure: timeout", "b-validation: failure: timeout", "c-validation: failure: no policy",
		PolicyValidation + ": failure: no policy", RenderingValidation + ": failure: the same as " + PolicyValidation,
		SchemaValidation + ": failure: 99",
	}
	if diff := cmp.Diff(want, verdict.Obstacles(nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	policies := []Policy{policy(t, "p", "validations: [{name: "+RenderingValidation+"}, {name: "+PolicyValidation+"}]")}
	want = []string{
		RenderingValidation + ": failure (policy p): no policy", PolicyValidation + ": failure (policy p): the same as " + RenderingValidation,
	}
	if diff := cmp.Diff(want, Decide(policies, nil, Known{Outcomes: outcomes}, time.Now()).Obstacles(nil)); diff != "" {
		t.Errorf("of a policy (-want +got)\n%s", diff)
	}
	want = []string{RenderingValidation + ": failure (policy p)", PolicyValidation + ": failure (policy p)"}
	if diff := cmp.Diff(want, Decide(policies, nil, Known{Outcomes: outcomes}, time.Now()).Obstacles(map[string]bool{"no policy": true})); diff != "" {
		t.Errorf("shown elsewhere (-want +got)\n%s", diff)
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	entries := []Entry{
		{ID: 7, Name: SchemaValidation, Status: "success", CreatedAt: at},
		{ID: 8, Name: "x-validation", Status: "success", CreatedAt: at},
		{ID: 9, Name: "y-validation", Status: "failure", CreatedAt: at},
		{ID: 10, Name: "w-validation", Status: "success", CreatedAt: at},
		{ID: 11, Name: "w-validation", Status: "failure", CreatedAt: at},
		{Name: "x-validation", Status: "failure"}, // never posted
	}
	policies := []Policy{
		policy(t, "a", "validations: [{name: x-validation, expiresAfter: P1D}, {name: deckhand-schema-validation}]"),
		policy(t, "b", "validations: [{name: x-validation, expiresAfter: PT1H}, {name: z-validation}]"),
	}
	got := Overlay(policies, entries)
	explanation := func(name, names string) string {
		return `{"message":"The result for this validation was externally registered but has been ignored because it is ` +
			`not found in the validations for ValidationPolicy [deckhand/ValidationPolicy/v1, None] ` + name + `: ` + names + `."}`
	}
	want := []Entry{
		{ID: 7, Name: SchemaValidation, Status: "success", CreatedAt: at},
		{ID: 8, Name: "x-validation", Status: "success", CreatedAt: at, ExpiresAfter: "PT1H", ExpiresAt: at.Add(time.Hour)},
		{ID: 9, Name: "y-validation", Status: "ignored [failure]", CreatedAt: at},
		{ID: 10, Name: "w-validation", Status: "ignored [success]", CreatedAt: at},
		{ID: 11, Name: "w-validation", Status: "ignored [failure]", CreatedAt: at},
		{Name: "x-validation", Status: "failure", ExpiresAfter: "PT1H"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Entry{}, "Errors")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var errs []string
	for _, entry := range got {
		for _, item := range entry.Errors {
			errs = append(errs, string(item))
		}
	}
	again := `{"message":"The result for this validation has been ignored, for the reasons given in entry 9 of this list."}`
	wantErrs := []string{
		explanation("a", "x-validation, deckhand-schema-validation"), explanation("b", "x-validation, z-validation"),
		again, again,
	}
	if diff := cmp.Diff(wantErrs, errs); diff != "" {
		t.Errorf("errors (-want +got)\n%s", diff)
	}
}

func TestUnreported(t *testing.T) {
	t.Parallel()
	policies := []Policy{
		policy(t, "a", "validations: [{name: z-validation}, {name: x-validation}]"),
		policy(t, "b", "validations: [{name: x-validation}, {name: a-validation}]"),
	}
	got := Unreported(policies, map[string]bool{"x-validation": true, "other": true})
	if diff := cmp.Diff([]string{"a-validation", "z-validation"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	policies := []Policy{policy(t, "a", "validations: [{name: x-validation}, {name: z-validation}]")}
	worst := map[string]string{"x-validation": "failure", "y-validation": "success"}
	want := []Summary{{"x-validation", "failure"}, {"y-validation", "ignored [success]"}, {"z-validation", "failure"}}
	if diff := cmp.Diff(want, Summarize(policies, worst)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Of several outcomes of one name the last one counts, and the verdict lists validations by name.
func TestJudge_order(t *testing.T) {
	t.Parallel()
	verdict := Decide(nil, DefaultValidations(), Known{Outcomes: []Outcome{
		{Name: "c", Status: Failure}, {Name: "a"}, {Name: CoverageValidation, Status: Failure}, {Name: "c"}, {Name: "b", Status: Failure},
	}}, time.Time{})
	want := Verdict{
		Status: Failure, Reported: []Judged{{Name: "a"}, {Name: "b", Status: Failure}, {Name: "c"}},
		Ignored: []Judged{{Name: CoverageValidation, Status: Failure}}, Notice: verdict.Notice,
	}
	if diff := cmp.Diff(want, verdict, cmpopts.IgnoreFields(Judged{}, "Result")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The verdict on many results, which come in the order of their names, takes a few allocations.
func TestJudge_many(t *testing.T) { //nolint:paralleltest // it counts allocations
	outcomes := make([]Outcome, 1000, 1001)
	for i := range outcomes {
		outcomes[i].Name = fmt.Sprintf("validation-%04d", i)
	}
	outcomes = append(outcomes, Outcome{Name: SchemaValidation})
	if n := testing.AllocsPerRun(10, func() { Decide(nil, DefaultValidations(), Known{Outcomes: outcomes}, time.Time{}) }); n > 5 {
		t.Errorf("%v allocations", n)
	}
}

// What a requirement may say beside success, failure, missing and expired, and what each does to the verdict.
func TestDecide_requirements(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(age time.Duration) time.Time { return now.Add(-age) }
	outcome := func(status Status, age time.Duration) []Outcome {
		return []Outcome{{Name: "x-validation", Status: status, At: ago(age), Message: "no host"}}
	}
	votes := func(list ...Vote) map[string][]Vote { return map[string][]Vote{"x-validation": list} }
	waiver := func(name string, left time.Duration) Waiver {
		return Waiver{Validation: name, By: "anna", Reason: "new\nhost", Until: now.Add(left)}
	}
	claims := map[string]Claim{"x-validation": {Worker: "w-7", Since: ago(time.Minute), Attempt: 1}}
	const when = "{name: x-validation, when: {schemas: [a]}}"
	for name, c := range map[string]struct {
		policy string
		not    []int // positions of requirements that do not apply
		known  Known
		status Status
		says   []string // obstacles, advice and concessions
		open   []string
		next   time.Duration // when it changes by itself; 0 if it does not
	}{
		"it does not apply":                 {policy: when, not: []int{0}},
		"it does not apply, and has failed": {policy: when, not: []int{0}, known: Known{Outcomes: outcome(Failure, 0)}},
		"it applies": {
			policy: when, status: Failure, says: []string{"x-validation: missing (policy p)"}, open: []string{"x-validation"},
		},
		"another one does not apply": {
			policy: "{name: x-validation}, " + when, not: []int{1}, status: Failure,
			says: []string{"x-validation: missing (policy p)"}, open: []string{"x-validation"},
		},
		"a position of one without a condition": {
			policy: "{name: x-validation}", not: []int{0}, status: Failure,
			says: []string{"x-validation: missing (policy p)"}, open: []string{"x-validation"},
		},
		"advisory and missing": {
			policy: "{name: x-validation, advisory: true}", says: []string{"x-validation: missing (policy p, advisory)"},
			open: []string{"x-validation"},
		},
		"advisory and failed": {
			policy: "{name: x-validation, advisory: true}", known: Known{Outcomes: outcome(Failure, 0)},
			says: []string{"x-validation: failure (policy p, advisory): no host"},
		},
		"claimed": {
			policy: "{name: x-validation}", known: Known{Claims: claims}, status: Failure, open: []string{"x-validation"},
			says: []string{"x-validation: missing (policy p): claimed by w-7 since 11:59:00"},
		},
		"claimed, but posted": {policy: "{name: x-validation}", known: Known{Claims: claims, Outcomes: outcome(Success, 0)}},
		"no approvals": {
			policy: "{name: x-validation, approvals: 2}", status: Failure, known: Known{Outcomes: outcome(Success, 0)},
			says: []string{"x-validation: missing (policy p): 0 of 2 approvals"},
		},
		"too few approvals": {
			policy: "{name: x-validation, approvals: 2}", status: Failure, known: Known{Votes: votes(Vote{User: "anna"})},
			says: []string{"x-validation: missing (policy p): 1 of 2 approvals, by anna"},
		},
		"approved": {
			policy: "{name: x-validation, approvals: 2}", known: Known{Votes: votes(Vote{User: "anna"}, Vote{User: "bob"})},
		},
		"approved until the second approval expires": {
			policy: "{name: x-validation, approvals: 2, expiresAfter: PT1H}", next: 20 * time.Minute,
			known: Known{Votes: votes(Vote{At: ago(time.Minute)}, Vote{At: ago(40 * time.Minute)}, Vote{At: ago(50 * time.Minute)})},
		},
		"an approval that has expired": {
			policy: "{name: x-validation, approvals: 2, expiresAfter: PT1H}", status: Failure,
			known: Known{Votes: votes(Vote{At: now}, Vote{At: ago(2 * time.Hour)})},
			says:  []string{"x-validation: expired (policy p)"},
		},
		"rejected": {
			policy: "{name: x-validation, approvals: 1}", status: Failure,
			known: Known{Votes: votes(Vote{User: "bob", Failed: true, Message: "no"}, Vote{User: "anna"})},
			says:  []string{"x-validation: failure (policy p): rejected by bob: no"},
		},
		"approvals of the server's own": {policy: "{name: " + SchemaValidation + ", approvals: 2}"},
		"waived": {
			policy: "{name: x-validation}", known: Known{Waivers: []Waiver{waiver("x-validation", time.Hour)}},
			says: []string{"x-validation: missing, waived by anna until 2026-11-21 13:00:00: new host"}, next: time.Hour,
			open: []string{"x-validation"},
		},
		"waived in two policies' words": {
			policy: "{name: x-validation}, {name: x-validation, expiresAfter: P1D}", next: time.Hour,
			known: Known{Waivers: []Waiver{waiver("x-validation", time.Hour)}, Outcomes: outcome(Failure, 0)},
			says:  []string{"x-validation: failure, waived by anna until 2026-11-21 13:00:00: new host"},
		},
		"the newest waiver counts": {
			policy: "{name: x-validation}", next: time.Minute, open: []string{"x-validation"},
			known: Known{Waivers: []Waiver{waiver("x-validation", time.Hour), waiver("x-validation", time.Minute)}},
			says:  []string{"x-validation: missing, waived by anna until 2026-11-21 12:01:00: new host"},
		},
		"a waiver that has ended": {
			policy: "{name: x-validation}", known: Known{Waivers: []Waiver{waiver("x-validation", 0)}}, status: Failure,
			says: []string{"x-validation: missing (policy p)"}, open: []string{"x-validation"},
		},
		"a waiver of what succeeds": {
			policy: "{name: x-validation, expiresAfter: P1D}", next: 24 * time.Hour,
			known: Known{Waivers: []Waiver{waiver("x-validation", time.Hour)}, Outcomes: outcome(Success, 0)},
		},
		"a waiver of the server's own": {
			policy: "{name: " + PolicyValidation + "}", known: Known{Waivers: []Waiver{waiver(PolicyValidation, time.Hour)}},
			status: Failure, says: []string{PolicyValidation + ": missing (policy p)"},
		},
		"advisory and waived": {
			policy: "{name: x-validation, advisory: true}", next: time.Hour, open: []string{"x-validation"},
			known: Known{Waivers: []Waiver{waiver("x-validation", time.Hour)}},
			says:  []string{"x-validation: missing, waived by anna until 2026-11-21 13:00:00: new host"},
		},
		"missing beside a failure": {
			policy: "{name: x-validation}, {name: y-validation}", known: Known{Outcomes: outcome(Failure, 0)}, status: Failure,
			says: []string{"x-validation: failure (policy p): no host", "y-validation: missing (policy p)"},
		},
		"missing beside an advisory failure": {
			policy: "{name: x-validation, advisory: true}, {name: y-validation}", known: Known{Outcomes: outcome(Failure, 0)},
			status: Failure, open: []string{"y-validation"},
			says: []string{"y-validation: missing (policy p)", "x-validation: failure (policy p, advisory): no host"},
		},
		"expired beside an expiry": {
			policy: "{name: x-validation, expiresAfter: PT1H}, {name: x-validation, expiresAfter: PT3H}", status: Failure,
			known: Known{Outcomes: outcome(Success, 2*time.Hour)}, next: time.Hour,
			says: []string{"x-validation: expired (policy p)"}, open: []string{"x-validation"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.known.Outcomes = append(c.known.Outcomes, Outcome{Name: SchemaValidation, At: now})
			policies := Applied([]Policy{policy(t, "p", "validations: ["+c.policy+"]")}, c.not)
			verdict := Decide(policies, DefaultValidations(), c.known, now)
			says := append(append(verdict.Obstacles(nil), verdict.Advice()...), verdict.Concessions()...)
			if diff := cmp.Diff(c.says, says); diff != "" || verdict.Status != c.status {
				t.Errorf("%v, want %v; it says (-want +got)\n%s", verdict.Status, c.status, diff)
			}
			if diff := cmp.Diff(c.open, verdict.Open()); diff != "" {
				t.Errorf("open (-want +got)\n%s", diff)
			}
			at, changes := verdict.NextChange()
			if changes != (c.next > 0) || changes && !at.Equal(now.Add(c.next)) {
				t.Errorf("it changes: %v at %v, want after %v", changes, at, c.next)
			}
			if warned := verdict.WithAdvice().Warnings; len(warned) != len(verdict.Advice()) {
				t.Errorf("warnings: %v", warned)
			}
		})
	}
}

// The word for a validation is the worst of all policies that need it.
func TestVerdict_Statuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	posted := []Outcome{{Name: "x-validation", At: now}}
	const off, approved = "{name: x-validation, when: {schemas: [a]}}", "{name: x-validation, approvals: 2}"
	for name, c := range map[string]struct {
		policy   string
		outcomes []Outcome
		want     map[string]string
	}{
		"it does not apply":              {off, posted, map[string]string{"x-validation": "not-applicable"}},
		"in one policy, else success":    {off + ", {name: x-validation}", posted, map[string]string{"x-validation": "success"}},
		"in one policy, else missing":    {off + ", {name: x-validation}", nil, map[string]string{}},
		"a success but for an approval":  {off + ", {name: x-validation}, " + approved, posted, map[string]string{}},
		"an approval missing, else none": {approved, posted, map[string]string{}},
	} {
		policies := Applied([]Policy{policy(t, "p", "validations: ["+c.policy+"]")}, []int{0})
		got := Decide(policies, nil, Known{Outcomes: c.outcomes}, now).Statuses()
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Positions of requirements count through all policies.
func TestInapplicable(t *testing.T) {
	t.Parallel()
	policies := []Policy{
		policy(t, "a", "validations: [{name: x-validation}, {name: y-validation, when: {schemas: [a]}}]"),
		policy(t, "b", "validations: [{name: x-validation, when: {schemas: [b]}}, {name: z-validation, when: {schemas: [a]}}]"),
	}
	positions := Inapplicable(policies, func(s Selection) bool { return s.Schemas[0] == "b" })
	if diff := cmp.Diff([]int{1, 3}, positions); diff != "" || !Conditional(policies) || Conditional(nil) {
		t.Errorf("positions (-want +got)\n%s", diff)
	}
	var marked []string
	for _, p := range Applied(policies, positions) {
		for _, r := range p.Requirements {
			marked = append(marked, fmt.Sprint(p.Name, " ", r.Name, " ", r.Inapplicable))
		}
	}
	want := []string{"a x-validation false", "a y-validation true", "b x-validation false", "b z-validation true"}
	if diff := cmp.Diff(want, marked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if policies[0].Requirements[1].Inapplicable {
		t.Error("the policies, which others share, were modified")
	}
}
