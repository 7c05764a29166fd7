package check

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/findings"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// Report is what is wrong with files.
type Report struct {
	Files     []string  // that were checked
	Documents int       // in these
	Findings  []Finding // by file, line and column
	// Needed are the validations that policies require and that others make.
	Needed []Needed
	// Skipped are the files of folders that hold no documents.
	Skipped []string
	// Whole tells that all documents could be read, so that the revision as a whole was judged.
	Whole bool
	// Known is how many findings a baseline has left out.
	Known int
	// More is how many findings there are beyond maxFindings.
	More int
	// Rendered are the documents as services would read them, nil if they do not render, or not to valid ones. Of those
	// that hold secrets the data is hashed.
	Rendered []*revisions.Stored
}

// maxFindings is how many findings a report has at most.
const maxFindings = 10_000

// Level says how bad a finding is: an Error fails a revision, a Warning is a likely mistake.
type Level = findings.Level

// Finding is something that is wrong.
type Finding struct {
	Place

	Level    Level
	Rule     string            // the id of one of Rules
	Document document.Identity // zero if it is not about one
	Bucket   string            // of the document
	Path     string            // in the document, as it is rendered, such as .data.a; empty if it is not known
	Broken   string            // what is broken: a path in a schema, or the type of an error; may be empty
	Message  string
	Advice   string // what to do; may be empty
	Causes   []validations.Cause
	// Chain is how the value came to where it is found, the oldest first; empty if it was written there. Of a cycle it
	// is the other documents.
	Chain  []Step
	Source string // the line; empty if it is not known, or may hold a secret
}

// Place is a place in a file. Lines and columns count from 1; 0 is not known.
type Place struct {
	File         string
	Line, Column int
}

// Step is something that happened to a value on its way, and where that is written.
type Step struct {
	Place

	Message string
}

// Needed is a validation that a policy requires and that others make.
type Needed struct {
	Name   string
	Policy document.Identity
}

// Count returns how many findings have a level.
func (r Report) Count(level Level) (count int) {
	for _, f := range r.Findings {
		if f.Level == level {
			count++
		}
	}
	return count
}

// Fails reports whether there is a finding of at least a level.
func (r Report) Fails(level Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level <= level })
}

// Choose returns the report with the findings of those rules alone that are selected, all if none is, and not ignored.
func (r Report) Choose(selected, ignored []string) Report {
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return len(selected) > 0 && !slices.Contains(selected, f.Rule) || slices.Contains(ignored, f.Rule)
	})
	return r
}

// sorted returns the report with its findings in order, each once, and not too many.
func (r Report) sorted() Report {
	type said struct {
		Place
		document.Identity

		rule, path, message string
	}
	seen := map[said]bool{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		what := said{f.Place, f.Document, f.Rule, f.Path, f.Message}
		known := seen[what]
		seen[what] = true
		return known
	})
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(r.Findings) > maxFindings {
		r.More = len(r.Findings) - maxFindings
		r.Findings = r.Findings[:maxFindings]
	}
	return r
}
