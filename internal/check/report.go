package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Report is the result of a check.
type Report struct {
	Files     []string  // that were checked
	Documents int       // in Files, without those of SchemasOnly files
	Schemas   int       // DataSchemas in SchemasOnly files
	Findings  []Finding // by file, line and column
	// Needed are the validations that policies require and that other services perform.
	Needed []Needed
	// Inapplicable are the validations of policies whose conditions match no document.
	Inapplicable []Needed
	// Skipped are the files in folders that contain no documents.
	Skipped []string
	// Whole reports whether all documents could be read, so that the revision as a whole was judged.
	Whole bool
	// Known is the number of findings omitted because of a baseline.
	Known int
	// More is the number of findings that were left out of Findings because there are too many to print.
	More int
	// Rendered are the documents as services would read them, nil if they cannot be rendered or are then invalid. The data
	// of documents with secrets is hashed.
	Rendered []*revisions.Stored

	leftOut [queries.LevelInfo + 1]int // More by level
}

// maxFindings is the maximum number of findings that are printed.
const maxFindings = 10_000

// Level is the severity of a finding: an Error fails a revision, a Warning is a likely mistake.
type Level = queries.Level

// Finding is a problem found by a check.
type Finding struct {
	Place

	Level    Level
	Rule     string            // the id of one of Rules
	Document document.Identity // zero if the finding is not about a document
	Bucket   string            // of the document
	Path     string            // in the rendered document, such as .data.a; empty if unknown
	Broken   string            // the broken rule: a path in a schema, or the type of an error; may be empty
	Message  string
	Advice   string // may be empty
	Causes   []validations.Cause
	// Chain has the steps by which the value came to its place, the oldest first; empty if it was written there. For a
	// cycle it has the other documents.
	Chain  []Step
	said   string // Message as it is printed, if that is different
	Source string // the line; empty if it is unknown or may contain a secret
}

// Place is a place in a file. Lines and columns count from 1; 0 means unknown.
type Place struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Text returns the place as FILE:LINE:COLUMN, as far as it is known.
func (p Place) Text() string {
	text := p.File
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
	}
	if p.Column > 0 {
		text += ":" + strconv.Itoa(p.Column)
	}
	return text
}

// Step is a change of a value during rendering, and the place that caused it.
type Step struct {
	Place

	Message string `json:"message"`
}

// Needed is a validation that a policy requires.
type Needed struct {
	Name      string
	Policy    document.Identity
	Approvals int // as in validations.Requirement
	Advisory  bool
}

// Text describes the validation.
func (n Needed) Text() string {
	text := n.Name + " (policy " + n.Policy.Name
	if n.Approvals > 0 {
		text += ", " + words.Count(n.Approvals, "approval")
	}
	if n.Advisory {
		text += ", advisory"
	}
	return text + ")"
}

// Count returns the number of findings of a level, also of those that were left out.
func (r Report) Count(level Level) int {
	count := r.leftOut[level]
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

// Choose returns the report with only the findings whose rules are selected (all if selected is empty) and not ignored.
func (r Report) Choose(selected, ignored []string) Report {
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return len(selected) > 0 && !slices.Contains(selected, f.Rule) || slices.Contains(ignored, f.Rule)
	})
	return r
}

// Printed returns the report with at most maxFindings findings, with messages as people read them: without long
// patterns, and without None in the place of a layer. Baselines have them as they are, so that old ones remain valid.
func (r Report) Printed() Report {
	shown := min(len(r.Findings), maxFindings)
	for _, f := range r.Findings[shown:] {
		r.leftOut[f.Level]++
	}
	r.More, r.Findings = len(r.Findings)-shown, slices.Clone(r.Findings[:shown])
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Message, f.Chain = document.WithoutNone(cmp.Or(f.said, f.Message)), slices.Clone(f.Chain)
		for j := range f.Chain {
			f.Chain[j].Message = document.WithoutNone(f.Chain[j].Message)
		}
	}
	return r
}

// sorted returns the report with its findings sorted and without duplicates.
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
	return r
}
