package validations

import (
	"cmp"
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
)

// String returns the word for the state in the API.
func (s Status) String() string {
	return [...]string{"success", "failure", "missing", "expired"}[s]
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
}

// Judged is the status of one validation in a verdict.
type Judged struct {
	Name    string
	Status  Status
	Message string
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
		if judged.Status != Missing {
			names = append(names, judged.Name)
		}
	}
	return names
}

// Statuses returns the words success or failure for all reported validations, by name. An expired success is a failure
// if one policy says so.
func (v Verdict) Statuses() map[string]string {
	statuses := map[string]string{}
	for _, judged := range v.all() {
		switch {
		case judged.Status == Missing:
		case judged.Status != Success:
			statuses[judged.Name] = Failure.String()
		case statuses[judged.Name] == "":
			statuses[judged.Name] = Success.String()
		}
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

// Obstacles returns a line of text for each counting validation that is not a success, and for each broken policy. A
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
		if _, known := firsts[judged.Message]; !known && judged.Status == Failure && IsOwn(judged.Name) {
			firsts[judged.Message] = judged.Name
		}
	}
	return firsts
}

// appendTo appends a line for a validation unless it is a success.
func (j Judged) appendTo(lines []string, policy string, shown map[string]bool, firsts map[string]string) []string {
	if j.Status == Success {
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

// Reason returns the first message of a failure, or why there will never be a result; "" if neither is known.
func (j Judged) Reason() string {
	switch j.Status {
	case Failure:
		return j.Message
	case Missing:
		return Unmakeable(j.Name)
	case Success, Expired:
	}
	return ""
}

// Pending reports whether a failure may become a success without another change: the only obstacles are results that
// were never posted or have expired.
func (v Verdict) Pending() bool {
	if v.Status == Success {
		return false
	}
	if slices.ContainsFunc(v.Policies, func(p PolicyVerdict) bool { return p.Policy.Broken }) {
		return false
	}
	return !slices.ContainsFunc(v.counted(), func(j Judged) bool {
		return j.Status == Failure || j.Status == Missing && IsReserved(j.Name)
	})
}

// NextExpiry returns when the first of the required successes that have not expired yet will expire; ok is false if
// none will.
func NextExpiry(policies []Policy, outcomes []Outcome, now time.Time) (at time.Time, ok bool) {
	if len(policies) == 0 {
		return at, false
	}
	reported := sorted(outcomes)
	for _, policy := range policies {
		for _, requirement := range policy.Requirements {
			outcome, found := reported.named(requirement.Name)
			if !found || outcome.Status != Success || IsOwn(outcome.Name) {
				continue
			}
			expiry, expires := requirement.Expiry(outcome.At)
			if expires && !now.After(expiry) && (!ok || expiry.Before(at)) {
				at, ok = expiry, true
			}
		}
	}
	return at, ok
}

// DefaultValidations returns the server's own validations that count without a policy.
func DefaultValidations() []string {
	return []string{SchemaValidation, PolicyValidation, RenderingValidation}
}

// Decide returns the verdict on a revision at a time. All policies must succeed: a missing validation fails its policy,
// and one that no policy lists is ignored. Without policies, all reported validations must have succeeded, but the
// server's own count only if they are in defaults; if defaults is nil, any revision is a success.
func Decide(policies []Policy, defaults []string, outcomes []Outcome, now time.Time) Verdict {
	reported := withAlias(policies, sorted(outcomes))
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
		judged := judgePolicy(policy, reported, now)
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

func judgePolicy(policy Policy, reported results, now time.Time) PolicyVerdict {
	verdict := PolicyVerdict{Policy: policy}
	for _, requirement := range policy.Requirements {
		outcome, found := reported.named(requirement.Name)
		verdict.Validations = append(verdict.Validations, judge(requirement, outcome, found, now))
	}
	if verdict.Status = worst(verdict.Validations); policy.Broken {
		verdict.Status = Failure
	}
	return verdict
}

func judge(requirement Requirement, outcome Outcome, reported bool, now time.Time) Judged {
	judged := Judged{Name: requirement.Name, Status: outcome.Status, Message: outcome.Message}
	if !reported {
		judged.Status = Missing
		return judged
	}
	// The server's own validations depend only on the documents, so they do not expire.
	internal := IsOwn(outcome.Name)
	if at, ok := requirement.Expiry(outcome.At); ok && !internal && outcome.Status == Success && now.After(at) {
		judged.Status = Expired
	}
	return judged
}

func judgeAll(reported results) []Judged {
	if len(reported) == 0 {
		return nil
	}
	all := make([]Judged, 0, len(reported))
	for _, outcome := range reported {
		all = append(all, Judged{Name: outcome.Name, Status: outcome.Status, Message: outcome.Message})
	}
	return all
}

// worst returns Success if all are successes, and Failure otherwise.
func worst(all []Judged) Status {
	if slices.ContainsFunc(all, func(j Judged) bool { return j.Status != Success }) {
		return Failure
	}
	return Success
}
