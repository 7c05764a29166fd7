package evidence

import (
	"context"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// AddResults adds results in one group, as AddResult does with concurrent ones. It returns the stamps of their
// revisions, and their errors.
func (s *Source) AddResults(ctx context.Context, about []revisions.About, results []validations.Result) (
	stamps []revisions.Stamp, errs []error, err error,
) {
	posts := make([]post, len(results))
	for i, result := range results {
		posts[i] = postOf(about[i], result)
	}
	done, err := s.addResults(ctx, posts)
	for _, one := range done {
		stamps, errs = append(stamps, one.stamp), append(errs, one.rejected)
	}
	return stamps, errs, err
}

// WorstResults is the statement of Source.WorstResults.
const WorstResults = worstResults

// ReportedOf is the statement of Source.Reported.
const ReportedOf = reportedOf

// RevisionsOf and OutcomesOf are statements of Source.Evidence.
var RevisionsOf, OutcomesOf = byNumbers.revisions, byNumbers.outcomes

// The statements that read the policies in force now, and in any of some revisions.
const (
	LivePolicies = livePolicies
	PoliciesOf   = policiesOf
)
