package queries

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

// errorsOf returns the errors of a result of one of the server's validations.
func errorsOf(result validations.Result) (errs []json.RawMessage) {
	_ = json.Unmarshal(result.Errors, &errs) // they were written by the server
	return errs
}

// The rules of findings about results that are not failures.
const ruleMissing, ruleExpired = "missing", "expired"

// ofResults returns the findings of all validations except the schema validation. errs are the errors of failed
// validations by name.
func (j withFindings) ofResults(errs map[string][]json.RawMessage) (all []Finding) {
	for _, name := range slices.Sorted(maps.Keys(j.by)) {
		f := Finding{Level: j.by[name].Level, Validation: name}
		list, failed := errs[name]
		switch {
		case j.by[name].Status == validations.Missing:
			f.Rule, f.Message = ruleMissing, "Nobody has reported a result of this validation"
			f.Advice = "have its service validate the revision and post the result"
			if validations.IsOwn(name) { // the revision is older than the validation
				f.Message = "The server has not made this validation of the revision"
				f.Advice = "upload a change: the server validates each new revision by itself"
			}
			if why := validations.Unmakeable(name); why != "" {
				f.Message, f.Advice = "There will be no result: "+why, "correct the name in the ValidationPolicy"
			}
			all = append(all, f)
		case j.by[name].Status == validations.Expired:
			f.Rule, f.Message = ruleExpired, "The result is older than the policy allows"
			f.Advice = "have its service validate the revision again"
			all = append(all, f)
		case failed:
			all = append(all, posted(f, list)...)
		}
	}
	return all
}

// posted converts the errors of a failed result to findings with the other fields of like. Without errors it returns a
// single finding that says so.
func posted(like Finding, errs []json.RawMessage) (all []Finding) {
	for _, text := range errs {
		var read struct {
			fault.Message

			Diagnostic json.RawMessage `json:"diagnostic"` // not Message's, because only one member is needed
		}
		_ = json.Unmarshal(text, &read) // other services may use its field names differently
		message := read.Message
		if message.Message == "" {
			message = fault.Message{Message: string(text)}
		}
		f := like
		f.say(message)
		if validations.IsOwn(f.Validation) {
			f.Unlisted = message.Unlisted
		}
		if message.Name == "D002" && bytes.HasPrefix(read.Diagnostic, []byte("{")) {
			var diagnostic struct {
				SchemaPath string `json:"schema_path"`
			}
			_ = json.Unmarshal(read.Diagnostic, &diagnostic)
			f.Rule, f.Advice = diagnostic.SchemaPath, adviceOf(diagnostic.SchemaPath)
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
		f := Finding{Level: LevelWarning, Validation: validation, Mistake: true}
		if f.say(warning); warning.Level == fault.Info {
			f.Level = LevelInfo
		}
		all = append(all, f)
	}
	return all
}

// ofUncovered returns a warning for each of the first 1000 schemas that are not in force, about one of its documents;
// more reports whether there are others.
func ofUncovered(uncovered []validations.Uncovered) (all []Finding, more bool) {
	const rule, most = "SchemaNotFound", 1000
	for _, u := range uncovered[:min(len(uncovered), most)] {
		all = append(all, Finding{
			Level: LevelWarning, Validation: validations.CoverageValidation, Document: u.First, Rule: rule, Mistake: true,
			Message: u.String(), Advice: adviceOf(rule),
		})
	}
	return all, len(uncovered) > most
}

// say sets fields of the finding from a message.
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
