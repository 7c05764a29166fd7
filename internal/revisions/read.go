package revisions

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"purser/internal/validations"
)

// Shown is a revision with its verdict.
type Shown struct {
	Revision

	Verdict validations.Verdict
}

// Show returns a revision and its verdict as of now. Faults: NotFound.
func (s *Service) Show(ctx context.Context, id int64) (Shown, error) {
	standing, err := s.standing(ctx, id)
	if err != nil {
		return Shown{}, err
	}
	return s.judged(standing)[0], nil
}

// List returns revisions with their verdicts, oldest first, after a number of them; a negative limit means all.
func (s *Service) List(ctx context.Context, offset, limit int) ([]Shown, error) {
	const farthest = math.MaxInt64 / 4 // no site has so many, and no sum overflows
	first, last := min(int64(offset), farthest)+1, int64(math.MaxInt64)
	if limit >= 0 {
		last = first - 1 + min(int64(limit), farthest)
	}
	standing, err := s.Store.Standing(ctx, first, last) // the numbers have no gaps
	if err != nil {
		return nil, fmt.Errorf("list revisions: %w", err)
	}
	return s.judged(standing), nil
}

// standing reads one revision and what its verdict rests on. Faults: NotFound.
func (s *Service) standing(ctx context.Context, id int64) (Standing, error) {
	standing, err := s.Store.Standing(ctx, id, id)
	if err != nil {
		return Standing{}, fmt.Errorf("read revision: %w", err)
	}
	if len(standing.Revisions) == 0 {
		return Standing{}, UnknownRevision(strconv.FormatInt(id, 10))
	}
	return standing, nil
}

// judged weighs revisions as of now.
func (s *Service) judged(standing Standing) []Shown {
	shown := make([]Shown, 0, len(standing.Revisions))
	now := s.Now()
	for _, revision := range standing.Revisions {
		known := slices.Concat(standing.Outcomes[revision.ID], []validations.Outcome{ownOutcome(revision)})
		verdict := validations.Judge(inForce(standing.Policies, revision.ID), known, now)
		if s.Compat && len(verdict.Policies) == 0 {
			verdict.Status = validations.Success
		}
		shown = append(shown, Shown{revision, verdict})
	}
	return shown
}

func ownOutcome(revision Revision) validations.Outcome {
	outcome := validations.Outcome{Name: validations.SchemaValidation, At: revision.CreatedAt}
	if revision.Failed {
		outcome.Status = validations.Failure
	}
	return outcome
}

func inForce(versions []PolicyVersion, revision int64) (policies []validations.Policy) {
	for _, version := range versions {
		if version.Since <= revision && (version.Until == 0 || version.Until > revision) {
			policies = append(policies, version.Policy)
		}
	}
	return policies
}

// Status is Show with the first message of the schema validation's failure, if it is one.
func (s *Service) Status(ctx context.Context, id int64) (Shown, error) {
	shown, err := s.Show(ctx, id)
	if err != nil || !shown.Failed {
		return shown, err
	}
	entries, err := s.failed(ctx, id, Wanted{Limit: 1, FailuresOnly: true, MessagesOnly: true})
	if err != nil || len(entries) == 0 || len(entries[0].errors) == 0 {
		return shown, err
	}
	message := validations.FirstMessage(slices.Concat([]byte("["), entries[0].errors[0], []byte("]")))
	for _, policy := range shown.Verdict.Policies {
		explain(policy.Validations, message)
	}
	explain(shown.Verdict.Reported, message)
	return shown, nil
}

func explain(judged []validations.Judged, message string) {
	for i := range judged {
		own := judged[i].Name == validations.SchemaValidation || judged[i].Name == validations.SchemaValidationAlias
		if own && judged[i].Status == validations.Failure {
			judged[i].Message = message
		}
	}
}

// Documents returns the documents of a revision in order of place. Faults: NotFound.
func (s *Service) Documents(ctx context.Context, id int64) ([]*Stored, error) {
	documents, err := s.Store.Documents(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return documents, nil
}

// Purge deletes all revisions and everything that belongs to them.
func (s *Service) Purge(ctx context.Context) error {
	if err := s.Store.Purge(ctx); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}
