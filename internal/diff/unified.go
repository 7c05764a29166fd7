package diff

import (
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
func Unified(oldName, newName, before, after string) string {
	if before == after {
		return ""
	}
	was, is := cutLines(before), cutLines(after)
	return writeUnified(oldName, newName, was, is, compareLines(was, is))
}

func cutLines(text string) []string {
	return slices.AppendSeq(make([]string, 0, strings.Count(text, "\n")+1), strings.Lines(text))
}

func compareLines(before, after []string) []hunk {
	var hunks []hunk
	for _, d := range lcs.DiffLines(before, after) {
		hunks = append(hunks, hunk{d.Start, d.End, d.ReplStart, d.ReplEnd})
	}
	return hunks
}

// writeUnified writes hunks out as a unified diff. The library has a writer too, which (v0.4.1) misnumbers the new
// lines of every hunk behind one of several changes.
func writeUnified(oldName, newName string, before, after []string, hunks []hunk) string {
	var text strings.Builder
	fmt.Fprintf(&text, "--- %s\n+++ %s\n", oldName, newName)
	for len(hunks) > 0 {
		n := together(hunks)
		writeHunks(&text, before, after, hunks[:n])
		hunks = hunks[n:]
	}
	return text.String()
}

// together counts the hunks from the first on whose contexts touch.
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

// lineDiff is what Python's difflib.unified_diff says of two strings cut into lines, how they end being no difference:
// word for word if they are short.
func lineDiff(before, after string) string {
	was, is := splitLines(before), splitLines(after)
	if slices.Equal(was, is) {
		return ""
	}
	compare := align[string]
	if max(len(was), len(is)) >= shortText {
		compare = compareLines
	}
	return strings.TrimSuffix(writeUnified("", "", was, is, compare(was, is)), "\n")
}

// splitLines cuts a text where Python's str.splitlines does; every line gets a line break at its end.
func splitLines(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n",
		"\x1e", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return cutLines(text)
}
