package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/wire"
	"purser/internal/words"
)

// findingsView returns the view of findings.
func findingsView(found queries.FindingList) wire.Findings {
	view := wire.Findings{
		Stamp: found.Stamp.String(), Status: found.Verdict.Status.String(), Counts: countsView(found.Counts),
		Next: placeText(found.Next), Findings: foundViews(found.Findings),
	}
	if found.ID > 0 {
		view.Revision = &found.ID
	}
	return view
}

// countsView returns the view of the numbers of findings.
func countsView(counts queries.Counts) wire.Counts {
	view := wire.Counts{
		Total: counts.Total, More: counts.More, Failures: counts.Failures, Causes: []wire.Cause{}, Groups: counts.Groups,
		ByValidation: []wire.Number{},
	}
	for _, cause := range counts.Causes {
		view.Causes = append(view.Causes, wire.Cause{
			ID: cause.ID(), Findings: cause.Findings, Documents: cause.Documents, More: cause.More,
			First: foundViews([]queries.Finding{cause.First})[0],
		})
	}
	for of, n := range counts.Numbers {
		view.ByValidation = append(view.ByValidation, wire.Number{
			Name: of.Validation, Level: of.Level.String(), Findings: n.Findings, Documents: n.Documents,
			More: n.More, Unnamed: n.Unnamed,
		})
	}
	slices.SortFunc(view.ByValidation, func(a, b wire.Number) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Level, b.Level))
	})
	return view
}

// foundViews returns the views of findings in a list.
func foundViews(list []queries.Finding) []wire.Finding {
	views := make([]wire.Finding, len(list))
	for i, f := range list {
		views[i] = wire.Finding{
			Level: f.Level.String(), Validation: f.Validation, Path: wire.Optional(f.Path), Rule: wire.Optional(f.Rule),
			Message: f.Said(), Value: f.Value, Advice: wire.Optional(f.Advice), Secret: f.Secret,
			File: wire.Optional(f.File), Line: f.At.Line, Column: f.At.Column, Causes: f.Causes,
		}
		if f.Document != (document.Identity{}) {
			views[i].Document = &wire.Identity{
				Schema: f.Document.Schema, Layer: wire.Optional(f.Document.Layer), Name: f.Document.Name,
				Bucket: wire.Optional(f.Bucket),
			}
		}
		for _, other := range f.Others {
			views[i].Others = append(views[i].Others, wire.Other{
				Schema: other.Schema, Layer: wire.Optional(other.Layer), Name: other.Name,
				Line: other.At.Line, Column: other.At.Column,
			})
		}
	}
	return views
}

// findingLines returns a line for each finding, such as
//
//	[acme/Host/v1, site] cmp-1 .data.rack: 99 is greater than the maximum of 40 (bucket site) (line 212, column 9)
func findingLines(list []queries.Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(findingLine(f) + "\n")
	}
	return b.String()
}

func findingLine(f queries.Finding) string {
	var b strings.Builder
	what := f.Validation
	if f.Document != (document.Identity{}) {
		what = strings.TrimSpace(f.Document.Known() + " " + f.Path)
	}
	b.WriteString(what + ": " + f.Said())
	bucket := f.Bucket
	if bucket != "" {
		bucket = "bucket " + bucket
	}
	for _, more := range []string{f.Hint, closestBranch(f.Causes), bucket} {
		if more != "" {
			b.WriteString(" (" + more + ")")
		}
	}
	switch {
	case f.File != "":
		fmt.Fprintf(&b, " (%s:%d)", f.File, f.At.Line)
	case f.At.Line > 0:
		fmt.Fprintf(&b, " (line %d, column %d)", f.At.Line, f.At.Column)
	}
	for _, other := range f.Others {
		if other.At.Line > 0 {
			fmt.Fprintf(&b, " (%s: line %d, column %d)", other.Identity, other.At.Line, other.At.Column)
		}
	}
	if f.Level != queries.LevelError {
		b.WriteString(" (" + f.Level.String() + ")")
	}
	return words.Line(b.String())
}

// findingsBelow returns the lines below a verdict, and the findings that they show: those about documents or, if the
// list does not have all of these, the first finding of each cause, with the number of others like it.
func findingsBelow(found queries.FindingList, most int) (shown []queries.Finding, lines string) {
	isAboutNone := func(f queries.Finding) bool { return f.Document == (document.Identity{}) }
	about, rest := slices.DeleteFunc(slices.Clone(found.Findings), isAboutNone), found.Total-found.Others
	if len(about) == rest {
		return about, findingLines(about) + words.Rest(0, found.More)
	}
	var b strings.Builder
	for _, cause := range found.Causes {
		if isAboutNone(cause.First) || len(shown) == most {
			continue
		}
		shown, rest = append(shown, cause.First), rest-cause.Findings
		b.WriteString(findingLine(cause.First) + words.Others(cause.Findings, cause.Documents, cause.More) + "\n")
	}
	return shown, b.String() + words.Rest(rest, found.More)
}

// closestBranch describes the errors of the branch of an anyOf or oneOf that was most likely meant; "" if that is
// unknown.
func closestBranch(causes []validations.Cause) string {
	if len(causes) == 0 {
		return ""
	}
	return fmt.Sprintf("in the branch most likely meant, %s: %s", causes[0].Path, causes[0].Message)
}

// restLine says how many findings are not shown; "" if all are.
func restLine(found queries.FindingList) string {
	return words.Rest(found.Total-len(found.Findings), found.More)
}

// ignoredText names the failed validations that do not count, and their numbers of documents. It omits a validation
// whose findings all fail the revision anyway.
func ignoredText(found queries.FindingList) string {
	var ignored []string
	for _, judged := range found.Verdict.Ignored {
		n := found.Numbers[queries.Counted{Validation: judged.Name, Level: queries.LevelWarning}]
		_, fails := found.Numbers[queries.Counted{Validation: judged.Name, Level: queries.LevelError}]
		switch {
		case judged.Status == validations.Success, n.Documents == 0 && fails:
		case n.Documents == 0:
			ignored = append(ignored, judged.Name+" fails")
		default:
			ignored = append(ignored, judged.Name+" fails for "+
				words.AtLeast(words.Count(n.Documents, "document"), n.More || n.Unnamed))
		}
	}
	return strings.Join(ignored, ", ")
}

// ignoresFailures reports whether a validation that does not count has failed.
func ignoresFailures(verdict validations.Verdict) bool {
	for _, judged := range verdict.Ignored {
		if judged.Status != validations.Success {
			return true
		}
	}
	return false
}

// verdictText returns the status with the ignored failures, and a line for each validation that is not a success:
// those that are waived come first. A line gives no reason that is the message of one of the findings, which are
// shown after it with their documents.
func verdictText(shown revisions.RevisionStatus, ignored string, shownBelow []queries.Finding) string {
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
	lines = append(lines, shown.Verdict.Concessions()...)
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
