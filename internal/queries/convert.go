package queries

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/fault"
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
	// Votes is what its approvals say; "" unless it needs some.
	Votes string
}

// before reports whether the findings of a validation in one policy are shown rather than those in another one: what
// is wrong before what holds, and then the more severe.
func (s statusLevel) before(other statusLevel) bool {
	holds := func(s statusLevel) int {
		if (validations.Judged{Status: s.Status}).Holds() {
			return 1
		}
		return 0
	}
	worst := 0
	if worse(other.Status, s.Status) != other.Status {
		worst = -1
	}
	return cmp.Or(cmp.Compare(holds(s), holds(other)), cmp.Compare(s.Level, other.Level), worst) < 0
}

// withFindingsIn returns the validations of a verdict that may have findings.
func withFindingsIn(verdict validations.Verdict) withFindings {
	by := map[string]statusLevel{}
	add := func(judged validations.Judged, as statusLevel) {
		says := !judged.Holds() || judged.Name == validations.RenderingValidation ||
			judged.Name == validations.PolicyValidation
		if as.Status = judged.Status; !judged.Holds() && judged.Passes() {
			as.Level = LevelWarning
		}
		if known, ok := by[judged.Name]; says && (!ok || as.before(known)) {
			by[judged.Name] = as
		}
	}
	for _, policy := range verdict.Policies {
		for _, judged := range policy.Validations {
			as := statusLevel{Level: LevelError}
			if judged.Approved {
				as.Votes = judged.Message
			}
			add(judged, as)
		}
	}
	for _, judged := range verdict.Reported {
		add(judged, statusLevel{Level: LevelError})
	}
	for _, judged := range verdict.Ignored {
		add(judged, statusLevel{Level: LevelWarning})
	}
	return withFindings{verdict, by}
}

// fails reports whether a validation failed, be it one that does not count.
func (j withFindings) fails() bool {
	for _, judged := range j.by {
		if judged.Status == validations.Failure {
			return true
		}
	}
	return false
}

// countOpen returns the number of validations whose results are missing or expired, be they ones that do not count.
func (j withFindings) countOpen() (count int) {
	for _, judged := range j.by {
		if judged.Status == validations.Missing || judged.Status == validations.Expired {
			count++
		}
	}
	return count
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

// unexplained returns the finding of the schema validation that only has a message: the one that stands for all
// failures that depend on secrets, or that says that it fails together with another validation.
func (j withFindings) unexplained(message string) []Finding {
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
	var value string
	if strings.HasPrefix(e.Schema, validations.PolicyPrefix) && strings.HasSuffix(e.SchemaPath, ".expiresAfter.pattern") &&
		json.Unmarshal(f.Value, &value) == nil {
		if duration := validations.AsDuration(value); duration != "" {
			f.Hint, f.Advice = "write "+duration, "write "+duration
		}
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

// errorsOf returns the errors of a result of one of the server's validations.
func errorsOf(result validations.Result) (errs []json.RawMessage) {
	_ = json.Unmarshal(result.Errors, &errs) // they were written by the server
	return errs
}

// The rules of findings about results that are not failures, and about a failure without errors.
const ruleMissing, ruleExpired, ruleUnexplained = "missing", "expired", "unexplained"

// ruleRejected is the rule of the finding about a validation that needs approvals and that a user has rejected.
const ruleRejected = "rejected"

// ofResults returns the findings of all validations except the schema validation. errs are the errors of failed
// validations by name.
func (j withFindings) ofResults(errs map[string][]json.RawMessage) (all []Finding) {
	for _, name := range slices.Sorted(maps.Keys(j.by)) {
		f := Finding{Level: j.by[name].Level, Validation: name}
		list, failed := errs[name]
		votes := j.by[name].Votes
		switch {
		case j.by[name].Status == validations.Missing && votes != "":
			f.Rule, f.Message, f.Advice = ruleMissing, votes, "have more users approve the revision"
			all = append(all, f)
		case j.by[name].Status == validations.Failure && votes != "": // the newest result may be another user's
			f.Rule, f.Message, f.Advice = ruleRejected, votes, "have the user approve it, or change what is wrong"
			all = append(all, f)
		case j.by[name].Status == validations.Missing:
			f.Rule, f.Message = ruleMissing, "No result has been posted"
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
			all = append(all, errorFindings(f, list)...)
		}
	}
	return all
}

// errorFindings converts the errors of a failed result to findings with the other fields of like. Without errors it
// returns a single finding that says so.
func errorFindings(like Finding, errs []json.RawMessage) (all []Finding) {
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
		f.describe(message)
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
		like.Rule, like.Message = ruleUnexplained, "It failed, and its result does not say why"
		like.Advice = "ask its service why, and have it post errors with its results"
		all = append(all, like)
	}
	return all
}

// warningFindings converts the warnings of a validation to findings.
func warningFindings(validation string, warnings []fault.Message) (all []Finding) {
	for _, warning := range warnings {
		f := Finding{Level: LevelWarning, Validation: validation, Mistake: true}
		if f.describe(warning); warning.Level == fault.Info {
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

// describe sets fields of the finding from a message.
func (f *Finding) describe(message fault.Message) {
	f.Message, f.Rule, f.Secret, f.Advice = message.Message, message.Name, message.Secret, adviceOf(message.Name)
	f.Path = message.Path
	if len(message.Documents) > 0 {
		f.Document = changes.IdentityOf(message.Documents[0])
	}
	if f.Rule == "SubstitutionDependencyCycle" {
		for _, other := range message.Documents[min(1, len(message.Documents)):] {
			f.Others = append(f.Others, Located{Identity: changes.IdentityOf(other)})
		}
	}
}

// adviceOf returns advice on a broken rule, which is the type of an error or a path in a schema that ends with a
// keyword.
func adviceOf(rule string) string {
	switch rule[strings.LastIndex(rule, ".")+1:] {
	case "required", "dependencies", "dependentRequired":
		return "add the property, or correct its name"
	case "additionalProperties", "unevaluatedProperties":
		return "remove the property, or correct its name"
	case "type":
		return "write a value of the type that the schema requires"
	case "const":
		return "write the value that the schema requires"
	case "anyOf", "oneOf":
		return "make it conform to one of the schemas; the causes are those of the most likely one"
	case "enum":
		return "use one of the values that the schema lists"
	case "pattern", "format", "minLength", "maxLength":
		return "correct the string"
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return "use a number that the schema allows"
	case "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "items", "additionalItems",
		"contains", "minContains", "maxContains", "unevaluatedItems":
		return "add or remove items"
	case unknownKey:
		return "remove the key, or correct its name and its indentation"
	case "SchemaNotFound":
		return "correct the document's schema, or register a DataSchema of this name"
	case "UnresolvableReference":
		return "correct the reference, or write into the schema what it refers to"
	case "InvalidDocumentLayer":
		return "correct the layer of the document, or add it to the LayeringPolicy's layerOrder"
	case "DocumentParentNotFound", "InvalidDocumentParent", "IndeterminateDocumentParent":
		return "correct the parentSelector, or the labels of the intended parent"
	case "SubstitutionSourceNotFound":
		return "correct the source's schema and name, or add such a document that is not abstract"
	case "SubstitutionSourceDataNotFound", "MissingDocumentKey", "MissingDocumentPattern", "DocumentPatternNotFound",
		"SourcePatternNotFound":
		return "correct the path, the pattern or the source data"
	case "SubstitutionDependencyCycle":
		return "remove one of these substitutions or parents"
	case "InvalidDocumentReplacement":
		return "correct the name, the parentSelector or replacement"
	}
	return ""
}
