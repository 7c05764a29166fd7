package validations

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// The internal validation of documents against their schemas, and another name for it (spec/api.md §0 D2).
const (
	SchemaValidation      = "deckhand-schema-validation"
	SchemaValidationAlias = "deckhand-document-schema-validation"
)

// The internal validations of a whole revision, which are made if a ValidationPolicy asks for them: that its documents
// fit together, and that it renders to documents that pass their schemas (spec/api.md §0 D3, D4).
const (
	PolicyValidation    = "deckhand-policy-validation"
	RenderingValidation = "deckhand-rendering-validation"
)

// ReservedPrefix begins the names of the server's own validations (spec/api.md §0 D10).
const ReservedPrefix = "deckhand-"

// Status is the state of a validation, a policy or a revision.
type Status uint8

// The states. A revision or policy is Success or Failure only.
const (
	Success Status = iota
	Failure
	Missing // required, but never reported
	Expired // a success that is older than the policy lets it be
)

// String gives the word that the API uses.
func (s Status) String() string {
	switch s {
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Missing:
		return "missing"
	case Expired:
		return "expired"
	}
	return "unknown"
}

// Outcome is what is known of one validation of a revision: for an external one the latest report, for an internal one
// a failure if any entry failed (spec/api.md §0 D6).
type Outcome struct {
	Name    string
	Status  Status // Success or Failure
	At      time.Time
	Message string // the first message of a failure
}

// Judged is one validation as a verdict sees it.
type Judged struct {
	Name    string
	Status  Status
	Message string
}

// PolicyVerdict says whether a policy is met.
type PolicyVerdict struct {
	Policy      Policy
	Status      Status
	Validations []Judged
}

// Verdict says whether a revision may be used.
type Verdict struct {
	Status   Status
	Policies []PolicyVerdict
	// Ignored are the validations reported that no policy lists; empty without a policy.
	Ignored []Judged
	// Reported are all validations reported, if there is no policy to weigh them.
	Reported []Judged
}

// Judge weighs the outcomes of a revision at a time. With policies the revision is fit for use if every one is met; a
// validation that is missing fails its policy, one that no policy lists is ignored. Without policies every validation
// that was reported must have succeeded (spec/api.md §0 D5-D8).
func Judge(policies []Policy, outcomes []Outcome, now time.Time) Verdict {
	known := withAlias(policies, outcomes)
	if len(policies) == 0 {
		verdict := Verdict{Reported: judgeAll(known)}
		verdict.Status = worst(verdict.Reported)
		return verdict
	}
	verdict := Verdict{}
	for _, policy := range policies {
		judged := judgePolicy(policy, known, now)
		verdict.Policies = append(verdict.Policies, judged)
		verdict.Status = max(verdict.Status, judged.Status)
	}
	for _, name := range Required(policies) {
		delete(known, name)
	}
	verdict.Ignored = judgeAll(known)
	return verdict
}

// withAlias indexes outcomes by name; the alias of the schema validation is known if a policy asks for it.
func withAlias(policies []Policy, outcomes []Outcome) map[string]Outcome {
	known := make(map[string]Outcome, len(outcomes)+1)
	for _, outcome := range outcomes {
		known[outcome.Name] = outcome
	}
	if own, ok := known[SchemaValidation]; ok && slices.Contains(Required(policies), SchemaValidationAlias) {
		own.Name = SchemaValidationAlias
		known[SchemaValidationAlias] = own
	}
	return known
}

func judgePolicy(policy Policy, known map[string]Outcome, now time.Time) PolicyVerdict {
	verdict := PolicyVerdict{Policy: policy}
	for _, requirement := range policy.Requirements {
		outcome, reported := known[requirement.Name]
		verdict.Validations = append(verdict.Validations, judge(requirement, outcome, reported, now))
	}
	verdict.Status = worst(verdict.Validations)
	if policy.Broken {
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
	// The server's own validations say how the documents are, which no time changes.
	internal := strings.HasPrefix(outcome.Name, ReservedPrefix)
	if at, ok := requirement.expiry(outcome.At); ok && !internal && outcome.Status == Success && now.After(at) {
		judged.Status = Expired
	}
	return judged
}

func judgeAll(known map[string]Outcome) []Judged {
	var all []Judged
	for _, outcome := range slices.SortedFunc(maps.Values(known), func(a, b Outcome) int {
		return cmp.Compare(a.Name, b.Name)
	}) {
		all = append(all, Judged{Name: outcome.Name, Status: outcome.Status, Message: outcome.Message})
	}
	return all
}

// worst is Success only if all are.
func worst(all []Judged) Status {
	for _, judged := range all {
		if judged.Status != Success {
			return Failure
		}
	}
	return Success
}
