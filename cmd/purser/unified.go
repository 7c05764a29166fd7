package main

import (
	"strconv"
	"strings"

	"purser/internal/words"
)

// Colours of differences, as ANSI escape sequences. They are the same as git's.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	plain = "\x1b[m"
)

// tinted returns text in a colour; a tint of "" changes nothing.
func tinted(tint, text string) string {
	if tint == "" || text == "" {
		return text
	}
	return tint + text + plain
}

// unifiedText returns a unified diff, with coloured lines if colors is set.
func unifiedText(unified string, colors bool) string {
	unified = words.Printable(unified)
	if !colors {
		return unified
	}
	var b strings.Builder
	for _, line := range linesOf(unified) {
		b.WriteString(tinted(line.tint(), line.text) + "\n")
	}
	return b.String()
}

// indented returns a unified diff like unifiedText, with indented lines, to follow a line about the document.
func indented(unified string, colors bool) string {
	if unified == "" {
		return ""
	}
	text := strings.TrimSuffix(unifiedText(unified, colors), "\n")
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// line is a line of a unified diff.
type line struct {
	kind lineKind
	text string // without the line break
}

type lineKind int

const (
	other   lineKind = iota
	oldName          // --- revision 1
	newName          // +++ revision 2
	hunk             // @@ -1,6 +1,7 @@
	removed
	added
	kept
)

// tint returns the colour of a line.
func (l line) tint() string {
	return map[lineKind]string{
		oldName: bold, newName: bold, hunk: cyan, removed: red, added: green, kept: "", other: "",
	}[l.kind]
}

// linesOf returns the lines of the concatenated unified diffs of several documents. It counts the lines of each hunk,
// because lines of a document may look like the names before a hunk.
func linesOf(unified string) []line {
	var lines []line
	header := true // between the documents: --- and +++ lines come next
	left, right := 0, 0
	for text := range strings.Lines(unified) {
		text = strings.TrimSuffix(text, "\n")
		kind := other
		switch {
		case strings.HasPrefix(text, "--- ") && (header || left <= 0 && right <= 0):
			kind, header = oldName, true
		case header && strings.HasPrefix(text, "+++ "):
			kind = newName
		case strings.HasPrefix(text, "@@ "):
			kind, header = hunk, false
			left, right = extentsOf(text)
		case !header && strings.HasPrefix(text, "-"):
			kind = removed
			left--
		case !header && strings.HasPrefix(text, "+"):
			kind = added
			right--
		case !header && strings.HasPrefix(text, " "):
			kind = kept
			left, right = left-1, right-1
		}
		lines = append(lines, line{kind, text})
	}
	return lines
}

// extentsOf returns the numbers of old and new lines in a hunk, from a header such as @@ -1,6 +1,7 @@.
func extentsOf(line string) (left, right int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	return countOf(fields[1]), countOf(fields[2])
}

func countOf(extent string) int {
	_, count, found := strings.Cut(extent, ",")
	if !found {
		return 1
	}
	n, _ := strconv.Atoi(count)
	return n
}
