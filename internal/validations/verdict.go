package validations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The server's validation of documents against their schemas, and an alias of it.
const (
	SchemaValidation      = "deckhand-schema-validation"
	SchemaValidationAlias = "deckhand-document-schema-validation"
)

// The server's validations of a whole revision: that the parents and sources of documents exist, and that rendered
// documents conform to their schemas. They are performed if a ValidationPolicy lists them.
const (
	PolicyValidation    = "deckhand-policy-validation"
	RenderingValidation = "deckhand-rendering-validation"
)

// ReservedPrefix is the prefix of the names of the server's own validations.
const ReservedPrefix = "deckhand-"

// Status is the state of a validation, a policy or a revision.
type Status uint8

// The states. That of a revision or policy is either Success or Failure.
const (
	Success Status = iota
	Failure
	Missing // required, but never reported
	Expired // the success is older than the policy allows
	// NotApplicable means that the condition of the requirement selects no document. It counts as a success.
	NotApplicable
)

// String returns the word for the state in the API.
func (s Status) String() string {
	return [...]string{"success", "failure", "missing", "expired", "not-applicable"}[s]
}

// Outcome is the outcome of one validation of a revision: that of the latest posted result or, for one of the server's
// own validations, a failure if any entry failed.
type Outcome struct {
	Name    string
	Status  Status // Success or Failure
	At      time.Time
	Message string // the first message of a failure

	Validator   string // JSON text, as posted; "" if it is the server, or not known
	CarriedFrom int64  // as in Entry
	Inputs      string // the text of the Selection that it depends on; "" if it depends on the revision
	URL         string // of a page about the result; may be empty
	User        string // who posted it; "" if unknown
}

// PolicyVerdict is the verdict of one policy.
type PolicyVerdict struct {
	Policy      Policy
	Status      Status
	Validations []Judged
}

// Verdict is the verdict on a revision.
type Verdict struct {
	Status   Status
	Policies []PolicyVerdict
	// Ignored are the reported validations that do not count: those that no policy lists or, without policies, those of
	// the server's own that are not among the defaults.
	Ignored []Judged
	// Reported are all reported validations that count; empty if there are policies.
	Reported []Judged
	// Notice says what counted if no policy is in force; "" if one is, and in Deckhand, where nothing counts then.
	Notice string
	// Warnings are about likely mistakes that do not fail the revision.
	Warnings []string
}

// Names returns the names of all validations that may have findings, sorted: those in the verdict and the server's own.
func (v Verdict) Names() []string {
	names := slices.Concat(DefaultValidations(), Optional())
	for _, judged := range v.all() {
		names = append(names, judged.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ReportedNames returns the names of all reported validations in the verdict.
func (v Verdict) ReportedNames() (names []string) {
	for _, judged := range v.all() {
		if judged.Status != Missing && judged.Status != NotApplicable {
			names = append(names, judged.Name)
		}
	}
	return names
}

// Statuses returns the words success or failure for all reported validations, by name, and not-applicable for those
// that no policy needs. An expired success is a failure if one policy says so. Missing ones have no word.
func (v Verdict) Statuses() map[string]string {
	statuses, missing := map[string]string{}, map[string]bool{}
	for _, judged := range v.all() {
		known := statuses[judged.Name]
		switch {
		case judged.Status == Missing:
			missing[judged.Name] = true
		case judged.Status == NotApplicable:
			statuses[judged.Name] = cmp.Or(known, NotApplicable.String())
		case judged.Status != Success:
			statuses[judged.Name] = Failure.String()
		case known != Failure.String():
			statuses[judged.Name] = Success.String()
		}
	}
	for name := range missing { // in one policy, and perhaps a success in another one
		delete(statuses, name)
	}
	return statuses
}

// counted returns the validations that count, once for each policy that lists them.
func (v Verdict) counted() []Judged {
	counted := slices.Clone(v.Reported)
	for _, policy := range v.Policies {
		counted = append(counted, policy.Validations...)
	}
	return counted
}

// all returns the validations that count, and the others.
func (v Verdict) all() []Judged { return append(v.counted(), v.Ignored...) }

// Obstacles returns a line of text for each counting validation that fails the verdict, and for each broken policy. A
// line gives the reason, unless that is one of the messages shown elsewhere. Where several of the server's own
// validations have the same reason, only the line of the first one gives it, and those of the others name that one.
func (v Verdict) Obstacles(shown map[string]bool) (lines []string) {
	firsts := v.firsts()
	for _, policy := range v.Policies {
		if policy.Policy.Broken {
			lines = append(lines, policy.Policy.Name+": failure: the policy document is not a valid ValidationPolicy")
		}
		for _, judged := range policy.Validations {
			lines = judged.appendTo(lines, " (policy "+policy.Policy.Name+")", shown, firsts)
		}
	}
	for _, judged := range v.Reported {
		lines = judged.appendTo(lines, "", shown, firsts)
	}
	return lines
}

// firsts returns the first of the server's own failed validations for each reason.
func (v Verdict) firsts() map[string]string {
	firsts := map[string]string{}
	for _, judged := range v.counted() {
		if _, known := firsts[judged.Message]; !known && judged.Status == Failure && !judged.Passes() && IsOwn(judged.Name) {
			firsts[judged.Message] = judged.Name
		}
	}
	return firsts
}

// appendTo appends a line for a validation that fails the verdict.
func (j Judged) appendTo(lines []string, policy string, shown map[string]bool, firsts map[string]string) []string {
	if j.Passes() {
		return lines
	}
	line := j.Name + ": " + j.Status.String() + policy
	reason := j.Reason()
	switch first := firsts[reason]; {
	case reason == "" || shown[reason]:
	case first != "" && first != j.Name && IsOwn(j.Name):
		line += ": the same as " + first
	default:
		line += ": " + strings.ReplaceAll(reason, "\n", " ")
	}
	return append(lines, line)
}

// Waived returns the validations that pass because of waivers, once each.
func (v Verdict) Waived() (waived []Judged) {
	for _, judged := range v.counted() {
		same := func(other Judged) bool { return other.Name == judged.Name }
		if judged.Waiver != nil && !slices.ContainsFunc(waived, same) {
			waived = append(waived, judged)
		}
	}
	return waived
}

// Concessions returns a line of text for each validation that passes because of a waiver.
func (v Verdict) Concessions() (lines []string) {
	for _, judged := range v.Waived() {
		waiver := judged.Waiver
		lines = append(lines, fmt.Sprintf("%s: %s, waived by %s until %s: %s", judged.Name, judged.Status,
			cmp.Or(waiver.By, "an anonymous user"), waiver.Until.UTC().Format(time.DateTime),
			strings.ReplaceAll(waiver.Reason, "\n", " ")))
	}
	return lines
}

// WithAdvice returns the verdict with its Advice before the other warnings.
func (v Verdict) WithAdvice() Verdict {
	v.Warnings = append(v.Advice(), v.Warnings...)
	return v
}

// Advice returns a line of text for each advisory requirement that is neither a success nor waived.
func (v Verdict) Advice() (lines []string) {
	for _, policy := range v.Policies {
		for _, judged := range policy.Validations {
			if !judged.Advisory || judged.Holds() || judged.Waiver != nil {
				continue
			}
			line := judged.Name + ": " + judged.Status.String() + " (policy " + policy.Policy.Name + ", advisory)"
			if reason := judged.Reason(); reason != "" {
				line += ": " + strings.ReplaceAll(reason, "\n", " ")
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// Pending reports whether a failure may become a success without another change: the only obstacles are results that
// were never posted or have expired.
func (v Verdict) Pending() bool { return v.Status != Success && !v.failsForGood() }

// failsForGood reports whether something fails the verdict that posting missing results cannot mend.
func (v Verdict) failsForGood() bool {
	if slices.ContainsFunc(v.Policies, func(p PolicyVerdict) bool { return p.Policy.Broken }) {
		return true
	}
	return slices.ContainsFunc(v.counted(), func(j Judged) bool { return !j.Passes() && !j.lacks() })
}

// Open returns the names of the required validations whose results others have yet to post, in order: those that are
// missing or expired, unless something else fails for good.
func (v Verdict) Open() (names []string) {
	if v.failsForGood() {
		return nil
	}
	seen := map[string]bool{}
	for _, policy := range v.Policies {
		for _, judged := range policy.Validations {
			if judged.Approved { // people approve; no worker can
				continue
			}
			if judged.lacks() && CheckName(judged.Name, "") == nil && !seen[judged.Name] {
				seen[judged.Name] = true
				names = append(names, judged.Name)
			}
		}
	}
	return names
}

// NextChange returns when the verdict, or the work that is open, changes next without anything being done, because a
// success expires or a waiver ends; ok is false if that does not happen.
func (v Verdict) NextChange() (at time.Time, ok bool) {
	return v.firstEnd(func(Judged) bool { return true })
}

// HoldsUntil returns the last moment at which a success is one if nothing is done, because a result that it needs
// expires then or a waiver ends; ok is false if that does not happen.
func (v Verdict) HoldsUntil() (at time.Time, ok bool) {
	return v.firstEnd(func(judged Judged) bool { return !judged.Advisory })
}

// firstEnd returns the first time at which a success of one of some validations expires or a waiver of one ends.
func (v Verdict) firstEnd(of func(Judged) bool) (at time.Time, ok bool) {
	for _, policy := range v.Policies {
		for _, judged := range policy.Validations {
			end := judged.Until
			if judged.Waiver != nil {
				end = judged.Waiver.Until
			}
			if of(judged) && !end.IsZero() && (!ok || end.Before(at)) {
				at, ok = end, true
			}
		}
	}
	return at, ok
}

// Succeeded returns the names of the validations that count and are successes by themselves wherever they do, sorted.
func (v Verdict) Succeeded() (names []string) {
	fails := map[string]bool{}
	for _, judged := range v.counted() {
		switch {
		case judged.Status == Success:
			names = append(names, judged.Name)
		case !judged.Holds():
			fails[judged.Name] = true
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return fails[name] })
}

// DefaultValidations returns the server's own validations that count without a policy.
func DefaultValidations() []string {
	return []string{SchemaValidation, PolicyValidation, RenderingValidation}
}

// Decide returns the verdict on a revision at a time. All policies must succeed: a missing validation fails its
// policy, unless it does not apply, is advisory or is waived, and one that no policy lists is ignored. Without
// policies, all reported validations must have succeeded, but the server's own count only if they are in defaults;
// if defaults is nil, any revision is a success.
func Decide(policies []Policy, defaults []string, known Known, now time.Time) Verdict {
	reported := withAlias(policies, sorted(known.Outcomes))
	var verdict Verdict
	if len(policies) == 0 {
		verdict.Reported = make([]Judged, 0, len(reported))
		for _, judged := range judgeAll(reported) {
			if defaults != nil && IsOwn(judged.Name) && !slices.Contains(defaults, judged.Name) {
				verdict.Ignored = append(verdict.Ignored, judged)
			} else {
				verdict.Reported = append(verdict.Reported, judged)
			}
		}
		if defaults != nil {
			verdict.Status, verdict.Notice = worst(verdict.Reported), withoutPolicy(verdict.Reported)
		}
		return verdict
	}
	for _, policy := range policies {
		judged := judgePolicy(policy, reported, known, now)
		verdict.Policies = append(verdict.Policies, judged)
		if judged.Status != Success {
			verdict.Status = Failure
		}
	}
	required := map[string]bool{}
	for _, name := range Required(policies) {
		required[name] = true
	}
	verdict.Ignored = judgeAll(slices.DeleteFunc(reported, func(o Outcome) bool { return required[o.Name] }))
	return verdict
}

// withoutPolicy says what counted in a verdict without policies.
func withoutPolicy(counted []Judged) string {
	var own, posted bool
	for _, judged := range counted {
		own, posted = own || IsOwn(judged.Name), posted || !IsOwn(judged.Name)
	}
	what := "no check"
	switch {
	case own && posted:
		what = "only the server's own checks and posted results"
	case own:
		what = "only the server's own checks"
	case posted:
		what = "only posted results"
	}
	return "There is no ValidationPolicy: " + what + " counted"
}

// results are outcomes of different names, sorted by name.
type results []Outcome

// sorted returns the last outcome of each name. Outcomes that are nearly sorted already, as those that were read, are
// sorted in linear time.
func sorted(outcomes []Outcome) results {
	all := slices.Clone(outcomes)
	slices.SortStableFunc(all, func(a, b Outcome) int { return cmp.Compare(a.Name, b.Name) })
	kept := all[:0]
	for _, outcome := range all {
		if n := len(kept); n > 0 && kept[n-1].Name == outcome.Name {
			kept[n-1] = outcome
		} else {
			kept = append(kept, outcome)
		}
	}
	return kept
}

// named returns the outcome of a name, if there is one.
func (r results) named(name string) (Outcome, bool) {
	at, found := slices.BinarySearchFunc(r, name, func(o Outcome, name string) int { return cmp.Compare(o.Name, name) })
	if !found {
		return Outcome{}, false
	}
	return r[at], true
}

// withAlias adds the alias of the schema validation if a policy lists it.
func withAlias(policies []Policy, reported results) results {
	schema, ok := reported.named(SchemaValidation)
	if !ok || !slices.Contains(Required(policies), SchemaValidationAlias) {
		return reported
	}
	schema.Name = SchemaValidationAlias
	return sorted(append(reported, schema))
}

func judgePolicy(policy Policy, reported results, known Known, now time.Time) PolicyVerdict {
	verdict := PolicyVerdict{Policy: policy}
	for _, requirement := range policy.Requirements {
		var newest *Outcome
		if outcome, found := reported.named(requirement.Name); found {
			newest = &outcome
		}
		judged := requirement.judge(newest, known.Votes[requirement.Name], now)
		if claim, claimed := known.Claims[judged.Name]; claimed && judged.lacks() {
			judged.Claim = &claim
		}
		if !judged.Holds() {
			judged.Waiver = known.waiver(judged.Name, now)
		}
		verdict.Validations = append(verdict.Validations, judged)
	}
	if verdict.Status = worst(verdict.Validations); policy.Broken {
		verdict.Status = Failure
	}
	return verdict
}

func judgeAll(reported results) []Judged {
	if len(reported) == 0 {
		return nil
	}
	all := make([]Judged, 0, len(reported))
	for i := range reported {
		outcome := &reported[i]
		all = append(all, Judged{
			Name: outcome.Name, Status: outcome.Status, Message: outcome.Message, Result: outcome,
		})
	}
	return all
}

// worst returns Success if all pass, and Failure otherwise.
func worst(all []Judged) Status {
	if slices.ContainsFunc(all, func(j Judged) bool { return !j.Passes() }) {
		return Failure
	}
	return Success
}
