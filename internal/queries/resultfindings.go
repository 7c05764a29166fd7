package queries

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// errorsOf returns the errors of a result that the server made.
func errorsOf(result validations.Result) (errs []json.RawMessage) {
	_ = json.Unmarshal(result.Errors, &errs) // they were written by the server
	return errs
}

// resultFindings returns the findings of all validations except the schema validation, including missing and expired
// results and, without failuresOnly, warnings. It reads at most some megabytes of errors; more says that there are
// others.
func (v View) resultFindings(ctx context.Context, revision revisions.Revision, about map[string]judgedAs,
	failuresOnly bool,
) (all []Finding, more bool, err error) {
	latest, more, err := v.latestFailures(ctx, revision, about)
	if err != nil {
		return nil, false, err
	}
	errs, err := v.store.ResultErrors(ctx, revision, slices.Sorted(maps.Values(latest)))
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return nil, false, fmt.Errorf("read the errors of validation results: %w", err)
	}
	read := map[string][]json.RawMessage{}
	var warnings []Finding
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		found, err := v.detailsOf(ctx, revision, name, errs[latest[name]])
		if err != nil {
			return nil, false, err
		}
		if about[name].status == validations.Failure {
			read[name] = found.errors
		}
		if !failuresOnly {
			warnings = append(warnings, warned(name, found.warnings)...)
		}
	}
	return append(otherFindings(about, read), warnings...), more, nil
}

// otherFindings returns the findings of all validations except the schema validation. errs are the errors of failed
// validations by name.
func otherFindings(about map[string]judgedAs, errs map[string][]json.RawMessage) (all []Finding) {
	for _, name := range slices.Sorted(maps.Keys(about)) {
		f := Finding{Level: about[name].level, Validation: name}
		list, failed := errs[name]
		switch {
		case about[name].status == validations.Missing:
			f.Rule, f.Message = "missing", "Nobody has reported a result of this validation"
			f.Advice = "have its service validate the revision and post the result"
			if validations.IsOwn(name) { // it is made with a revision, and the revision is older than it
				f.Message = "The server has not made this validation of the revision"
				f.Advice = "upload a change: the server validates each new revision by itself"
			}
			if why := validations.Unmakeable(name); why != "" {
				f.Message, f.Advice = "There will be no result: "+why, "correct the name in the ValidationPolicy"
			}
			all = append(all, f)
		case about[name].status == validations.Expired:
			f.Rule, f.Message = "expired", "The result is older than the policy allows"
			f.Advice = "have its service validate the revision again"
			all = append(all, f)
		case failed:
			all = append(all, posted(f, list)...)
		}
	}
	return all
}

// latestFailures returns the ids of the newest results of validations that failed or give warnings, by name, with
// together at most some megabytes of errors; more says that there are others. It leaves out the schema validation,
// whose findings are not stored as results.
func (v View) latestFailures(ctx context.Context, revision revisions.Revision, about map[string]judgedAs) (
	ids map[string]int64, more bool, err error,
) {
	const maxSize = 8 << 20
	reported, err := v.store.Reported(ctx, revision, "")
	if err != nil {
		err = revisions.Explained(ctx, v.store, revision.ID, err)
		return nil, false, fmt.Errorf("read validation results: %w", err)
	}
	latest := map[string]Reported{} // the last of a name is its newest
	for _, result := range reported {
		own := result.Name == validations.SchemaValidation || result.Name == validations.SchemaValidationAlias
		judged, says := about[result.Name]
		if !own && says && judged.status != validations.Expired {
			latest[result.Name] = result
		}
	}
	ids, size := map[string]int64{}, 0
	for _, name := range slices.Sorted(maps.Keys(latest)) {
		if size += latest[name].Size; size > maxSize && len(ids) > 0 {
			return ids, true, nil
		}
		ids[name] = latest[name].ID
	}
	return ids, false, nil
}

// posted converts the errors of a failed result to findings that take their other fields from like. Without errors it
// returns one finding that says so.
func posted(like Finding, errs []json.RawMessage) (all []Finding) {
	for _, text := range errs {
		var message fault.Message
		_ = json.Unmarshal(text, &message) // others may use the names of its fields for something else
		if message.Message == "" {
			message = fault.Message{Message: string(text)}
		}
		f := like
		f.say(message)
		if diagnostic, ok := message.Diagnostic.(map[string]any); ok && message.Name == "D002" {
			f.Rule, _ = diagnostic["schema_path"].(string)
			f.Advice = adviceOf(f.Rule)
			if f.Message == validations.Sanitized { // as earlier versions stored it
				f.Message = validations.Unquoted(f.Rule)
			}
		}
		all = append(all, f)
	}
	if len(errs) == 0 {
		like.Rule, like.Message = "unexplained", "It failed, and its result does not say why"
		like.Advice = "ask its service why, and have it post errors with its results"
		all = append(all, like)
	}
	return all
}

// warned converts the warnings of a validation to findings.
func warned(validation string, warnings []fault.Message) (all []Finding) {
	for _, warning := range warnings {
		f := Finding{Level: Warning, Validation: validation}
		f.say(warning)
		all = append(all, f)
	}
	return all
}

// say sets the fields that a message has.
func (f *Finding) say(message fault.Message) {
	f.Message, f.Rule, f.Secret, f.Advice = message.Message, message.Name, message.Secret, adviceOf(message.Name)
	f.Path = message.Path
	if len(message.Documents) > 0 {
		f.Document = identityOf(message.Documents[0])
	}
	if f.Rule == "SubstitutionDependencyCycle" {
		for _, other := range message.Documents[min(1, len(message.Documents)):] {
			f.Others = append(f.Others, Located{Identity: identityOf(other)})
		}
	}
}

func identityOf(named fault.Document) document.Identity {
	return document.Identity{Schema: named.Schema, Layer: named.Layer, Name: named.Name}
}
