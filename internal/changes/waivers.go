package changes

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// Waive adds a waiver of a validation to a revision. body is the parsed request. Faults: Invalid, NotFound, Gone, Stale
// if the revision is not an expected one, Conflict if it has too many waivers.
func (s *Service) Waive(ctx context.Context, revision int64, options revisions.Options, body any) (
	made revisions.Waiver, err error,
) {
	wanted, err := validations.ParseWaiver(body)
	if err != nil {
		return made, err
	}
	about := options.About(revision)
	stamp, policies, err := s.Store.InForce(ctx, revision)
	switch {
	case err != nil:
		return made, fmt.Errorf("read the policies of revision %d: %w", revision, err)
	case stamp == 0, about.Stamps != nil && !slices.Contains(about.Stamps, stamp):
		return made, s.Refused(ctx, about)
	}
	if err := validations.CheckRequired(policies, wanted.Validation); err != nil {
		return made, err
	}
	about.Stamps = []revisions.Stamp{stamp} // the policies are those of this one
	made, err = s.Store.Waive(ctx, about, wanted)
	switch {
	case err != nil:
		return made, fmt.Errorf("store the waiver: %w", err)
	case made.ID == 0:
		return made, s.Refused(ctx, about)
	}
	return made, nil
}

// EndWaiver ends a waiver of a revision, and reports whether it was active until now. Faults: NotFound for the
// revision, else for the waiver; Gone, Stale.
func (s *Service) EndWaiver(ctx context.Context, revision int64, options revisions.Options, id int64) (bool, error) {
	about := options.About(revision)
	exists, has, ended, err := s.Store.EndWaiver(ctx, about, id)
	switch {
	case err != nil:
		return false, fmt.Errorf("end the waiver: %w", err)
	case !exists:
		return false, s.Refused(ctx, about)
	case !has:
		return false, revisions.UnknownWaiver(revision, strconv.FormatInt(id, 10))
	}
	return ended, nil
}
