package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/internal/changes"
	"purser/internal/words"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// defaultFindings and maxFindings are how many findings an answer has without the parameter limit, and at most.
const defaultFindings, maxFindings = 1000, 10_000

// GET /api/v1.0/revisions/{revision}/findings
func (s *server) listFindings(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	query := queries.FindingQuery{
		Validation: q.text("validation"), Document: q.text("document"), Level: q.text("level"),
		Limit: min(q.count("limit", defaultFindings), maxFindings),
	}
	switch query.Level {
	case "", queries.Error.String(), queries.Warning.String(), queries.Info.String():
	default:
		q.fail("level", "It can be error, warning or info.")
	}
	if err := q.error(); err != nil {
		return err
	}
	found, err := s.questions(r).Findings(r.Context(), revisionName(r, "revision"), query)
	if err != nil {
		return err
	}
	infoOf(r).revision = found.ID
	s.writeFindings(w, r, found)
	return nil
}

// writeFindings answers with findings, as text if Accept prefers that.
func (s *server) writeFindings(w http.ResponseWriter, r *http.Request, found queries.Findings) {
	if negotiate(r, typeText) == typeText {
		s.writeText(w, r, typeText, []byte(findingLines(found.Findings)+restLine(found)))
		return
	}
	s.write(w, r, http.StatusOK, findingsViewOf(found))
}

// findingsAfter returns what is wrong with the newest revision after a change, or as it would be after a dry run, with
// the positions in the body. The change is made by now: findings that take too much work are left out.
func (s *server) findingsAfter(r *http.Request, written changes.Written) (found queries.Findings, err error) {
	query, ctx := queries.FindingQuery{Limit: defaultFindings}, r.Context()
	preview := written.Preview
	switch {
	case preview != nil && preview.Changed:
		found = queries.PreviewFindings(preview, query)
	case written.Revision > 0:
		found, err = s.questions(r).Findings(ctx, strconv.FormatInt(written.Revision, 10), query)
	}
	if err == nil {
		err = queries.Locate(ctx, found.Findings, written)
	}
	if preview == nil && fault.KindOf(err) == fault.TooLarge {
		found.Shown, found.More, err = written.Shown, true, nil
	}
	return found, err
}

// findingsView lists what is wrong with a revision.
type findingsView struct {
	Revision *int64      `json:"revision"` // null if there is none
	Stamp    string      `json:"stamp"`
	Status   string      `json:"status"`
	Total    int         `json:"total"`
	More     bool        `json:"more"` // there are others, which were not looked at
	Findings []foundView `json:"findings"`
}

type foundView struct {
	Level      string          `json:"level"`
	Validation string          `json:"validation"`
	Document   *foundDocument  `json:"document"` // null if it is not about one
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

func findingsViewOf(found queries.Findings) findingsView {
	view := findingsView{
		Stamp: found.Stamp.String(), Status: found.Verdict.Status.String(), Total: found.Total,
		More: found.More, Findings: foundViews(found.Findings),
	}
	if found.ID > 0 {
		view.Revision = &found.ID
	}
	return view
}

func foundViews(findings []queries.Finding) []foundView {
	views := make([]foundView, len(findings))
	for i, f := range findings {
		views[i] = foundView{
			Level: f.Level.String(), Validation: f.Validation, Path: optional(f.Path), Rule: optional(f.Rule),
			Message: f.Message, Value: f.Value, Advice: optional(f.Advice), Secret: f.Secret,
			Line: f.At.Line, Column: f.At.Column, Causes: f.Causes,
		}
		if f.Document != (document.Identity{}) {
			views[i].Document = &foundDocument{
				f.Document.Schema, optional(f.Document.Layer), f.Document.Name, optional(f.Bucket),
			}
		}
		for _, other := range f.Others {
			views[i].Others = append(views[i].Others, otherView{
				other.Schema, optional(other.Layer), other.Name, other.At.Line, other.At.Column,
			})
		}
	}
	return views
}

// findingLines returns a line for each finding, such as
//
//	[acme/Host/v1, site] cmp-1 .data.rack: 99 is greater than the maximum of 40 (line 212, column 9)
func findingLines(findings []queries.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		what := f.Validation
		if f.Document != (document.Identity{}) {
			what = strings.TrimSpace(f.Document.String() + " " + f.Path)
		}
		b.WriteString(strings.ReplaceAll(what+": "+f.Message, "\n", " "))
		for _, more := range []string{f.Hint, closest(f.Causes)} {
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
		if f.Level != queries.Error {
			b.WriteString(" (" + f.Level.String() + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// closest says what is wrong with the branch of an anyOf or oneOf that was most likely meant; "" if that is not known.
func closest(causes []validations.Cause) string {
	if len(causes) == 0 {
		return ""
	}
	return fmt.Sprintf("in the branch most likely meant, %s: %s", causes[0].Path, causes[0].Message)
}

// restLine says how many findings are not among those shown; "" if all are.
func restLine(found queries.Findings) string {
	switch rest := found.Total - len(found.Findings); {
	case found.More:
		return fmt.Sprintf("and more than %d others\n", rest)
	case rest > 0:
		return fmt.Sprintf("and %d more\n", rest)
	}
	return ""
}

// statusText returns a verdict as text: the status on the first line, a line for each validation that is not a success,
// and the first findings about documents.
func (s *server) statusText(r *http.Request, shown revisions.Shown) (string, error) {
	const maxShown, maxLooked = 20, 1000
	if shown.Verdict.Status == validations.Success && !ignoresFailures(shown.Verdict) {
		return verdictText(shown, ""), nil
	}
	query := queries.FindingQuery{Limit: maxLooked, FailuresOnly: true}
	found, err := s.questions(r).Findings(r.Context(), strconv.FormatInt(shown.ID, 10), query)
	if fault.KindOf(err) == fault.TooLarge {
		return verdictText(shown, ""), nil // the verdict is known all the same
	}
	if err != nil {
		return "", err
	}
	ignored := ignoredText(found)
	found.Findings = slices.DeleteFunc(found.Findings, func(f queries.Finding) bool {
		return f.Document == (document.Identity{})
	})
	found.Total = len(found.Findings)
	found.Findings = found.Findings[:min(found.Total, maxShown)]
	return verdictText(shown, ignored) + findingLines(found.Findings) + restLine(found), nil
}

// ignoredText says which validations fail but do not count, and for how many documents. It leaves out one that finds
// only what fails the revision all the same.
func ignoredText(found queries.Findings) string {
	fails := map[string]bool{} // validations with errors
	documents := map[string]map[document.Identity]bool{}
	for _, f := range found.Findings {
		switch {
		case f.Level == queries.Error:
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

// ignoresFailures reports whether a validation fails that does not count.
func ignoresFailures(verdict validations.Verdict) bool {
	for _, judged := range verdict.Ignored {
		if judged.Status != validations.Success {
			return true
		}
	}
	return false
}

// verdictText returns the status, with what is ignored, and a line for each validation that is not a success.
func verdictText(shown revisions.Shown, ignored string) string {
	var b strings.Builder
	b.WriteString(shown.Verdict.Status.String())
	if ignored != "" {
		b.WriteString(" (ignored: " + ignored + ")")
	}
	b.WriteByte('\n')
	for _, line := range shown.Verdict.Obstacles() {
		b.WriteString(line + "\n")
	}
	for _, warning := range shown.Verdict.Warnings {
		b.WriteString("warning: " + warning + "\n")
	}
	return b.String()
}
