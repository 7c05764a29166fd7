package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/wire"
	"purser/internal/words"
)

// Verdict returns the verdict on a revision: the status, each required validation, the reasons of failures, and the
// findings about documents or, if the list does not have all of them, their causes.
func Verdict(text []byte, verdict wire.Verdict, found wire.Findings) Answer {
	shown, below := belowVerdict(found)
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d: %s\n", verdict.Revision, verdict.Status)
	var rows [][]string
	var reasons []string
	add := func(validations []wire.Validation, note string) {
		for _, v := range validations {
			rows = append(rows, []string{"  " + v.Status, v.Name, note})
			if reason := v.Name + ": " + v.Message; v.Message != "" && !shown[v.Message] && !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	for _, policy := range verdict.Policies {
		if policy.Broken() {
			rows = append(rows, []string{"  " + policy.Status, policy.Name, "the document is not a valid ValidationPolicy"})
		}
		add(policy.Validations, "policy "+policy.Name)
	}
	add(verdict.Validations, "")
	add(verdict.Ignored, "ignored")
	b.WriteString(table(rows))
	if verdict.Notice != "" {
		fmt.Fprintln(&b, words.Line(verdict.Notice))
	}
	for _, reason := range reasons {
		fmt.Fprintln(&b, words.Line(reason))
	}
	b.WriteString(warningLines(verdict.Warnings...) + below)
	if verdict.Status == "failure" {
		fmt.Fprintf(&b, "All that is wrong: purser findings %d\n", verdict.Revision)
	}
	return Answer{text, []string{verdict.Status}, b.String()}
}

// belowVerdict returns the lines of findings about documents below a verdict, and the messages that they show.
func belowVerdict(found wire.Findings) (shown map[string]bool, lines string) {
	var b strings.Builder
	shown = map[string]bool{}
	add := func(f wire.Finding, like string) {
		if f.Document != nil {
			shown[f.Message] = true
			fmt.Fprintln(&b, words.Line(bucketed(f)+like))
		}
	}
	rest := found.Total - len(found.Findings)
	if rest == 0 || len(found.Causes) == 0 {
		for _, f := range found.Findings {
			add(f, "")
		}
		return shown, b.String() + words.Rest(rest, found.More)
	}
	rest = found.Total
	for _, cause := range found.Causes[:min(len(found.Causes), maxBelow)] {
		add(cause.First, words.Others(cause.Findings, cause.Documents, cause.More))
		rest -= cause.Findings
	}
	return shown, b.String() + words.Rest(rest, found.More)
}

// maxBelow is the maximum number of causes below a verdict.
const maxBelow = 20

// verdictWord converts the status of a revision to the word of a verdict.
func verdictWord(status string) string {
	if status == "failed" {
		return "failure"
	}
	return status
}

// Validations returns the validations of a revision.
func Validations(text []byte, validations []wire.Validation) Answer {
	rows, names := [][]string{{"VALIDATION", "STATUS"}}, []string{}
	for _, v := range validations {
		names, rows = append(names, v.Name), append(rows, []string{v.Name, v.Status})
	}
	return Answer{text, names, table(rows)}
}

// Results returns those of a list of results that are of one validation.
func Results(items []json.RawMessage, validation string) (Answer, error) {
	all, err := decodeAll[wire.Entry](items)
	if err != nil {
		return Answer{}, err
	}
	rows, names := [][]string{{"AT", "STATUS", "EXPIRES", "ERRORS"}}, []string{}
	var kept []json.RawMessage
	for i, entry := range all {
		if entry.Name != validation {
			continue
		}
		kept, names = append(kept, items[i]), append(names, entry.Status)
		rows = append(rows, []string{
			dash(moment(entry.CreatedAt)), entry.Status, dash(moment(entry.Expires())), strconv.Itoa(len(entry.Errors)),
		})
	}
	return Answer{listText(kept), names, table(rows)}, nil
}

// Findings returns the findings of a revision.
func Findings(text []byte, found wire.Findings) Answer {
	var names []string
	for _, f := range found.Findings {
		if f.Document != nil {
			names = append(names, f.Document.Schema+"/"+f.Document.Name)
		} else {
			names = append(names, f.Validation)
		}
	}
	return Answer{text, names, findingsText(found.Findings, nil, found.Counts)}
}

// findingsText returns a line for each finding, with its place in the files if places has one, or else its bucket.
// A last line counts those that are not shown.
func findingsText(findings []wire.Finding, places []string, counts wire.Counts) string {
	var b strings.Builder
	for i, f := range findings {
		text := bucketed(f)
		if place := placeAt(places, i); place != "" {
			text = place + ": " + findingText(f)
		}
		fmt.Fprintln(&b, words.Line(text))
	}
	return b.String() + words.Rest(counts.Total-len(findings), counts.More)
}

// bucketed formats a finding as one line, with the bucket of its document.
func bucketed(f wire.Finding) string {
	if f.Document == nil || f.Document.Bucket == "" {
		return findingText(f)
	}
	return findingText(f) + " (bucket " + string(f.Document.Bucket) + ")"
}

// placeAt returns the place of the finding at an index, "" if there is none.
func placeAt(places []string, i int) string {
	if i < len(places) {
		return places[i]
	}
	return ""
}

// findingText formats a finding as one line, without its place in a file.
func findingText(f wire.Finding) string {
	what := f.Validation
	if f.Document != nil {
		what = strings.TrimSpace(f.Document.String() + " " + string(f.Path))
	}
	text := what + ": " + f.Message
	if f.Level != "error" {
		text = f.Level + ": " + text
	}
	if f.Advice != "" {
		text += " (" + string(f.Advice) + ")"
	}
	return text
}
