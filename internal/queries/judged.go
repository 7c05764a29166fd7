package queries

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// withFindings maps the names of the validations of a verdict that may have findings to their judgements: those that
// did not succeed, and those that give warnings. Do not modify it.
type withFindings struct {
	verdict validations.Verdict
	by      map[string]statusLevel
}

// statusLevel is the status of a validation and the level of its findings.
type statusLevel struct {
	Status validations.Status
	Level  Level
}

// withFindingsIn returns the validations of a verdict that may have findings.
func withFindingsIn(verdict validations.Verdict) withFindings {
	by := map[string]statusLevel{}
	add := func(list []validations.Judged, level Level) {
		for _, judged := range list {
			says := judged.Status != validations.Success || judged.Name == validations.RenderingValidation ||
				judged.Name == validations.PolicyValidation
			if known, ok := by[judged.Name]; says && (!ok || level < known.Level) {
				by[judged.Name] = statusLevel{judged.Status, level}
			}
		}
	}
	for _, policy := range verdict.Policies {
		add(policy.Validations, LevelError)
	}
	add(verdict.Reported, LevelError)
	add(verdict.Ignored, LevelWarning)
	return withFindings{verdict, by}
}

// Fails reports whether a validation failed, be it one that does not count.
func (j withFindings) Fails() bool {
	for _, judged := range j.by {
		if judged.Status == validations.Failure {
			return true
		}
	}
	return false
}

// countOpen returns the number of validations whose results are missing or expired.
func (j withFindings) countOpen() (count int) {
	for _, judged := range j.by {
		if judged.Status == validations.Missing || judged.Status == validations.Expired {
			count++
		}
	}
	return count
}

// schemaFails reports whether the schema validation fails.
func (j withFindings) schemaFails() bool {
	_, _, fails := j.schema()
	return fails
}

// schema returns the judgement of the schema validation if it fails, under the more severe of its two names.
func (j withFindings) schema() (name string, judged statusLevel, fails bool) {
	name = validations.SchemaValidation
	judged, fails = j.by[name]
	if alias, ok := j.by[validations.SchemaValidationAlias]; ok && (!fails || alias.Level < judged.Level) {
		return validations.SchemaValidationAlias, alias, true
	}
	return name, judged, fails
}

// ofDocument converts the errors of the schema validation about a document to findings. An invalid ValidationPolicy
// fails the revision even if no policy lists the validation that finds it.
func (j withFindings) ofDocument(about *revisions.Stored, errs []validations.Error) []Finding {
	name, judged, fails := j.schema()
	if !fails {
		return nil
	}
	var value any
	if about != nil {
		value, _ = document.ParseJSON(about.Data) // it was stored as JSON
	}
	hides := about == nil || about.Traits().Encrypted
	found := make([]Finding, len(errs))
	for i, e := range errs {
		id, level := document.Identity{Schema: e.Schema, Layer: e.Layer, Name: e.Name}, judged.Level
		if slices.ContainsFunc(j.verdict.Policies, func(p validations.PolicyVerdict) bool {
			return p.Policy.Broken && p.Policy.Identity == id
		}) {
			level = LevelError
		}
		found[i] = findingOf(e, name, level, about, value, hides)
	}
	return found
}

// Unexplained returns the finding of the schema validation that only has a message: the one that stands for all
// failures that depend on secrets, or that says that it fails together with another validation.
func (j withFindings) Unexplained(message string) []Finding {
	return j.ofDocument(nil, []validations.Error{validations.Unexplained(nil, message, false)})
}

// findingOf converts an error of the schema validation to a finding. hides is whether the document's values are secret.
func findingOf(e validations.Error, validation string, level Level, about *revisions.Stored, data any, hides bool,
) Finding {
	f := Finding{
		Level: level, Validation: validation, Message: e.Message, Secret: authz.IsWithheld(e.Message),
		Document: document.Identity{Schema: e.Schema, Layer: e.Layer, Name: e.Name},
		Unlisted: e.Unlisted,
	}
	if e.Name == "" || f.Secret || f.Unlisted > 0 {
		return f
	}
	f.Bucket, f.Path, f.Rule, f.Hint, f.Causes = about.Bucket, e.Path, e.SchemaPath, e.Hint, e.Causes
	f.Advice = cmp.Or(f.Hint, adviceOf(e.SchemaPath))
	switch {
	case e.Message == validations.Sanitized:
		f.Message = validations.Unquoted(f.Rule)
	case !hides:
		f.Value = valueAt(data, e.Path)
	}
	return f
}

// unknownKey is the rule of findings about stray keys.
const unknownKey = "UnknownKey"

// strayFindings returns warnings about the keys that a document was uploaded with and that are lost or have no effect.
// The viewer may see notes.
func strayFindings(about *revisions.Stored, notes []document.Note) (all []Finding) {
	for _, note := range notes {
		if validations.IsStray(note) {
			all = append(all, Finding{
				Level: LevelWarning, Validation: validations.SchemaValidation, Document: about.Identity, Bucket: about.Bucket,
				Path: note.Path, Rule: unknownKey, Message: note.Message, Advice: adviceOf(unknownKey),
				Mistake: true,
			})
		}
	}
	return all
}

// OfUpload returns warnings about stray keys of uploaded documents that the viewer may see.
func OfUpload(documents []*revisions.Stored, viewer authz.Viewer) (all []Finding) {
	for _, doc := range documents {
		if viewer.Secrets() || !doc.Traits().Encrypted {
			all = append(all, strayFindings(doc, doc.Notes)...)
		}
	}
	return all
}

// valueAt returns the value at the path of an error in a document's data, nil if it is large.
func valueAt(data any, path string) json.RawMessage {
	const maxValue = 200
	parts := strings.Split(path, ".") // .data.a.b
	if len(parts) <= 2 {
		return nil
	}
	value := document.Locate(data, parts[2:])
	if value == nil {
		return nil
	}
	return document.ShortJSON(value, maxValue)
}
