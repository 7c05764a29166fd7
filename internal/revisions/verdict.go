package revisions

import (
	"slices"
	"time"

	"purser/internal/fault"
	"purser/internal/validations"
)

// RevisionStatus is a revision with its verdict.
type RevisionStatus struct {
	Revision

	Verdict validations.Verdict
}

// TooManyValidations returns the fault of a revision that takes no results of further validations.
func TooManyValidations(revision int64) error {
	return fault.New(fault.Conflict, "TooManyValidations", "Revision %d may have results of %d validations, whose names "+
		"have %d bytes together; post further results under a name that it has, or about another revision", revision,
		MaxValidations, MaxValidationBytes)
}

// Defaults are the names of the server's own validations that count when no policy is in force. With nil none count, as
// in Deckhand.
type Defaults []string

// Verdict returns the verdict on a revision, given its policies, as in PoliciesOf, and what is known about its
// validations.
func (d Defaults) Verdict(policies []validations.Policy, revision Revision, known validations.Known, now time.Time,
) validations.Verdict {
	known.Outcomes = slices.Concat(known.Outcomes, []validations.Outcome{schemaOutcome(revision)})
	return validations.Decide(policies, d, known, now)
}

// Required returns the names of the validations that policies require, or the defaults if there are no policies.
func (d Defaults) Required(policies []validations.Policy) []string {
	if len(policies) == 0 {
		return d
	}
	return validations.Required(policies)
}

// schemaOutcome is the outcome of a revision's schema validation.
func schemaOutcome(revision Revision) validations.Outcome {
	outcome := validations.Outcome{Name: validations.SchemaValidation, At: revision.CreatedAt}
	if revision.Failed {
		outcome.Status = validations.Failure
	}
	return outcome
}

// PoliciesOf returns the policies that are in force in a revision, with those requirements marked that do not apply
// to it.
func PoliciesOf(revision Revision, versions []PolicyVersion) []validations.Policy {
	return validations.Applied(InForce(versions, revision.ID), revision.Inapplicable)
}

// Parsed returns the policies of versions.
func Parsed(versions []PolicyVersion) (policies []validations.Policy) {
	for _, version := range versions {
		policies = append(policies, version.Policy)
	}
	return policies
}

// InForce returns the policies that are in force in a revision.
func InForce(versions []PolicyVersion, revision int64) (policies []validations.Policy) {
	for _, version := range versions {
		if version.Since <= revision && (version.Until == 0 || version.Until > revision) {
			policies = append(policies, version.Policy)
		}
	}
	return policies
}
