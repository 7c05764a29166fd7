package queries

import (
	"context"
	"fmt"
	"slices"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// Described is a revision with its verdict, and its tags with their data.
type Described struct {
	revisions.Shown

	TagData []revisions.Tag
}

// Show returns a revision and its verdict as of now. Faults: NotFound, Gone.
func (s *Service) Show(ctx context.Context, id int64) (revisions.Shown, error) {
	evidence, err := s.evidence(ctx, id)
	if err != nil {
		return revisions.Shown{}, err
	}
	return s.weigh(evidence)[0], nil
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
	Revisions []revisions.Shown
	More      bool             // there are others behind the limit
	Purged    *revisions.Purge // the last purge, nil if there was none
}

// List returns the revisions that a query asks for, with their verdicts.
func (s *Service) List(ctx context.Context, query Query) (Listed, error) {
	limit := query.Limit
	if limit >= 0 {
		query.Limit++ // one more shows whether there are more
	}
	numbers, purged, err := s.Store.List(ctx, query)
	if err != nil {
		return Listed{}, fmt.Errorf("list revisions: %w", err)
	}
	listed := Listed{Purged: purged}
	if limit >= 0 && len(numbers) > limit {
		listed.More, numbers = true, numbers[:limit]
	}
	evidence, err := s.Store.Evidence(ctx, numbers)
	if err != nil {
		return Listed{}, fmt.Errorf("read revisions: %w", err)
	}
	byNumber := map[int64]revisions.Shown{}
	for _, shown := range s.weigh(evidence) {
		byNumber[shown.ID] = shown
	}
	for _, number := range numbers {
		if shown, ok := byNumber[number]; ok { // else it was deleted meanwhile
			listed.Revisions = append(listed.Revisions, shown)
		}
	}
	return listed, nil
}

// evidence reads one revision and what its verdict rests on. Faults: NotFound, Gone.
func (s *Service) evidence(ctx context.Context, id int64) (Evidence, error) {
	evidence, err := s.Store.Evidence(ctx, []int64{id})
	if err != nil {
		return Evidence{}, fmt.Errorf("read revision: %w", err)
	}
	if len(evidence.Revisions) == 0 {
		return Evidence{}, revisions.Absent(ctx, s.Store, id)
	}
	return evidence, nil
}

// weigh returns revisions with their verdicts as of now.
func (s *Service) weigh(evidence Evidence) []revisions.Shown {
	shown := make([]revisions.Shown, 0, len(evidence.Revisions))
	for _, revision := range evidence.Revisions {
		policies := revisions.InForce(evidence.Policies, revision.ID)
		verdict := revisions.Weigh(s.Compat, policies, revision, evidence.Outcomes[revision.ID], evidence.Now)
		shown = append(shown, revisions.Shown{Revision: revision, Verdict: verdict})
	}
	return shown
}

// Status is Show with the first message of the schema validation's failure, if it failed.
func (s *Service) Status(ctx context.Context, id int64) (revisions.Shown, error) {
	shown, err := s.Show(ctx, id)
	if err != nil || !shown.Failed {
		return shown, err
	}
	described, err := s.describe(ctx, shown.Revision, EntryQuery{Limit: 1, FailuresOnly: true}, false)
	if err != nil || len(described) == 0 || len(described[0].errors) == 0 {
		return shown, err
	}
	message := validations.FirstMessage(slices.Concat([]byte("["), described[0].errors[0], []byte("]")))
	for i := range shown.Verdict.Policies {
		explained(shown.Verdict.Policies[i].Validations, message)
	}
	explained(shown.Verdict.Reported, message)
	return shown, nil
}

// explained adds the message of a failed schema validation to a verdict that was made for one answer.
func explained(judged []validations.Judged, message string) {
	for i := range judged {
		internal := judged[i].Name == validations.SchemaValidation || judged[i].Name == validations.SchemaValidationAlias
		if internal && judged[i].Status == validations.Failure {
			judged[i].Message = message
		}
	}
}

// Tags returns the tags of a revision, sorted by name. Faults: NotFound, Gone.
func (s *Service) Tags(ctx context.Context, revision int64) ([]revisions.Tag, error) {
	return s.tags(ctx, revision)
}

// ShowTag returns one tag of a revision. Faults: NotFound for the revision, then for the tag; Gone.
func (s *Service) ShowTag(ctx context.Context, revision int64, name string) (revisions.Tag, error) {
	tags, err := s.tags(ctx, revision, name)
	if err != nil {
		return revisions.Tag{}, err
	}
	if len(tags) == 0 {
		return revisions.Tag{}, revisions.UnknownTag(revision, name)
	}
	return tags[0], nil
}

// tags reads tags of a revision, which must exist.
func (s *Service) tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	tags, err := s.Store.Tags(ctx, revision, names...)
	if err != nil {
		return nil, fmt.Errorf("read tags: %w", err)
	}
	if len(tags) > 0 {
		return tags, nil
	}
	_, err = s.Stamp(ctx, revision)
	return nil, err
}
