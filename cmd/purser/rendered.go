package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"purser/internal/client"
	"purser/internal/wire"
	"purser/internal/words"
)

// sendRendered sends a change that asks for rendered documents, and for the rest only if the caller may not compare
// revisions or the server is an older one.
func (send sender) sendRendered(ctx context.Context, change client.Change) (client.Written, error) {
	change.Rendered = true
	written, err := send(ctx, change)
	refused, ok := errors.AsType[*client.Error](err)
	if ok && (refused.Status == http.StatusForbidden || refused.Status == http.StatusBadRequest) {
		change.Rendered = false
		return send(ctx, change)
	}
	return written, err
}

// renderedLine counts the rendered documents that would change.
func renderedLine(rendered wire.Rendered) string {
	if rendered.Count == 0 {
		return "No rendered document that you may see would change.\n"
	}
	var kinds []string
	for _, kind := range []struct {
		word  string
		count int
	}{
		{"added", rendered.Created},
		{"modified", rendered.Modified},
		{"deleted", rendered.Deleted},
		{"moved", rendered.Moved},
	} {
		if kind.count > 0 {
			kinds = append(kinds, fmt.Sprintf("%s=%d", kind.word, kind.count))
		}
	}
	return fmt.Sprintf("%s would change: %s\n", words.Count(rendered.Count, "rendered document"),
		strings.Join(kinds, ", "))
}

// unrenderedText says which sides are not compared because documents in them cannot be rendered, and why.
func unrenderedText(rendered wire.Rendered, colors bool) string {
	var b strings.Builder
	for _, side := range rendered.Unrendered {
		what := fmt.Sprintf("revision %d cannot be rendered", side.Revision)
		b.WriteString(warningLines(colors, fmt.Sprintf("rendered documents are not compared: %s: %s", what, side.Message)))
	}
	return b.String()
}

// renderedText returns each difference of rendered documents, and then the documents that have it.
func renderedText(rendered wire.Rendered, colors bool) string {
	if len(rendered.Unrendered) > 0 {
		return unrenderedText(rendered, colors)
	}
	return renderedLine(rendered) + differencesText(rendered, colors)
}

// differencesText is renderedText without the numbers of documents.
func differencesText(rendered wire.Rendered, colors bool) string {
	var b strings.Builder
	for _, d := range rendered.Differences {
		b.WriteString(diffOf(d, colors))
		for _, doc := range d.Documents {
			b.WriteString("  " + changeLine(doc) + "\n")
		}
	}
	b.WriteString(unlistedLine(rendered.Unlisted))
	return b.String()
}

// diffOf returns a difference, indented, or a line that says why it is not shown.
func diffOf(d wire.RenderedDifference, colors bool) string {
	text := ""
	if d.Diff != nil {
		text = indented(*d.Diff, colors)
	}
	switch {
	case d.Omitted:
		text = "    (too large to be shown)\n"
	case d.Encrypted:
		text += "    (data that are not shown, because a secret is among them)\n"
	case d.Diff != nil && *d.Diff == "" && len(d.Documents) > 0 && d.Documents[0].Change != "moved":
		text = "    (nothing in the data or metadata but the order of keys)\n"
	}
	return text
}

// changeLine names a document with its change.
func changeLine(doc wire.Difference) string {
	from := ""
	if doc.From != "" {
		from = ", from bucket " + doc.From
	}
	return words.Line(fmt.Sprintf("%-8s %s (bucket %s%s)", wordOf(doc), doc.Identity(), doc.Bucket, from))
}

func unlistedLine(unlisted int) string {
	if unlisted == 0 {
		return ""
	}
	return fmt.Sprintf("  and %s, not listed\n", words.Count(unlisted, "other document"))
}

// Bounds of what a question shows: lines in all, lines of a difference, and documents that have it.
const (
	maxQuestion     = 40
	maxQuestionDiff = 12
	maxQuestioned   = 3
)

// renderedBrief is renderedText for a question: the beginning of each difference and the first of its documents, as far
// as these have room in maxQuestion lines, and the number of the others.
func renderedBrief(rendered wire.Rendered, colors bool) string {
	if len(rendered.Unrendered) > 0 {
		return unrenderedText(rendered, colors)
	}
	if rendered.Count == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(renderedLine(rendered))
	room, rest := maxQuestion-3, 0 // the first line, and two about the rest
	for i, d := range rendered.Differences {
		part := briefly(d, colors)
		if room -= strings.Count(part, "\n"); room < 0 {
			for _, d := range rendered.Differences[i:] {
				rest += len(d.Documents)
			}
			fmt.Fprintf(&b, "  and %s in %s\n", words.Count(len(rendered.Differences)-i, "other difference"),
				words.Count(rest, "document"))
			break
		}
		b.WriteString(part)
	}
	b.WriteString(unlistedLine(rendered.Unlisted))
	return b.String()
}

// briefly returns the beginning of a difference, the first of its documents, and the number of the others.
func briefly(d wire.RenderedDifference, colors bool) string {
	var b strings.Builder
	b.WriteString(firstLines(diffOf(d, colors), maxQuestionDiff, "    …\n"))
	for _, doc := range d.Documents[:min(len(d.Documents), maxQuestioned)] {
		b.WriteString("  " + changeLine(doc) + "\n")
	}
	if more := len(d.Documents) - maxQuestioned; more > 0 {
		fmt.Fprintf(&b, "  and %s with the same difference\n", words.Count(more, "other document"))
	}
	return b.String()
}

// firstLines returns the first n lines of a text, and what follows them if there are more.
func firstLines(text string, n int, more string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines)-1 <= n {
		return text
	}
	return strings.Join(lines[:n], "") + more
}

// failingText names the documents that begin to fail with a change, at most so many.
func failingText(failing *wire.Failing, most int) string {
	if failing == nil {
		return ""
	}
	var b strings.Builder
	switch {
	case failing.Count > 0:
		number := words.Count(failing.Count, "document")
		fmt.Fprintf(&b, "Would begin to fail: %s\n", words.AtLeast(number, failing.More))
	default:
		return "Documents may begin to fail: those that fail are too many to be compared with those of the newest revision.\n"
	}
	listed := failing.Documents[:min(len(failing.Documents), most)]
	for _, doc := range listed {
		bucket := cmp.Or(string(doc.Bucket), "unknown")
		b.WriteString("  " + words.Line(fmt.Sprintf("%s (bucket %s)", doc, bucket)) + "\n")
	}
	b.WriteString(unlistedLine(failing.Count - len(listed)))
	return b.String()
}

// consequences says in a question what a change does to rendered documents, and which documents begin to fail.
func consequences(preview wire.Preview[wire.Finding], colors bool) string {
	const mostFailing = 10
	text := ""
	if preview.Rendered != nil {
		text = renderedBrief(*preview.Rendered, colors)
	}
	return text + failingText(preview.BeginToFail, mostFailing)
}

// previewRendered says in a preview what a change does to rendered documents, if that was asked for, and which
// documents begin to fail.
func previewRendered(preview wire.Preview[wire.Finding], colors bool) string {
	text := ""
	if preview.Rendered != nil {
		text = renderedText(*preview.Rendered, colors)
	}
	return text + failingText(preview.BeginToFail, math.MaxInt)
}
