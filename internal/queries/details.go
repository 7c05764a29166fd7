package queries

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// details are the errors and warnings of a result.
type details struct {
	errors   []json.RawMessage
	warnings []fault.Message // only of the server's own validations
}

// detailsOf returns the details of a result. It repeats a validation whose secret messages were not stored.
func (v View) detailsOf(ctx context.Context, revision revisions.Revision, name string, stored []byte) (details, error) {
	d, err := v.stored(name, stored)
	if err != nil {
		return d, err
	}
	isSecret := func(warning fault.Message) bool { return warning.Secret }
	withheld := false
	if isOfRevision(name) {
		d.errors, withheld = withoutWithheld(d.errors)
	}
	if withheld && !v.viewer.Encrypted {
		summary, err := itemsOf(v.viewer.Messages([]fault.Message{{Secret: true}}))
		d.errors, d.warnings = append(d.errors, summary...), v.viewer.Warnings(d.warnings)
		return d, err
	}
	if hidden := v.viewer.Secrets() && slices.ContainsFunc(d.warnings, isSecret); !withheld && !hidden {
		d.warnings = v.viewer.Warnings(d.warnings)
		return d, nil
	}
	result, err := v.revealed(ctx, revision, name, withheld)
	if err != nil {
		return d, err
	}
	switch {
	case len(result.Messages) > 0:
		d.errors, err = itemsOf(v.viewer.Listed(result.Messages))
	case withheld: // the validation now succeeds
		d.errors, err = itemsOf(authz.Viewer{}.Messages([]fault.Message{{Secret: true}}))
	}
	if len(result.Warnings) > 0 {
		d.warnings = result.Warnings
	}
	d.warnings = v.viewer.Warnings(d.warnings)
	return d, err
}

// withoutWithheld returns the stored errors of a result without the replacement for withheld messages, and without the
// count that earlier versions stored behind it. It reports whether there was one.
func withoutWithheld(errors []json.RawMessage) (others []json.RawMessage, found bool) {
	others = make([]json.RawMessage, 0, len(errors))
	for _, text := range errors {
		var read struct { // most messages need not be read in full
			Message string `json:"message"`
		}
		if json.Unmarshal(text, &read) != nil || !authz.IsWithheld(read.Message) && !authz.CountsWithheld(read.Message) {
			others = append(others, text)
		}
	}
	return others, len(others) < len(errors)
}

// stored decodes the errors of a result in their stored form.
func (v View) stored(name string, errors []byte) (d details, err error) {
	if err := json.Unmarshal(errors, &d.errors); err != nil {
		return d, fmt.Errorf("read the errors of a result: %w", err)
	}
	if isOfRevision(name) {
		d.errors, d.warnings = changes.SplitWarnings(d.errors)
	}
	if v.renderer.Compat && name != validations.PolicyValidation {
		d.warnings = nil
	}
	return d, nil
}

// itemsOf converts messages to the errors of an entry. It never returns nil.
func itemsOf(messages []fault.Message) (items []json.RawMessage, err error) {
	for _, message := range messages {
		text, err := json.Marshal(message)
		if err != nil {
			return nil, fmt.Errorf("write a message: %w", err)
		}
		items = append(items, text)
	}
	return items, nil
}

// isOfRevision reports whether name is one of the server's validations of whole revisions.
func isOfRevision(name string) bool {
	return validations.IsOwn(name) && name != validations.SchemaValidation
}

// revealed repeats a validation of a whole revision to show the parts of its outcome that are not stored to viewers who
// may see encrypted documents. withheld reports whether it fails because of a secret. The result is empty for other
// viewers, and if the validation is not the server's.
func (v View) revealed(ctx context.Context, revision revisions.Revision, name string, withheld bool) (
	result changes.RevisionResult, err error,
) {
	if !isOfRevision(name) || !v.viewer.Encrypted {
		return result, nil
	}
	key := changes.RenderKey{Revision: revision.ID, Stamp: revision.Stamp}
	documents, err := v.allDocuments(ctx, key)
	if err != nil {
		return result, err
	}
	fallback, err := v.fallback(ctx, revision.ID, documents)
	if err != nil {
		return result, err
	}
	result, _, err = v.renderer.ValidateRevision(ctx, name, revision.ID, documents, fallback)
	if withheld && revision.SecretFails {
		result = result.Joined()
	}
	return result, err
}

// warnings returns likely mistakes that do not fail a revision: documents without a schema, unless a policy lists the
// validation that finds these, the warnings of the server's own validations, and stray keys. The reference has none.
func (v View) warnings(ctx context.Context, shown revisions.RevisionStatus) ([]string, error) {
	if v.renderer.Compat {
		return nil, nil
	}
	key := changes.RenderKey{Revision: shown.ID, Stamp: shown.Stamp, Cleartext: !v.viewer.Secrets()}
	return v.warned.Do(ctx, key, func(ctx context.Context) (all []string, size int, err error) {
		uncovered, err := v.uncovered(ctx, shown)
		if err != nil {
			return nil, 0, err
		}
		if warning := validations.CoverageWarning(uncovered); warning != "" {
			all = append(all, warning)
		}
		if slices.Contains(shown.Verdict.ReportedNames(), validations.RenderingValidation) {
			newest, err := v.newest(ctx, shown.Revision, validations.RenderingValidation)
			if err != nil {
				return nil, 0, err
			}
			all = append(all, changes.WarningsUnder(shown.Verdict, v.viewer.Warnings(newest.warnings))...)
		}
		noted, err := v.strays(ctx, shown.Revision, changes.MaxStrays+1)
		if err != nil {
			return nil, 0, err
		}
		var strays []string
		for _, row := range noted {
			strays = changes.AppendStrays(strays, row.About, row.Notes)
		}
		all = append(all, strays...)
		for _, warning := range all {
			size += len(warning)
		}
		return all, size, nil
	})
}

// uncovered returns the schemas of documents of a revision that are not in force; none if a policy lists the validation
// that finds these. The reference has none either.
func (v View) uncovered(ctx context.Context, shown revisions.RevisionStatus) ([]validations.Uncovered, error) {
	if v.renderer.Compat || slices.Contains(shown.Verdict.ReportedNames(), validations.CoverageValidation) {
		return nil, nil
	}
	documents, registered, err := v.store.Kinds(ctx, shown.ID, !v.viewer.Secrets())
	if err != nil {
		err = revisions.Explained(ctx, v.store, shown.ID, err)
		return nil, fmt.Errorf("read the schemas of documents: %w", err)
	}
	return validations.Coverage(documents, registered, nil), nil
}

// newest returns the stored details of the newest result of a validation.
func (v View) newest(ctx context.Context, revision revisions.Revision, name string) (d details, err error) {
	reported, err := v.store.Reported(ctx, revision, name)
	var errs map[int64][]byte
	if err == nil && len(reported) > 0 {
		reported = reported[len(reported)-1:]
		errs, err = v.store.ResultErrors(ctx, revision, []int64{reported[0].ID})
	}
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return d, fmt.Errorf("read validation results: %w", err)
	}
	if len(errs) == 0 {
		return d, nil
	}
	return v.stored(name, errs[reported[0].ID])
}
