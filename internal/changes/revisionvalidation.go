package changes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/rendering"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// policySteps is the cost of reading a byte of a ValidationPolicy, in the budget's steps.
const policySteps = 200

// policiesAfter returns the ValidationPolicies in force after a change, in order of place. The only errors are those of
// meter.
func (r Renderer) policiesAfter(meter *budget.Meter, newest []revisions.PolicyVersion, diff revisions.Diff) (
	policies []validations.Policy, err error,
) {
	removed := map[document.Identity]bool{}
	for _, doc := range diff.Removed {
		removed[doc.Identity] = true
	}
	versions := slices.DeleteFunc(slices.Clone(newest), func(v revisions.PolicyVersion) bool {
		return removed[v.Identity]
	})
	for _, doc := range diff.Added {
		if doc.IsPolicy() {
			if err := meter.Spend(policySteps * len(doc.Data)); err != nil {
				return nil, budget.About(err, "read the ValidationPolicy %s", doc.Name)
			}
			policy := validations.ParsePolicy(doc.Identity, doc.Data, r.Compat)
			versions = append(versions, revisions.PolicyVersion{Policy: policy, Place: doc.Place})
		}
	}
	slices.SortFunc(versions, func(a, b revisions.PolicyVersion) int { return cmp.Compare(a.Place, b.Place) })
	for _, version := range versions {
		policies = append(policies, version.Policy)
	}
	return policies, nil
}

// requiresRevisionValidation reports whether policies require a validation of the whole revision.
func (v Validator) requiresRevisionValidation(policies []validations.Policy) bool {
	required := v.required(policies)
	return slices.ContainsFunc(required, func(name string) bool { return slices.Contains(RevisionValidations(), name) })
}

// RevisionValidations returns the names of the server's validations of a whole revision.
func RevisionValidations() []string {
	return []string{
		validations.PolicyValidation, validations.RenderingValidation, validations.CoverageValidation,
		validations.PuppetValidation,
		validations.PackageValidation,
	}
}

// validateRevision adds the outcomes of the validations of the whole revision that its policies require to a judgement.
// It renders before it examines, because a rendering examines the documents too.
func (v Validator) validateRevision(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff,
	made Judgement,
) (Judgement, error) {
	required, listed := v.required(made.Policies), validations.Required(made.Policies)
	documents := diff.After(snapshot.Documents)
	flat := isFlat(documents)
	var examined Rendering
	for _, name := range slices.Backward(RevisionValidations()) {
		if !slices.Contains(required, name) {
			continue
		}
		if flat && name != validations.CoverageValidation && !slices.Contains(listed, name) {
			made.Results = append(made.Results, revisionResult(name))
			continue
		}
		result, rendered, err := v.validated(ctx, name, examined, snapshot, diff, documents)
		if err != nil {
			return made, err
		}
		made.Withheld = made.Withheld || rendered.Withheld
		if name == validations.RenderingValidation {
			made.rendering = &rendered
			if examined = rendered; len(result.Messages) == 0 {
				rendered.problems = nil
				made.Rendered = &rendered
			}
		}
		if v.Withhold {
			result.Messages = slices.DeleteFunc(slices.Clone(result.Messages), isSecret)
			made.Withheld = made.Withheld || slices.ContainsFunc(documents, isEncrypted)
		}
		made.Results = append(made.Results, result)
	}
	slices.Reverse(made.Results)
	return made, nil
}

// validated performs a validation of the whole revision, unless the rendering of it has examined the documents already.
func (v Validator) validated(ctx context.Context, name string, examined Rendering, snapshot revisions.Snapshot,
	diff revisions.Diff, documents []*revisions.Stored,
) (result RevisionResult, rendered Rendering, err error) {
	if name == validations.PolicyValidation && examined.examined {
		return v.policyResult(examined.problems), rendered, nil
	}
	result, rendered, err = v.ValidateRevision(ctx, name, snapshot.Revision+1, documents, snapshot.Fallback)
	if err == nil && rendered.TooLarge && v.Always == nil {
		err = v.mayStayTooLarge(ctx, snapshot, diff)
	}
	return result, rendered, err
}

// mayStayTooLarge returns the fault of a change after which all documents together are too large to be rendered, nil if
// they were before it, and it does not add to them.
func (v Validator) mayStayTooLarge(ctx context.Context, snapshot revisions.Snapshot, diff revisions.Diff) error {
	if revisions.TextSize(diff.Added) <= revisions.TextSize(diff.Removed) {
		before, err := v.bringing(nil).Render(ctx, snapshot.Revision, snapshot.Documents, snapshot.Fallback)
		switch {
		case before.TooLarge:
			return nil // it is a failure of the revision
		case err != nil:
			return err
		}
	}
	return fault.New(fault.Conflict, "SiteFull", "With the change the rendered data of all documents would take more "+
		"than %d MiB, the limit for a site. Nothing was changed. Let what the change brings take less from large documents, "+
		"or delete documents that are not needed.", rendering.DefaultLimit>>20)
}

func isEncrypted(doc *revisions.Stored) bool { return doc.Traits().Encrypted }

// isFlat reports whether documents neither need nor have a LayeringPolicy: none has a layer.
func isFlat(documents []*revisions.Stored) bool {
	return !slices.ContainsFunc(documents, func(doc *revisions.Stored) bool {
		return doc.Layer != "" || doc.IsLayeringPolicy()
	})
}

// ValidateRevision performs one of the server's validations of a whole revision. RenderingValidation also returns the
// rendering. fallback is as for Render.
func (r Renderer) ValidateRevision(ctx context.Context, name string, revision int64, documents []*revisions.Stored,
	fallback *revisions.Stored,
) (result RevisionResult, rendered Rendering, err error) {
	switch name {
	case validations.PolicyValidation:
		problems, err := rendering.Examine(ctx, revisions.Contents(documents), rendering.Options{Compat: r.Compat})
		if err != nil {
			return result, rendered, fmt.Errorf("examine documents: %w", err)
		}
		return r.policyResult(problems), rendered, nil
	case validations.CoverageValidation:
		return RevisionResult{Name: name, Messages: uncovered(documents)}, rendered, nil
	case validations.PuppetValidation:
		result, rendered.Withheld, err = r.puppetResult(ctx, documents, fallback)
		return result, rendered, err
	case validations.PackageValidation:
		result, err = r.packageResult(ctx, documents)
		return result, rendered, err
	}
	if rendered, err = r.Render(ctx, revision, documents, fallback); err != nil {
		result, err = unfinished(name, err)
		return result, rendered, err
	}
	result.Name = name
	if rendered.Fault != nil {
		problem, isFault := errors.AsType[*fault.Fault](rendered.Fault)
		if !isFault || !isOfDocuments(problem) {
			return result, rendered, rendered.Fault
		}
		result.Messages = MessagesOf(problem)
		r.nameRules(result.Messages)
	}
	result.Warnings = rendered.Warnings
	return result, rendered, nil
}

// unfinished returns the result of a validation that ended with an error, or the error if that is not one of the
// documents. If it depends on a secret, so does all that is said about it.
func unfinished(name string, err error) (RevisionResult, error) {
	problem, isFault := errors.AsType[*fault.Fault](err)
	if !isFault || !isOfDocuments(problem) {
		return RevisionResult{}, err
	}
	result := revisionResult(name, problem)
	for i := range result.Messages {
		result.Messages[i].Secret = result.Messages[i].Secret || problem.Secret
	}
	return result, nil
}

// policyResult returns the outcome of PolicyValidation. In compat mode, selectors that select nothing are warnings:
// Deckhand renders such documents, so sites have them.
func (r Renderer) policyResult(problems []*fault.Fault) RevisionResult {
	if !r.Compat {
		return revisionResult(validations.PolicyValidation, problems...)
	}
	isOrphan := func(f *fault.Fault) bool { return f.Type == rendering.ParentNotFound }
	result := revisionResult(validations.PolicyValidation, slices.DeleteFunc(slices.Clone(problems), isOrphan)...)
	for _, problem := range problems {
		if isOrphan(problem) {
			warning := problem.Messages[0]
			warning.Error, warning.Name, warning.Level, warning.Kind = false, problem.Type, "Warning", fault.WarningKind
			result.Warnings = append(result.Warnings, warning)
		}
	}
	result.Warnings = first(worded(result.Warnings))
	return result
}

// nameRules adds the violated rules to messages that do not quote values, except in compat mode.
func (r Renderer) nameRules(messages []fault.Message) {
	if r.Compat {
		return
	}
	for i, message := range messages {
		if diagnostic, ok := message.Diagnostic.(map[string]any); ok && message.Message == validations.Sanitized {
			rule, _ := diagnostic["schema_path"].(string)
			messages[i].Message = validations.Unquoted(rule)
		}
	}
}

// maxUncovered is the number of documents that a message of uncovered names.
const maxUncovered = 20

// uncovered returns a message for each schema of documents that is not in force.
func uncovered(documents []*revisions.Stored) (messages []fault.Message) {
	of := BySchema(documents)
	for _, u := range Coverage(of) {
		message := fault.Message{
			Message: u.String(), Error: true, Name: "SchemaNotFound", Level: "Error",
			Kind: "ValidationMessage",
		}
		for _, doc := range of[u.Schema] {
			if message.Secret = message.Secret || isEncrypted(doc); len(message.Documents) < maxUncovered {
				message.Documents = append(message.Documents, documentOf(doc))
			}
		}
		messages = append(messages, message)
	}
	return messages
}

// Coverage returns the schemas of documents that are not in force. The documents are given by schema.
func Coverage(documents map[string][]*revisions.Stored) []validations.Uncovered {
	kinds := map[string]validations.Kind{}
	var registered, hidden []string
	for schema, of := range documents {
		kinds[schema] = validations.Kind{Documents: len(of), First: of[0].Identity}
	}
	for _, doc := range documents[validations.DataSchemaKind] {
		if doc.Traits().Encrypted {
			hidden = append(hidden, doc.Name)
		} else {
			registered = append(registered, doc.Name)
		}
	}
	return validations.Coverage(kinds, registered, hidden)
}

// BySchema groups documents by schema, without abstract ones.
func BySchema(documents []*revisions.Stored) map[string][]*revisions.Stored {
	of := map[string][]*revisions.Stored{}
	for _, doc := range documents {
		if !doc.Traits().Abstract {
			of[doc.Schema] = append(of[doc.Schema], doc)
		}
	}
	return of
}

// RevisionResult is the outcome of a server's validation of a whole revision, a success without messages.
type RevisionResult struct {
	Name     string
	Messages []fault.Message
	Warnings []fault.Message // these do not fail the validation
}

func revisionResult(name string, problems ...*fault.Fault) RevisionResult {
	result := RevisionResult{Name: name}
	for _, problem := range problems {
		result.Messages = append(result.Messages, MessagesOf(problem)...)
	}
	return result
}

// looksAtValues reports whether the outcome of the validation depends on the data of documents, and not only on their
// metadata.
func (r RevisionResult) looksAtValues() bool {
	return r.Name == validations.RenderingValidation || r.Name == validations.PuppetValidation
}

// Joined returns the result of a revision in which something that depends on a secret fails: if the validation looks at
// values, it fails too.
func (r RevisionResult) Joined() RevisionResult {
	if r.looksAtValues() && !slices.ContainsFunc(r.Messages, isSecret) {
		r.Messages = append(slices.Clip(r.Messages), fault.Message{
			Message: validations.Joined, Error: true, Level: "Error", Kind: "ValidationMessage", Secret: true,
		})
	}
	return r
}

func isSecret(message fault.Message) bool { return message.Secret }

// For returns the result as a viewer sees it, without warnings and time.
func (r RevisionResult) For(viewer authz.Viewer) validations.Result {
	result := validations.Result{
		Name: r.Name, Status: validations.Success.String(), Validator: []byte(`{"name":"deckhand","version":"1.0"}`),
		Errors: []byte("[]"),
	}
	if len(r.Messages) == 0 {
		return result
	}
	result.Status = validations.Failure.String()
	result.Errors = listOf(viewer.Listed(r.Messages))
	return result
}

// Outcome returns the outcome of the validation as a viewer sees it, without its time.
func (r RevisionResult) Outcome(viewer authz.Viewer) validations.Outcome {
	outcome := validations.Outcome{Name: r.Name}
	if len(r.Messages) > 0 {
		outcome.Status = validations.Failure
		if seen := viewer.Messages(r.Messages); len(seen) > 0 {
			outcome.Message = seen[0].Message
		}
	}
	return outcome
}

// Stored returns the result in stored form: its errors, then its warnings, with a single warning for all secret ones.
func (r RevisionResult) Stored() validations.Result {
	var viewer authz.Viewer
	result := r.For(viewer)
	warnings := viewer.Warnings(r.Warnings)
	if len(warnings) < len(r.Warnings) {
		level := fault.Info
		if slices.ContainsFunc(r.Warnings, func(w fault.Message) bool { return w.Secret && w.Level != fault.Info }) {
			level = "Warning"
		}
		warnings = append(warnings, validations.HiddenWarning(level))
	}
	if len(warnings) > 0 {
		result.Errors = listOf(slices.Concat(viewer.Listed(r.Messages), warnings))
	}
	return result
}

// listOf encodes messages as the errors of a result.
func listOf(messages []fault.Message) []byte {
	text, err := json.Marshal(messages)
	if err != nil {
		return []byte("[]")
	}
	return text
}

// SplitWarnings splits the errors of a stored result of a revision validation into errors and, at their end, warnings.
func SplitWarnings(stored []json.RawMessage) (errs []json.RawMessage, warnings []fault.Message) {
	n := len(stored)
	for ; n > 0; n-- {
		var message fault.Message
		if json.Unmarshal(stored[n-1], &message) != nil || message.Kind != fault.WarningKind {
			break
		}
		warnings = append(warnings, message)
	}
	slices.Reverse(warnings)
	return append([]json.RawMessage{}, stored[:n]...), warnings
}

// WarningsUnder returns the texts of warnings for a verdict. It drops what only follows from errors, and warnings about
// selectors that select nothing if PolicyValidation, which reports these itself, was performed.
func WarningsUnder(verdict validations.Verdict, warnings []fault.Message) (texts []string) {
	fitting := slices.Contains(verdict.ReportedNames(), validations.PolicyValidation)
	for _, warning := range warnings {
		if warning.Level != fault.Info && (!fitting || warning.Name != rendering.ParentNotFound) {
			texts = append(texts, warning.Message)
		}
	}
	return texts
}

// MessagesOf converts a fault to items of an entry's errors, each with the type of the error.
func MessagesOf(problem *fault.Fault) []fault.Message {
	messages := slices.Clone(problem.Messages)
	if len(messages) == 0 {
		messages = []fault.Message{{Message: problem.Message, Error: true, Secret: problem.Secret}}
	}
	for i := range messages {
		messages[i].Name = cmp.Or(messages[i].Name, problem.Type)
		messages[i].Level, messages[i].Kind = "Error", "ValidationMessage"
	}
	return messages
}
