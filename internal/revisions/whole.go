package revisions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/validations"
)

// validateWhole makes those validations of the whole revision that its policies ask for: whether its documents fit
// together, and whether they render to what passes their schemas (spec/api.md §0 D3, D4).
func (s *Service) validateWhole(ctx context.Context, change *Change) error {
	if !change.Against.Policed && !slices.ContainsFunc(change.Added, isPolicy) {
		return nil
	}
	newest, err := s.Store.Standing(ctx, []int64{change.Against.Revision})
	if err != nil {
		return fmt.Errorf("read the policies in force: %w", err)
	}
	required := validations.Required(policiesAfter(change, newest)) //nolint:contextcheck // a policy has its own budget
	fits := slices.Contains(required, validations.PolicyValidation)
	renders := slices.Contains(required, validations.RenderingValidation)
	if !fits && !renders {
		return nil
	}
	documents, err := s.documentsAfter(ctx, change)
	if err != nil {
		return err
	}
	if fits {
		problems, err := rendering.Examine(ctx, contentsOf(documents))
		if err != nil {
			return fmt.Errorf("examine documents: %w", err)
		}
		change.Results = append(change.Results, ownResult(change, validations.PolicyValidation, problems...))
	}
	if renders {
		return s.validateRendering(ctx, change, documents)
	}
	return nil
}

func isPolicy(doc *Stored) bool { return strings.HasPrefix(doc.Schema, validations.PolicyPrefix) }

// documentsAfter are all documents once a change is made.
func (s *Service) documentsAfter(ctx context.Context, change *Change) ([]*Stored, error) {
	var found Selected
	if change.Against.Revision > 0 {
		var err error
		found, err = s.Store.Documents(ctx, change.Against.Revision, Selection{Page: Page{Limit: -1}})
		if fault.KindOf(err) == fault.NotFound { // purged meanwhile
			return nil, ErrMoved
		}
		if err != nil {
			return nil, fmt.Errorf("read the newest documents: %w", err)
		}
	}
	gone := map[int64]bool{}
	for _, doc := range change.Removed {
		gone[doc.ID] = true
	}
	documents := slices.DeleteFunc(found.Documents, func(doc *Stored) bool { return gone[doc.ID] })
	documents = append(documents, change.Added...)
	slices.SortFunc(documents, byPlace)
	return documents, nil
}

func contentsOf(documents []*Stored) []*document.Document {
	contents := make([]*document.Document, len(documents))
	for i, doc := range documents {
		contents[i] = doc.Document
	}
	return contents
}

// validateRendering renders the revision, which is kept for those who will ask for it.
func (s *Service) validateRendering(ctx context.Context, change *Change, documents []*Stored) error {
	documents, passing, err := s.withPolicy(ctx, change.Revision.ID, documents)
	if err != nil {
		return err
	}
	rendered, err := s.renderDocuments(ctx, documents, passing)
	var problems []*fault.Fault
	var problem *fault.Fault
	switch {
	case err == nil && rendered.fault == nil:
		change.rendered = &rendered
	case errors.As(cmp.Or(err, rendered.fault), &problem) && problem.Kind != fault.Unavailable:
		problems = append(problems, problem)
	default:
		return err
	}
	change.Results = append(change.Results, ownResult(change, validations.RenderingValidation, problems...))
	return nil
}

// ownResult is what one of the server's own validations found.
func ownResult(change *Change, name string, problems ...*fault.Fault) validations.Result {
	result := validations.Result{
		Name: name, Status: validations.Success.String(), Validator: []byte(`{"name":"deckhand","version":"1.0"}`),
		Errors: []byte("[]"), CreatedAt: change.Revision.CreatedAt,
	}
	var messages []fault.Message
	for _, problem := range problems {
		messages = append(messages, messagesOf(problem)...)
	}
	if len(messages) == 0 {
		return result
	}
	result.Status = validations.Failure.String()
	if text, err := json.Marshal(messages); err == nil {
		result.Errors = text
	}
	return result
}

// messagesOf words a fault as items of an entry's errors, each with the name of what is wrong.
func messagesOf(problem *fault.Fault) []fault.Message {
	messages := slices.Clone(problem.Messages)
	if len(messages) == 0 {
		messages = []fault.Message{{Message: problem.Message, Error: true}}
	}
	for i := range messages {
		messages[i].Name = cmp.Or(messages[i].Name, problem.Type)
		messages[i].Level, messages[i].Kind = "Error", "ValidationMessage"
	}
	return messages
}
