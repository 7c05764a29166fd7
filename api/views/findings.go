package views

import (
	"encoding/json"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/findings"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/words"
)

// Findings lists the findings of a revision.
type Findings struct {
	Revision *int64  `json:"revision"` // null if there is none
	Stamp    string  `json:"stamp"`
	Status   string  `json:"status"`
	Total    int     `json:"total"`
	More     bool    `json:"more"` // there may be others, which were not examined
	Findings []Found `json:"findings"`
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
		Stamp: found.Stamp.String(), Status: found.Verdict.Status.String(), Total: found.Total,
		More: found.More, Findings: FoundOf(found.Findings),
	}
	if found.ID > 0 {
		view.Revision = &found.ID
	}
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
		what := f.Validation
		if f.Document != (document.Identity{}) {
			what = strings.TrimSpace(f.Document.String() + " " + f.Path)
		}
		b.WriteString(strings.ReplaceAll(what+": "+f.Message, "\n", " "))
		bucket := f.Bucket
		if bucket != "" {
			bucket = "bucket " + bucket
		}
		for _, more := range []string{f.Hint, closest(f.Causes), bucket} {
			if more != "" {
				b.WriteString(" (" + strings.ReplaceAll(more, "\n", " ") + ")")
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
		b.WriteByte('\n')
	}
	return b.String()
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
	switch rest := found.Total - len(found.Findings); {
	case found.More:
		return fmt.Sprintf("and more than %d others\n", rest)
	case rest > 0:
		return fmt.Sprintf("and %d more\n", rest)
	}
	return ""
}

// IgnoredText names the failed validations that do not count, and their numbers of documents. It omits a validation
// whose findings all fail the revision anyway.
func IgnoredText(found findings.List) string {
	fails := map[string]bool{} // validations with errors
	documents := map[string]map[document.Identity]bool{}
	for _, f := range found.Findings {
		switch {
		case f.Level == findings.Error:
			fails[f.Validation] = true
		case f.Document != (document.Identity{}):
			if documents[f.Validation] == nil {
				documents[f.Validation] = map[document.Identity]bool{}
			}
			documents[f.Validation][f.Document] = true
		}
	}
	var ignored []string
	for _, judged := range found.Verdict.Ignored {
		n := len(documents[judged.Name])
		switch {
		case judged.Status == validations.Success, n == 0 && fails[judged.Name]:
		case n == 0:
			ignored = append(ignored, judged.Name+" fails")
		default:
			ignored = append(ignored, judged.Name+" fails for "+words.Count(n, "document"))
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
	var b strings.Builder
	b.WriteString(shown.Verdict.Status.String())
	if ignored != "" {
		b.WriteString(" (ignored: " + ignored + ")")
	}
	b.WriteByte('\n')
	if notice := shown.Verdict.Notice; notice != "" {
		b.WriteString(notice + "\n")
	}
	for _, line := range shown.Verdict.Obstacles(messages) {
		b.WriteString(line + "\n")
	}
	for _, warning := range shown.Verdict.Warnings {
		b.WriteString("warning: " + warning + "\n")
	}
	return b.String()
}
