package findings

import (
	"cmp"
	"encoding/json"
	"slices"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Level is the severity of a finding.
type Level uint8

// The levels, from the most severe.
const (
	Error   Level = iota // it fails the revision
	Warning              // its validation fails but does not count, or it is a likely mistake that fails nothing
	Info                 // it fails nothing
)

// String returns the word that the API uses.
func (l Level) String() string { return [...]string{"error", "warning", "info"}[l] }

// Finding is one problem of a revision.
type Finding struct {
	Level      Level
	Validation string
	Document   document.Identity // zero if it is not about one document
	Others     []Located         // the other documents of a substitution cycle
	Bucket     string            // of the document; empty if unknown
	Path       string            // in the document, such as .data.a; empty if unknown
	Rule       string            // the broken rule: a path in the schema, or the type of an error
	Message    string
	Value      json.RawMessage // the current value; nil if it is secret, large or unknown
	Advice     string          // what to do
	Hint       string          // a guess at what was meant, repeated in Advice; empty if there is none
	Causes     []validations.Cause
	Secret     bool              // the details are hidden from the viewer
	At         document.Position // in the body of the change that was made; zero if unknown
}

// Located is another document that a finding is about, with its position in the body of the change that was made; zero
// if unknown.
type Located struct {
	document.Identity

	At document.Position
}

// Query restricts findings. Empty fields do not restrict.
type Query struct {
	Validation string
	Document   string // its name, schema/name or schema/layer/name
	Level      string
	Limit      int // maximum number
	// FailuresOnly omits likely mistakes, which fail nothing.
	FailuresOnly bool
}

// List holds the problems of a revision, the most severe first. Those of one document are adjacent.
type List struct {
	revisions.Shown

	Findings []Finding
	Total    int  // number of matches among the findings that were read
	More     bool // further findings exist that were not read
}

// OfPreview returns the problems of the revision that a previewed change would make.
func OfPreview(preview *changes.Preview, query Query) List {
	judged := Judge(preview.Verdict)
	var all, warnings []Finding
	for _, of := range preview.Findings {
		all = append(all, judged.OfDocument(of.About, of.Errors)...)
		warnings = append(warnings, Strays(of.About, of.Notes)...)
	}
	errs := map[string][]json.RawMessage{}
	for _, result := range preview.Results {
		if judged.by[result.Name].Status == validations.Failure {
			errs[result.Name] = errorsOf(result.Result)
		}
		warnings = append(warnings, Warned(result.Name, result.Warnings)...)
	}
	uncovered, more := OfUncovered(preview.Uncovered)
	list := Choose(preview.Shown, slices.Concat(all, judged.OfResults(errs), warnings, uncovered), query)
	list.More = more
	return list
}

// With returns the list with those of others that it does not have. They are about documents.
func (l List) With(others []Finding, query Query) List {
	type said struct {
		document.Identity

		path, message string
	}
	known := map[said]bool{}
	for _, f := range l.Findings {
		known[said{f.Document, f.Path, f.Message}] = true
	}
	others = slices.DeleteFunc(others, func(f Finding) bool { return known[said{f.Document, f.Path, f.Message}] })
	list := Choose(l.Shown, slices.Concat(l.Findings, others), query)
	list.Total, list.More = list.Total+l.Total-len(l.Findings), l.More
	return list
}

// Choose returns the findings about a revision that match a query. It reorders all.
func Choose(about revisions.Shown, all []Finding, query Query) List {
	all = slices.DeleteFunc(WithoutRepeated(all), func(f Finding) bool { return !query.admits(f) })
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.Document.Schema, b.Document.Schema),
			cmp.Compare(a.Document.Layer, b.Document.Layer), cmp.Compare(a.Document.Name, b.Document.Name))
	})
	return List{Shown: about, Findings: all[:min(len(all), query.Limit)], Total: len(all)}
}

// WithoutRepeated removes findings that repeat the document and message of an earlier one, with the same path or none,
// because the rendering validation repeats findings of the schema validation.
func WithoutRepeated(all []Finding) []Finding {
	type said struct {
		document.Identity

		message, path string
	}
	by := map[said]string{} // the validation that reported it first
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
func (q Query) admits(f Finding) bool {
	names := []string{
		f.Document.Name, f.Document.Schema + "/" + f.Document.Name,
		f.Document.Schema + "/" + f.Document.Layer + "/" + f.Document.Name,
	}
	return (q.Validation == "" || q.Validation == f.Validation) && (q.Level == "" || q.Level == f.Level.String()) &&
		(q.Document == "" || slices.Contains(names, q.Document))
}
