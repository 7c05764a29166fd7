package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/findings"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Findings lists the findings of a revision.
type Findings struct {
	Revision *int64 `json:"revision"` // null if there is none
	Stamp    string `json:"stamp"`
	Status   string `json:"status"`
	Counts

	Findings []Found `json:"findings"`
}

// Counts shows how many findings there are.
type Counts struct {
	Total       int      `json:"total"`
	More        bool     `json:"more"` // there may be others, which were not examined
	Failures    int      `json:"failures"`
	Causes      []Cause  `json:"causes"`
	Groups      int      `json:"groups"`
	Validations []number `json:"byValidation"`
}

// Cause shows a group of similar findings.
type Cause struct {
	Findings  int   `json:"findings"`
	Documents int   `json:"documents"`
	More      bool  `json:"more,omitempty"` // there may be others
	First     Found `json:"first"`
}

// number shows the number of findings of a validation.
type number struct {
	Name      string `json:"name"`
	Level     string `json:"level"`
	Findings  int    `json:"findings"`
	Documents int    `json:"documents"`
	More      bool   `json:"more,omitempty"`    // there may be other findings
	Unnamed   bool   `json:"unnamed,omitempty"` // some are about documents that are not known
}

// Found shows a finding.
type Found struct {
	Level      string          `json:"level"`
	Validation string          `json:"validation"`
	Document   *foundDocument  `json:"document"` // null if the finding is not about a document
	Path       *string         `json:"path"`
	Rule       *string         `json:"rule"`
	Message    string          `json:"message"`
	Value      json.RawMessage `json:"value,omitempty"`
	Advice     *string         `json:"advice"`

	Causes []validations.Cause `json:"causes,omitempty"`

	Secret bool `json:"secret,omitempty"`
	Line   int  `json:"line,omitempty"` // in the body of the request
	Column int  `json:"column,omitempty"`

	Others []otherView `json:"others,omitempty"`
}

// otherView is another document that a finding is about.
type otherView struct {
	Schema string  `json:"schema"`
	Layer  *string `json:"layer"`
	Name   string  `json:"name"`
	Line   int     `json:"line,omitempty"` // in the body of the request
	Column int     `json:"column,omitempty"`
}

type foundDocument struct {
	Schema string  `json:"schema"`
	Layer  *string `json:"layer"`
	Name   string  `json:"name"`
	Bucket *string `json:"bucket"`
}

// FindingsOf returns the view of findings.
func FindingsOf(found findings.List) Findings {
	view := Findings{
		Stamp: found.Stamp.String(), Status: found.Verdict.Status.String(), Counts: CountsOf(found.Counts),
		Findings: FoundOf(found.Findings),
	}
	if found.ID > 0 {
		view.Revision = &found.ID
	}
	return view
}

// CountsOf returns the view of the numbers of findings.
func CountsOf(counts findings.Counts) Counts {
	view := Counts{
		Total: counts.Total, More: counts.More, Failures: counts.Failures, Causes: []Cause{}, Groups: counts.Groups,
		Validations: []number{},
	}
	for _, cause := range counts.Causes {
		view.Causes = append(view.Causes, Cause{
			Findings: cause.Findings, Documents: cause.Documents, More: cause.More,
			First: FoundOf([]findings.Finding{cause.First})[0],
		})
	}
	for of, n := range counts.Numbers {
		view.Validations = append(view.Validations, number{
			of.Validation, of.Level.String(), n.Findings, n.Documents, n.More, n.Unnamed,
		})
	}
	slices.SortFunc(view.Validations, func(a, b number) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Level, b.Level))
	})
	return view
}

// FoundOf returns the views of findings in a list.
func FoundOf(list []findings.Finding) []Found {
	views := make([]Found, len(list))
	for i, f := range list {
		views[i] = Found{
			Level: f.Level.String(), Validation: f.Validation, Path: Optional(f.Path), Rule: Optional(f.Rule),
			Message: f.Message, Value: f.Value, Advice: Optional(f.Advice), Secret: f.Secret,
			Line: f.At.Line, Column: f.At.Column, Causes: f.Causes,
		}
		if f.Document != (document.Identity{}) {
			views[i].Document = &foundDocument{
				f.Document.Schema, Optional(f.Document.Layer), f.Document.Name, Optional(f.Bucket),
			}
		}
		for _, other := range f.Others {
			views[i].Others = append(views[i].Others, otherView{
				other.Schema, Optional(other.Layer), other.Name, other.At.Line, other.At.Column,
			})
		}
	}
	return views
}

// FindingLines returns a line for each finding, such as
//
//	[acme/Host/v1, site] cmp-1 .data.rack: 99 is greater than the maximum of 40 (bucket site) (line 212, column 9)
func FindingLines(list []findings.Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(findingLine(f) + "\n")
	}
	return b.String()
}

func findingLine(f findings.Finding) string {
	var b strings.Builder
	what := f.Validation
	if f.Document != (document.Identity{}) {
		what = strings.TrimSpace(f.Document.Known() + " " + f.Path)
	}
	b.WriteString(what + ": " + f.Message)
	bucket := f.Bucket
	if bucket != "" {
		bucket = "bucket " + bucket
	}
	for _, more := range []string{f.Hint, closest(f.Causes), bucket} {
		if more != "" {
			b.WriteString(" (" + more + ")")
		}
	}
	if f.At.Line > 0 {
		fmt.Fprintf(&b, " (line %d, column %d)", f.At.Line, f.At.Column)
	}
	for _, other := range f.Others {
		if other.At.Line > 0 {
			fmt.Fprintf(&b, " (%s: line %d, column %d)", other.Identity, other.At.Line, other.At.Column)
		}
	}
	if f.Level != findings.Error {
		b.WriteString(" (" + f.Level.String() + ")")
	}
	return words.Line(b.String())
}

// Below returns the lines below a verdict, and the findings that they show: those about documents or, if the list does
// not have all of these, the first finding of each cause, with the number of others like it.
func Below(found findings.List, most int) (shown []findings.Finding, lines string) {
	isAboutNone := func(f findings.Finding) bool { return f.Document == (document.Identity{}) }
	about, rest := slices.DeleteFunc(slices.Clone(found.Findings), isAboutNone), found.Total-found.Others
	if len(about) == rest {
		return about, FindingLines(about) + restLine(0, found.More)
	}
	var b strings.Builder
	for _, cause := range found.Causes {
		if isAboutNone(cause.First) || len(shown) == most {
			continue
		}
		shown, rest = append(shown, cause.First), rest-cause.Findings
		b.WriteString(findingLine(cause.First))
		if others := cause.Findings - 1; others > 0 {
			fmt.Fprintf(&b, ", and %s more like it, in %s", atLeast(strconv.Itoa(others), cause.More),
				words.Count(cause.Documents, "document"))
		}
		b.WriteByte('\n')
	}
	return shown, b.String() + restLine(rest, found.More)
}

// atLeast returns a number in words as one that may be larger if more is set.
func atLeast(number string, more bool) string {
	if more {
		return "at least " + number
	}
	return number
}

// closest describes the errors of the branch of an anyOf or oneOf that was most likely meant; "" if that is unknown.
func closest(causes []validations.Cause) string {
	if len(causes) == 0 {
		return ""
	}
	return fmt.Sprintf("in the branch most likely meant, %s: %s", causes[0].Path, causes[0].Message)
}

// RestLine says how many findings are not shown; "" if all are.
func RestLine(found findings.List) string {
	return restLine(found.Total-len(found.Findings), found.More)
}

func restLine(rest int, more bool) string {
	switch {
	case rest > 0:
		return "and " + atLeast(strconv.Itoa(rest), more) + " more\n"
	case more:
		return "and perhaps others, which were not examined\n"
	}
	return ""
}

// IgnoredText names the failed validations that do not count, and their numbers of documents. It omits a validation
// whose findings all fail the revision anyway.
func IgnoredText(found findings.List) string {
	var ignored []string
	for _, judged := range found.Verdict.Ignored {
		n := found.Numbers[findings.Counted{Validation: judged.Name, Level: findings.Warning}]
		_, fails := found.Numbers[findings.Counted{Validation: judged.Name, Level: findings.Error}]
		switch {
		case judged.Status == validations.Success, n.Documents == 0 && fails:
		case n.Documents == 0:
			ignored = append(ignored, judged.Name+" fails")
		default:
			ignored = append(ignored, judged.Name+" fails for "+
				atLeast(words.Count(n.Documents, "document"), n.More || n.Unnamed))
		}
	}
	return strings.Join(ignored, ", ")
}

// IgnoresFailures reports whether a validation that does not count has failed.
func IgnoresFailures(verdict validations.Verdict) bool {
	for _, judged := range verdict.Ignored {
		if judged.Status != validations.Success {
			return true
		}
	}
	return false
}

// VerdictText returns the status with the ignored failures, and a line for each validation that is not a success. A
// line gives no reason that is the message of one of the findings, which are shown after it with their documents.
func VerdictText(shown revisions.Shown, ignored string, shownBelow []findings.Finding) string {
	messages := make(map[string]bool, len(shownBelow))
	for _, f := range shownBelow {
		messages[f.Message] = true
	}
	status := shown.Verdict.Status.String()
	if ignored != "" {
		status += " (ignored: " + ignored + ")"
	}
	lines := []string{status}
	if notice := shown.Verdict.Notice; notice != "" {
		lines = append(lines, notice)
	}
	lines = append(lines, shown.Verdict.Obstacles(messages)...)
	for _, warning := range shown.Verdict.Warnings {
		lines = append(lines, "warning: "+warning)
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(words.Line(line) + "\n")
	}
	return b.String()
}
