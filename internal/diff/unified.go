package diff

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// contextLines is how many equal lines stand around a change.
const contextLines = 3

// Unified returns the unified diff of two texts under the names that its header gives them, empty if they are equal:
//
//	--- old
//	+++ new
//	@@ -1,2 +1,2 @@
//	 a
//	-b
//	+c
//	\ No newline at end of file
//
// The effort is bounded: of texts with more than some hundred changes the middle counts as one.
//
// Fault: TooLarge, *budget.Exceeded.
func Unified(ctx context.Context, oldName, newName, before, after string) (string, error) {
	m := newMeter(ctx)
	if m.compareTexts(before, after); before == after {
		return "", m.end()
	}
	was, is := m.cutLines(before), m.cutLines(after)
	hunks := compareLines(m, was, is)
	if m.err != nil {
		return "", m.end()
	}
	text := m.writeUnified(oldName, newName, was, is, hunks)
	m.hold(len(text))
	return text, m.end()
}

func (m *meter) cutLines(text string) []string {
	lines := strings.Count(text, "\n") + 1
	m.charge(len(text) + lineCost*lines)
	if m.hold(wordSize * lines); m.err != nil {
		return nil
	}
	defer m.hold(-wordSize * lines)
	return slices.AppendSeq(make([]string, 0, strings.Count(text, "\n")+1), strings.Lines(text))
}

// wordSize is the memory of a string header.
const wordSize = 16

func compareLines(m *meter, before, after []string) []hunk {
	if m.charge(2 * lineCost * (len(before) + len(after))); m.err != nil {
		return nil
	}
	var hunks []hunk
	for _, d := range lcs.DiffLines(before, after) {
		hunks = append(hunks, hunk{d.Start, d.End, d.ReplStart, d.ReplEnd})
	}
	return hunks
}

// writeUnified writes hunks out as a unified diff. The library has a writer too, which (v0.4.1) misnumbers the new
// lines of every hunk behind one of several changes.
func (m *meter) writeUnified(oldName, newName string, before, after []string, hunks []hunk) string {
	var text strings.Builder
	fmt.Fprintf(&text, "--- %s\n+++ %s\n", oldName, newName)
	for len(hunks) > 0 {
		n := together(hunks)
		m.charge(lineCost)
		writeHunks(&text, before, after, hunks[:n])
		hunks = hunks[n:]
	}
	m.charge(text.Len())
	return text.String()
}

// together counts the leading hunks with adjoining contexts.
func together(hunks []hunk) int {
	n := 1
	for n < len(hunks) && hunks[n].i-hunks[n-1].iEnd <= 2*contextLines {
		n++
	}
	return n
}

// writeHunks writes hunks under one head.
func writeHunks(dst *strings.Builder, before, after []string, hunks []hunk) {
	first, last := hunks[0], hunks[len(hunks)-1]
	lead := min(contextLines, first.i)
	trail := min(contextLines, len(before)-last.iEnd)
	fmt.Fprintf(dst, "@@ -%s +%s @@\n",
		lineRange(first.i-lead, last.iEnd+trail), lineRange(first.j-lead, last.jEnd+trail))
	at := first.i - lead
	for _, h := range hunks {
		writeLines(dst, ' ', before[at:h.i])
		writeLines(dst, '-', before[h.i:h.iEnd])
		writeLines(dst, '+', after[h.j:h.jEnd])
		at = h.iEnd
	}
	writeLines(dst, ' ', before[at:at+trail])
}

// lineRange names the lines [from, to) as the head of a hunk does, which counts from 1, but no lines from 0.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(dst *strings.Builder, mark byte, lines []string) {
	for _, line := range lines {
		dst.WriteByte(mark)
		dst.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			dst.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// shortText is below how many lines difflib compares all lines; from there on it leaves out frequent ones.
const shortText = 200

// lineDiff is the output of Python's difflib.unified_diff for two strings cut into lines, regardless of their line
// ends: word for word if they are short.
func (m *meter) lineDiff(before, after string) string {
	was, is := m.splitLines(before), m.splitLines(after)
	if m.err != nil || slices.Equal(was, is) {
		return ""
	}
	compare := align[string]
	if max(len(was), len(is)) >= shortText {
		compare = compareLines
	}
	hunks := compare(m, was, is)
	if m.err != nil {
		return ""
	}
	text := m.writeUnified("", "", was, is, hunks)
	m.hold(len(text))
	return strings.TrimSuffix(text, "\n")
}

// splitCost is the constant cost of splitting a text.
const splitCost = 10_000

// splitLines cuts a text where Python's str.splitlines does; every line gets a line break at its end.
func (m *meter) splitLines(text string) []string {
	m.charge(splitCost + byteCost*len(text))
	if m.hold(len(text)); m.err != nil {
		return nil
	}
	defer m.hold(-len(text))
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n",
		"\x1e", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return m.cutLines(text)
}
