package revisions

import (
	"slices"
	"time"

	"purser/internal/validations"
)

// Shown is a revision with its verdict.
type Shown struct {
	Revision

	Verdict validations.Verdict
}

// Weigh returns the verdict on a revision, given its policies and the results reported for it.
func Weigh(compat bool, policies []validations.Policy, revision Revision, reported []validations.Outcome, now time.Time,
) validations.Verdict {
	outcomes := slices.Concat(reported, []validations.Outcome{schemaOutcome(revision)})
	verdict := validations.Judge(policies, outcomes, now)
	if compat && len(verdict.Policies) == 0 {
		verdict.Status = validations.Success
	}
	return verdict
}

// schemaOutcome is the outcome of a revision's schema validation.
func schemaOutcome(revision Revision) validations.Outcome {
	outcome := validations.Outcome{Name: validations.SchemaValidation, At: revision.CreatedAt}
	if revision.Failed {
		outcome.Status = validations.Failure
	}
	return outcome
}

// InForce returns those of the policies that are in force in a revision.
func InForce(versions []PolicyVersion, revision int64) (policies []validations.Policy) {
	for _, version := range versions {
		if version.Since <= revision && (version.Until == 0 || version.Until > revision) {
			policies = append(policies, version.Policy)
		}
	}
	return policies
}
