package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// Refused returns the fault for a revision that nothing could be added to: it does not exist, did not exist a moment
// ago, or is not the expected one.
func (s *Service) Refused(ctx context.Context, about revisions.About) error {
	if err := s.missing(ctx, about); err != nil {
		return err
	}
	return revisions.Absent(ctx, s.Store, about.Revision)
}

// Unlisted returns a warning that no policy in force in a revision lists a validation; "" if one does, or if that
// is not known.
func (s *Service) Unlisted(ctx context.Context, revision int64, validation string) string {
	_, policies, err := s.Store.InForce(ctx, revision)
	if err != nil {
		return ""
	}
	return validations.UnlistedWarning(policies, validation)
}

// Posted is a result that was appended to a revision.
type Posted struct {
	validations.Result

	Stamp   revisions.Stamp // of the revision
	Before  bool            // a result of the same claim was appended before, which this one is
	Warning string          // that the result does not count or was not kept completely; empty in compat mode
}

// Post appends a result that another service reports for a revision. body is the parsed request. Faults: Invalid,
// Forbidden for a reserved name, NotFound, Gone, Stale if the revision is not an expected one, Conflict if it has
// results of too many validations or its claim does not hold the work, NotFound for a claim that is not known.
func (s *Service) Post(ctx context.Context, revision int64, options revisions.Options, name string, body any,
	of Renderings,
) (posted Posted, err error) {
	if posted.Result, err = validations.ParseResult(name, body, s.Compat); err != nil {
		return Posted{}, err
	}
	var warning string
	if posted.Result, warning, err = s.withInputs(ctx, revision, options.Viewer, posted.Result, of); err != nil {
		return Posted{}, err
	}
	var policies []revisions.PolicyVersion
	posted.Stamp, policies, err = s.Store.AddResult(ctx, options.About(revision), posted.Result)
	first, repeated := errors.AsType[*revisions.Repeated](err)
	switch {
	case repeated:
		return Posted{Result: first.First, Stamp: first.Stamp, Before: true}, nil
	case err != nil:
		return Posted{}, fmt.Errorf("store validation result: %w", err)
	case posted.Stamp == 0:
		return Posted{}, s.Refused(ctx, options.About(revision))
	case !s.Compat:
		posted.Warning = cmp.Or(warning, validations.UnlistedWarning(revisions.InForce(policies, revision), name),
			validations.LostWarning(body))
	}
	if err := s.carryLate(ctx, revision, posted.Result, of); err != nil { // the result is stored all the same
		posted.Warning = cmp.Or(posted.Warning, "The result is stored, but whether it holds for the newest revision too "+
			"could not be found out: ask for the status of that, and post it again")
	}
	return posted, nil
}
