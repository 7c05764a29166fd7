package queries

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"purser/internal/authz"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Level says how bad a finding is.
type Level uint8

// The levels, the worst first.
const (
	Error   Level = iota // it fails the revision
	Warning              // its validation fails, but does not count; or it is a likely mistake, which fails nothing
	Info                 // it fails nothing
)

// String returns the word that the API uses.
func (l Level) String() string { return [...]string{"error", "warning", "info"}[l] }

// Finding is one problem of a revision.
type Finding struct {
	Level      Level
	Validation string
	Document   document.Identity // zero if it is not about one document
	Others     []Located         // the other documents of a cycle
	Bucket     string            // of the document; empty if it is not known
	Path       string            // in the document, such as .data.a; empty if it is not known
	Rule       string            // that is broken: a path in the schema, or the type of an error
	Message    string
	Value      json.RawMessage // what is there; nil if it is secret, large or not known
	Advice     string          // what to do
	Hint       string          // what may have been meant, which Advice then is too; empty if nothing can be said
	Causes     []validations.Cause
	Secret     bool              // the viewer is not told what is wrong
	At         document.Position // in the body of the change that was made; zero if it is not known
}

// Located is a document that a finding is about too, with its position in the body of the change that was made; zero if
// that is not known.
type Located struct {
	document.Identity

	At document.Position
}

// FindingQuery restricts findings. Empty fields do not restrict.
type FindingQuery struct {
	Validation string
	Document   string // its name, schema/name or schema/layer/name
	Level      string
	Limit      int // maximum number
	// FailuresOnly leaves out likely mistakes, which fail nothing.
	FailuresOnly bool
}

// Findings are the problems of a revision, the worst first. Those of one document are adjacent.
type Findings struct {
	revisions.Shown

	Findings []Finding
	Total    int  // number that match the query, of those that were read
	More     bool // there are others, which were not read
}

// Bounds of the number of failing documents that are described.
const maxFindings, fewFindings = 10_000, 1000

// Findings returns the problems of a revision, named as for Resolve. Faults: NotFound, Gone.
func (v View) Findings(ctx context.Context, id string, query FindingQuery) (found Findings, err error) {
	evidence, err := v.evidenceOf(ctx, id)
	if err != nil {
		return found, err
	}
	found.Shown = v.weigh(evidence)[0]
	look := maxFindings
	if query.Validation+query.Document+query.Level == "" { // each failing document has a finding at least
		look = max(fewFindings, min(look, query.Limit))
	}
	all, more, err := v.allFindings(ctx, found.Shown, look, query.FailuresOnly)
	if err != nil {
		return found, err
	}
	found.choose(all, query)
	found.More = more
	return found, nil
}

// PreviewFindings returns the problems of the revision that a previewed change would make.
func PreviewFindings(preview *changes.Preview, query FindingQuery) Findings {
	found := Findings{Shown: preview.Shown}
	about := judgedValidations(found.Verdict)
	var all []Finding
	if name, judged, fails := schemaJudged(about); fails {
		for _, of := range preview.Findings {
			for _, e := range of.Errors {
				all = append(all, findingOf(e, name, judged.levelOf(e, found.Verdict), of.About))
			}
		}
	}
	errs := map[string][]json.RawMessage{}
	var warnings []Finding
	for _, result := range preview.Results {
		if about[result.Name].status == validations.Failure {
			errs[result.Name] = errorsOf(result.Result)
		}
		warnings = append(warnings, warned(result.Name, result.Warnings)...)
	}
	found.choose(slices.Concat(all, otherFindings(about, errs), warnings), query)
	return found
}

// choose sets the findings that match a query, the worst first.
func (f *Findings) choose(all []Finding, query FindingQuery) {
	all = withoutRepeated(all)
	all = slices.DeleteFunc(all, func(f Finding) bool { return !query.admits(f) })
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Document.Schema, b.Document.Schema),
			cmp.Compare(a.Document.Layer, b.Document.Layer), cmp.Compare(a.Document.Name, b.Document.Name))
	})
	f.Total, f.Findings = len(all), all[:min(len(all), query.Limit)]
}

// allFindings returns the findings of all validations in a verdict. It describes up to look failing documents and some
// megabytes of posted errors; more says that it left out others.
func (v View) allFindings(ctx context.Context, shown revisions.Shown, look int, failuresOnly bool) (
	all []Finding, more bool, err error,
) {
	about := judgedValidations(shown.Verdict)
	all, more, err = v.schemaFindings(ctx, shown, about, look)
	if err != nil {
		return nil, false, err
	}
	reported, moreReported, err := v.resultFindings(ctx, shown.Revision, about, failuresOnly)
	if err != nil {
		return nil, false, err
	}
	return withoutRepeated(append(all, reported...)), more || moreReported, nil
}

// judgedValidations returns the validations of a verdict that did not succeed, and the one that gives warnings, by
// name, with the level of their findings.
func judgedValidations(verdict validations.Verdict) map[string]judgedAs {
	about := map[string]judgedAs{}
	add := func(list []validations.Judged, level Level) {
		for _, judged := range list {
			says := judged.Status != validations.Success || judged.Name == validations.RenderingValidation
			if known, ok := about[judged.Name]; says && (!ok || level < known.level) {
				about[judged.Name] = judgedAs{judged.Status, level}
			}
		}
	}
	for _, policy := range verdict.Policies {
		add(policy.Validations, Error)
	}
	add(verdict.Reported, Error)
	add(verdict.Ignored, Warning)
	return about
}

type judgedAs struct {
	status validations.Status
	level  Level
}

// levelOf returns the level of an error. An invalid ValidationPolicy fails the revision even if no policy lists the
// validation that finds it.
func (j judgedAs) levelOf(e validations.Error, verdict validations.Verdict) Level {
	id := document.Identity{Schema: e.Schema, Layer: e.Layer, Name: e.Name}
	if slices.ContainsFunc(verdict.Policies, func(p validations.PolicyVerdict) bool {
		return p.Policy.Broken && p.Policy.Identity == id
	}) {
		return Error
	}
	return j.level
}

// schemaFindings returns the findings of the schema validation under the name that schemaJudged chooses. It describes
// up to look failing documents; more says that there are others.
func (v View) schemaFindings(ctx context.Context, shown revisions.Shown, about map[string]judgedAs, look int) (
	all []Finding, more bool, err error,
) {
	name, judged, fails := schemaJudged(about)
	if !fails {
		return nil, false, nil
	}
	found, err := v.described(ctx, shown.Revision, EntryQuery{Limit: look + 1, FailuresOnly: true})
	if err != nil {
		return nil, false, err
	}
	if more = len(found.Rows) > look; more {
		found.Rows = found.Rows[:look]
	}
	reports, err := v.renderer.Report(ctx, v.viewer, found, false)
	if err != nil {
		return nil, false, err
	}
	for i, row := range found.Rows {
		for _, e := range reports[i] {
			all = append(all, findingOf(e, name, judged.levelOf(e, shown.Verdict), row.About))
		}
	}
	return all, more, nil
}

// schemaJudged returns the status and level of the schema validation if it fails, under that of its two names with the
// worse level.
func schemaJudged(about map[string]judgedAs) (name string, judged judgedAs, fails bool) {
	name = validations.SchemaValidation
	judged, fails = about[name]
	if alias, ok := about[validations.SchemaValidationAlias]; ok && (!fails || alias.level < judged.level) {
		return validations.SchemaValidationAlias, alias, true
	}
	return name, judged, fails
}

// findingOf converts an error of the schema validation.
func findingOf(e validations.Error, validation string, level Level, about *revisions.Stored) Finding {
	f := Finding{
		Level: level, Validation: validation, Message: e.Message, Secret: authz.IsWithheld(e.Message),
		Document: document.Identity{Schema: e.Schema, Layer: e.Layer, Name: e.Name},
	}
	if e.Name == "" || f.Secret {
		return f
	}
	f.Bucket, f.Path, f.Rule, f.Hint, f.Causes = about.Bucket, e.Path, e.SchemaPath, e.Hint, e.Causes
	f.Advice = cmp.Or(f.Hint, adviceOf(e.SchemaPath))
	switch {
	case e.Message == validations.Sanitized:
		f.Message = validations.Unquoted(f.Rule)
	case !about.Traits().Encrypted:
		f.Value = valueAt(about.Data, e.Path)
	}
	return f
}

// valueAt returns the value at the path of an error in a document's data, nil if it is large.
func valueAt(data []byte, path string) json.RawMessage {
	const maxValue = 200
	parts := strings.Split(path, ".") // .data.a.b
	value, err := document.ParseJSON(data)
	if err != nil || len(parts) <= 2 {
		return nil
	}
	text := document.AppendJSON(nil, document.Locate(value, parts[2:]))
	if len(text) > maxValue || string(text) == "null" {
		return nil
	}
	return text
}

// withoutRepeated removes findings with the document and message of an earlier one, and with its path or none: the
// rendering validation repeats findings of the schema validation.
func withoutRepeated(all []Finding) []Finding {
	type said struct {
		document.Identity

		message, path string
	}
	by := map[said]string{} // the validation that found it first
	return slices.DeleteFunc(all, func(f Finding) bool {
		if f.Document == (document.Identity{}) {
			return false
		}
		what := said{f.Document, f.Message, f.Path}
		first, known := by[what]
		if known && (f.Path == "" || first != f.Validation) {
			return true
		}
		if !known {
			by[what] = f.Validation
		}
		by[said{f.Document, f.Message, ""}] = f.Validation
		return false
	})
}

// admits reports whether a finding matches the query.
func (q FindingQuery) admits(f Finding) bool {
	names := []string{
		f.Document.Name, f.Document.Schema + "/" + f.Document.Name,
		f.Document.Schema + "/" + f.Document.Layer + "/" + f.Document.Name,
	}
	return (q.Validation == "" || q.Validation == f.Validation) && (q.Level == "" || q.Level == f.Level.String()) &&
		(q.Document == "" || slices.Contains(names, q.Document))
}
