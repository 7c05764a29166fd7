package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/client"
	"purser/internal/document"
	"purser/internal/wire"
	"purser/internal/words"
)

// pushedAnswer returns the result of a push: the revision and its findings, each with its place in the files, "" if it
// is in none of them. site is the flag with which commands name the site, "" if they need none.
func pushedAnswer(written client.Written, found wire.Findings, places []string, site string, colors bool) answer {
	findings := make([]placed, len(found.Findings))
	for i, f := range found.Findings {
		findings[i] = placed{
			Level: f.Level, Validation: f.Validation, Path: string(f.Path), Rule: string(f.Rule), Message: f.Message,
			Advice: string(f.Advice), Place: placeAt(places, i),
		}
		if id := f.Document; id != nil {
			findings[i].Document = &identity{id.Schema, string(id.Layer), id.Name, string(id.Bucket)}
		}
	}
	text := findingsText(found.Findings, places, written.Revision+site, colors) +
		words.Rest(found.Total-len(found.Findings), found.More)
	if written.Status == "" {
		text = lostText(found.Findings, places, colors)
	}
	return answer{
		json: marshal(map[string]any{
			"revision": json.Number(written.Revision), "changes": written.Changes, "status": written.Status,
			"findings": findings, "warnings": append([]string{}, written.Warnings...),
		}),
		names: []string{written.Revision},
		text:  writtenText(written, text, colors),
	}
}

// placed is a finding with its place in the files instead of the one in the request, which the user has not seen.
type placed struct {
	Level      string    `json:"level"`
	Validation string    `json:"validation"`
	Document   *identity `json:"document"`
	Path       string    `json:"path"`
	Rule       string    `json:"rule"`
	Message    string    `json:"message"`
	Advice     string    `json:"advice"`
	Place      string    `json:"place,omitempty"`
}

type identity struct {
	Schema string `json:"schema"`
	Layer  string `json:"layer"`
	Name   string `json:"name"`
	Bucket string `json:"bucket"`
}

// lostText returns a line for each key in the files that is not kept.
func lostText(findings []wire.Finding, places []string, colors bool) string {
	var b strings.Builder
	for i, f := range findings {
		if f.Rule == "UnknownKey" && placeAt(places, i) != "" {
			b.WriteString(findingLine(f, places[i], colors) + "\n")
		}
	}
	return b.String()
}

// rolledBackAnswer returns the result of a rollback.
func rolledBackAnswer(written client.Written, colors bool) answer {
	return answer{written.Body, []string{written.Revision}, writtenText(written, "", colors)}
}

// writtenText returns the result of a change, with lines about its findings.
func writtenText(written client.Written, findings string, colors bool) string {
	if written.Rewritten != "" {
		count, _ := strconv.Atoi(written.Rewritten) // a number, as openapi.yaml says
		return fmt.Sprintf("%sNo revision was made: only comments, formatting or files changed, of %s; the new text "+
			"replaces the old one. The newest revision is %s.\n", findings, words.Count(count, "document"), written.Revision)
	}
	if written.Status == "" {
		return fmt.Sprintf("%sNothing changed; the newest revision is %s.\n", findings, written.Revision)
	}
	return fmt.Sprintf("Revision %s: %s\n%s%s%s\n", written.Revision, written.Changes, findings,
		warningLines(colors, written.Warnings...), statusLine(written.Status, colors))
}

// warningLines returns a line for each warning that is not empty.
func warningLines(colors bool, warnings ...string) string {
	var b strings.Builder
	for _, warning := range warnings {
		if warning != "" {
			fmt.Fprintln(&b, paint(colors, yellow, "warning:"), words.Line(document.WithoutNone(warning)))
		}
	}
	return b.String()
}

// statusLine returns a line for the header Purser-Status, such as failure; findings=2, or 2+ for at least two.
func statusLine(header string, colors bool) string {
	header, waived, _ := strings.Cut(header, "; waived=")
	status, number, counted := strings.Cut(header, "; findings=")
	line := "Status: " + paint(colors, statusTint(status), status)
	if counted && number != "0" {
		least, more := strings.CutSuffix(number, "+")
		line += "; findings: " + words.AtLeast(least, more)
	}
	if waived != "" {
		line += "; " + paint(colors, yellow, "waived: "+words.Line(waived))
	}
	return line
}

// pushPreview returns the preview of a push. It has the unified diffs of changed documents, and the places of findings
// in the files.
func pushPreview(written client.Written, preview wire.Preview[wire.Finding], differences map[wire.Identity]string,
	places []string, colors bool,
) answer {
	var b strings.Builder
	for _, d := range preview.Documents {
		fmt.Fprintln(&b, changeLine(d))
		b.WriteString(indented(differences[d.Identity()], colors))
	}
	did := preview.Changes
	if preview.Changed {
		fmt.Fprintf(&b, "Would be revision %s: added=%d, modified=%d, deleted=%d, unchanged=%d\n", written.Revision,
			did.Added, did.Modified, did.Deleted, did.Unchanged)
	} else {
		b.WriteString("Nothing would change.\n")
	}
	b.WriteString(findingsText(preview.Findings, places, "", colors))
	b.WriteString(words.Rest(preview.Total-len(preview.Findings), preview.More))
	if preview.Total == 0 { // otherwise they are among the findings
		b.WriteString(warningLines(colors, preview.Warnings...))
	}
	b.WriteString(policyLines(preview, colors) + previewRendered(preview, colors))
	if preview.Withheld != "" {
		fmt.Fprintln(&b, words.Line(preview.Withheld))
	}
	fmt.Fprintln(&b, verdictLine(preview, colors))
	return answer{written.Body, changeNames(preview), b.String()}
}

// rollbackPreview returns the preview of a rollback to a revision.
func rollbackPreview(revision string, written client.Written, preview wire.Preview[wire.Finding], colors bool) answer {
	var b strings.Builder
	for _, d := range preview.Documents {
		fmt.Fprintln(&b, words.Line(fmt.Sprintf("%-8s %s (bucket %s)", wordOf(d), d.Identity(), d.Bucket)))
	}
	if !preview.Changed {
		fmt.Fprintf(&b, "Nothing would change: the newest revision has the documents of revision %s.\n", revision)
	}
	b.WriteString(policyLines(preview, colors) + previewRendered(preview, colors))
	fmt.Fprintln(&b, verdictLine(preview, colors))
	return answer{written.Body, changeNames(preview), b.String()}
}

// rollbackQuestion returns a function that returns the preview of a rollback as text, and in words what it does.
func rollbackQuestion(revision string, colors bool) func(wire.Preview[wire.Finding]) (text, act string) {
	return func(preview wire.Preview[wire.Finding]) (text, act string) {
		act = "roll back to revision " + revision
		if _, loses := losses(preview); loses != "" {
			act += " and " + loses
		}
		preview.Rendered, preview.BeginToFail = nil, nil // confirmed adds them, in a short form
		return rollbackPreview(revision, client.Written{}, preview, colors).text, act
	}
}

// policyLines says how a change weakens policies, and what counts without any.
func policyLines(preview wire.Preview[wire.Finding], colors bool) string {
	return warningLines(colors, preview.Weakened...) + warningLines(colors, preview.Notice)
}

// verdictLine returns a line with the status of the new revision, or with that of the present one if nothing would
// change.
func verdictLine(preview wire.Preview[wire.Finding], colors bool) string {
	line := "Status would be: "
	if !preview.Changed {
		line = "Status is: "
	}
	word := verdictWord(preview.Status)
	line += paint(colors, statusTint(word), word)
	if word == "failure" && !preview.Fails() {
		line += ", until results are posted"
	}
	if n := len(preview.Waived); n > 0 {
		line += "; " + paint(colors, yellow, fmt.Sprintf("waived: %d", n))
	}
	return line
}

// changeNames returns a line for each document that a change affects.
func changeNames(preview wire.Preview[wire.Finding]) []string {
	names := make([]string, len(preview.Documents))
	for i, d := range preview.Documents {
		names[i] = wordOf(d) + " " + d.Schema + "/" + d.Name
	}
	return names
}

// wordOf returns the word for a difference in a preview.
func wordOf(d wire.Difference) string {
	return cmp.Or(map[string]string{"created": "added", "modified": "changed"}[d.Change], d.Change)
}

// weakening returns what losses returns of a change that weakens policies, and nothing of any other.
func weakening(preview wire.Preview[wire.Finding]) (list, act string) {
	if len(preview.Weakened) == 0 {
		return "", ""
	}
	return losses(preview)
}

// losses returns a list of the documents that a change would delete and of how it would weaken policies, and both in
// words, such as "delete 2 documents"; "" if it does neither.
func losses(preview wire.Preview[wire.Finding]) (list, act string) {
	var rows [][]string
	for _, d := range preview.Documents {
		if d.Change == "deleted" {
			rows = append(rows, []string{"  would delete", d.Bucket, d.Identity().String()})
		}
	}
	var acts []string
	if preview.Changes.Deleted > 0 {
		acts = append(acts, "delete "+deletedIn(preview))
	}
	if len(preview.Weakened) > 0 && !deletesPolicy(preview) {
		acts = append(acts, "weaken ValidationPolicies")
	}
	return table(rows) + policyLines(preview, false), strings.Join(acts, " and ")
}

// deletedIn counts the documents that a change would delete. It points to a ValidationPolicy, without which less is
// required of later revisions.
func deletedIn(preview wire.Preview[wire.Finding]) string {
	text := words.Count(preview.Changes.Deleted, "document")
	if deletesPolicy(preview) {
		text += ", a ValidationPolicy among them"
	}
	return text
}

// deletesPolicy reports whether a change would delete a ValidationPolicy.
func deletesPolicy(preview wire.Preview[wire.Finding]) bool {
	return slices.ContainsFunc(preview.Documents, func(d wire.Difference) bool {
		return d.Change == "deleted" && strings.HasPrefix(d.Schema, "deckhand/ValidationPolicy/")
	})
}

// prunedAnswer returns what a prune has deleted or would delete.
func prunedAnswer(text []byte, pruned wire.Pruned) answer {
	did := "Deleted"
	if pruned.DryRun {
		did = "Would delete"
	}
	remain := "remain"
	if pruned.Kept == 1 {
		remain = "remains"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s, %d bytes; %s %s\n", did, words.Count(pruned.Revisions.Count, "revision"),
		words.Count(pruned.Documents, "document version"), pruned.Bytes, words.Count(pruned.Kept, "revision"), remain)
	ranges := rangesOf(pruned)
	for _, extent := range ranges {
		fmt.Fprintf(&b, "  %s\n", extent)
	}
	return answer{text, ranges, b.String()}
}

// rangesOf returns the revisions that a prune deletes, as numbers and ranges: 3 or 5-17.
func rangesOf(pruned wire.Pruned) []string {
	var ranges []string
	for _, r := range pruned.Revisions.Ranges {
		text := strconv.FormatInt(r.First, 10)
		if r.Last > r.First {
			text += "-" + strconv.FormatInt(r.Last, 10)
		}
		ranges = append(ranges, text)
	}
	return ranges
}
