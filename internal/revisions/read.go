package revisions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"purser/internal/fault"
	"purser/internal/validations"
)

// Shown is a revision with its verdict.
type Shown struct {
	Revision

	Verdict validations.Verdict
	Epoch   int64 // purges there were before
}

// Described is a revision with its verdict, and its tags with their data.
type Described struct {
	Shown

	TagData []Tag
}

// Show returns a revision and its verdict as of now. Faults: NotFound.
func (s *Service) Show(ctx context.Context, id int64) (Shown, error) {
	standing, err := s.standing(ctx, id)
	if err != nil {
		return Shown{}, err
	}
	return s.weighed(standing)[0], nil
}

// Describe is Show with the data of the tags.
func (s *Service) Describe(ctx context.Context, id int64) (Described, error) {
	shown, err := s.Show(ctx, id)
	if err != nil || len(shown.Tags) == 0 {
		return Described{Shown: shown}, err
	}
	tags, err := s.Store.Tags(ctx, id)
	if err != nil {
		return Described{}, fmt.Errorf("read tags: %w", err)
	}
	return Described{shown, tags}, nil
}

// Listed is a page of revisions.
type Listed struct {
	Revisions []Shown
	More      bool   // there are others behind the limit
	Purged    *Purge // the last purge, nil if there was none
}

// List returns the revisions that a query asks for, with their verdicts.
func (s *Service) List(ctx context.Context, query Query) (Listed, error) {
	limit := query.Limit
	if limit >= 0 {
		query.Limit++ // one more tells whether there are more
	}
	numbers, err := s.Store.List(ctx, query)
	if err != nil {
		return Listed{}, fmt.Errorf("list revisions: %w", err)
	}
	var listed Listed
	if limit >= 0 && len(numbers) > limit {
		listed.More, numbers = true, numbers[:limit]
	}
	standing, err := s.Store.Standing(ctx, numbers)
	if err != nil {
		return Listed{}, fmt.Errorf("read revisions: %w", err)
	}
	if listed.Purged, err = s.Store.Purged(ctx); err != nil {
		return Listed{}, fmt.Errorf("read the last purge: %w", err)
	}
	byNumber := map[int64]Shown{}
	for _, shown := range s.weighed(standing) {
		byNumber[shown.ID] = shown
	}
	for _, number := range numbers {
		if shown, ok := byNumber[number]; ok { // else it was deleted meanwhile
			listed.Revisions = append(listed.Revisions, shown)
		}
	}
	return listed, nil
}

// standing reads one revision and what its verdict rests on. Faults: NotFound, Gone.
func (s *Service) standing(ctx context.Context, id int64) (Standing, error) {
	standing, err := s.Store.Standing(ctx, []int64{id})
	if err != nil {
		return Standing{}, fmt.Errorf("read revision: %w", err)
	}
	if len(standing.Revisions) == 0 {
		return Standing{}, s.absent(ctx, id)
	}
	return standing, nil
}

// weighed are revisions with their verdicts as of now.
func (s *Service) weighed(standing Standing) []Shown {
	shown := make([]Shown, 0, len(standing.Revisions))
	now := s.Now()
	for _, revision := range standing.Revisions {
		policies := inForce(standing.Policies, revision.ID)
		verdict := s.verdict(policies, revision, standing.Outcomes[revision.ID], now)
		shown = append(shown, Shown{revision, verdict, standing.Epoch})
	}
	return shown
}

// verdict weighs one revision by its policies and by what was reported about it.
func (s *Service) verdict(policies []validations.Policy, revision Revision, reported []validations.Outcome,
	now time.Time,
) validations.Verdict {
	known := slices.Concat(reported, []validations.Outcome{ownOutcome(revision)})
	verdict := validations.Judge(policies, known, now)
	if s.Compat && len(verdict.Policies) == 0 {
		verdict.Status = validations.Success
	}
	return verdict
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

// Documents returns the documents of a revision that a selection asks for. Faults: NotFound, Gone.
func (s *Service) Documents(ctx context.Context, id int64, selection Selection) (Selected, error) {
	limit := selection.Limit
	if limit >= 0 {
		selection.Limit++ // one more tells whether there are more
	}
	selected, err := s.Store.Documents(ctx, id, selection)
	if err != nil {
		return Selected{}, fmt.Errorf("read documents: %w", s.explained(ctx, id, err))
	}
	if limit >= 0 && len(selected.Documents) > limit {
		selected.More, selected.Documents = true, selected.Documents[:limit]
	}
	if selection.Redacted {
		selected.Documents = redacted(selected.Documents)
	}
	return selected, nil
}

// Epoch counts the purges before a revision, which must exist. Faults: NotFound, Gone.
func (s *Service) Epoch(ctx context.Context, id int64) (int64, error) {
	around, err := s.Store.Around(ctx, id)
	switch {
	case err != nil:
		return 0, fmt.Errorf("find revision %d: %w", id, err)
	case !around.Exists:
		return 0, s.absent(ctx, id)
	}
	return around.Epoch, nil
}

// Purge deletes all revisions and everything that belongs to them, and keeps who did it and why. Fault: Stale.
func (s *Service) Purge(ctx context.Context, terms Terms) error {
	if err := s.Store.Purge(ctx, Purge{terms.Reason, s.Now().UTC()}, terms.Expected); err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

// Prune deletes all revisions but the newest, as many as keep says, and those with tags, and whatever none of the
// remaining needs; a dry run only tells what that would be. Faults: Invalid for less than one to keep, Stale.
func (s *Service) Prune(ctx context.Context, keep int, terms Terms) (Pruned, error) {
	if keep < 1 {
		return Pruned{}, fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"keep\" parameter is invalid. At least the newest revision must be kept; DELETE /revisions deletes all.")
	}
	pruned, err := s.Store.Prune(ctx, keep, terms)
	if err != nil {
		return Pruned{}, fmt.Errorf("prune: %w", err)
	}
	return pruned, nil
}
