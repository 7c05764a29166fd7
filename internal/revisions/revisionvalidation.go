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

func isPolicy(doc *Stored) bool { return strings.HasPrefix(doc.Schema, validations.PolicyPrefix) }

// policiesAfter returns the ValidationPolicies in force once a change is made, in order of place.
func policiesAfter(newest []PolicyVersion, diff Diff) []validations.Policy {
	removed := map[document.Identity]bool{}
	for _, doc := range diff.Removed {
		removed[doc.Identity] = true
	}
	versions := slices.DeleteFunc(slices.Clone(newest), func(v PolicyVersion) bool { return removed[v.Identity] })
	for _, doc := range diff.Added {
		if isPolicy(doc) {
			policy := validations.ParsePolicy(doc.Identity, doc.Data)
			versions = append(versions, PolicyVersion{Policy: policy, Place: doc.Place})
		}
	}
	slices.SortFunc(versions, func(a, b PolicyVersion) int { return cmp.Compare(a.Place, b.Place) })
	var policies []validations.Policy
	for _, version := range versions {
		policies = append(policies, version.Policy)
	}
	return policies
}

// requiresRevisionValidation reports whether policies require a validation of the whole revision.
func requiresRevisionValidation(policies []validations.Policy) bool {
	required := validations.Required(policies)
	return slices.Contains(required, validations.PolicyValidation) ||
		slices.Contains(required, validations.RenderingValidation)
}

// validateRevision returns a judgement with the outcomes of those validations of the whole revision that its policies
// require: whether its documents fit together, and whether they render to documents that match their schemas
// (spec/api.md §0 D3, D4).
func (j judge) validateRevision(ctx context.Context, snapshot Snapshot, diff Diff, made Judgement) (Judgement, error) {
	required := validations.Required(made.Policies)
	made.Exact = requiresRevisionValidation(made.Policies) || layered(versionsAfter(snapshot, diff))
	documents := after(snapshot.Documents, diff)
	if slices.Contains(required, validations.PolicyValidation) {
		problems, err := rendering.Examine(ctx, Contents(documents))
		if err != nil {
			return made, fmt.Errorf("examine documents: %w", err)
		}
		made.Results = append(made.Results, internalResult(validations.PolicyValidation, problems...))
	}
	if !slices.Contains(required, validations.RenderingValidation) {
		return made, nil
	}
	renderer := Renderer{j.engine, j.vault, j.defaults}
	rendered, err := renderer.Render(ctx, snapshot.Revision+1, documents, snapshot.Fallback)
	var problems []*fault.Fault
	problem, isFault := errors.AsType[*fault.Fault](cmp.Or(err, rendered.Fault))
	switch {
	case err == nil && rendered.Fault == nil:
		made.Rendered = &rendered
	case isFault && isOfDocuments(problem):
		problems = append(problems, problem)
	default:
		return made, err
	}
	made.Results = append(made.Results, internalResult(validations.RenderingValidation, problems...))
	return made, nil
}

// internalResult is the outcome of a validation that the server makes, without its time.
func internalResult(name string, problems ...*fault.Fault) validations.Result {
	result := validations.Result{
		Name: name, Status: validations.Success.String(), Validator: []byte(`{"name":"deckhand","version":"1.0"}`),
		Errors: []byte("[]"),
	}
	var messages []fault.Message
	for _, problem := range problems {
		messages = append(messages, MessagesOf(problem)...)
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

// MessagesOf returns a fault as items of an entry's errors, each with the name of what is wrong.
func MessagesOf(problem *fault.Fault) []fault.Message {
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

// HasLayeringPolicy reports whether a LayeringPolicy is among documents.
func HasLayeringPolicy(documents []*Stored) bool {
	return slices.ContainsFunc(documents, isLayeringPolicy)
}
