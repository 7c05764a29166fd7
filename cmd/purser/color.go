package main

import (
	"io"
	"os"
	"strings"
)

// Colours of differences, as ANSI escape sequences. They are the same as git's.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	plain = "\x1b[m"
)

// hasColors reports whether w is a terminal that shows colours, and NO_COLOR (https://no-color.org) is not set.
func hasColors(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// tinted returns text in a colour; a tint of "" changes nothing.
func tinted(tint, text string) string {
	if tint == "" || text == "" {
		return text
	}
	return tint + text + plain
}

// coloredDiff colours the lines of a unified diff.
func coloredDiff(unified string) string {
	var b strings.Builder
	for _, line := range diffLines(unified) {
		b.WriteString(tinted(line.tint(), line.text) + "\n")
	}
	return b.String()
}

// diffLine is a line of a unified diff.
type diffLine struct {
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
func (l diffLine) tint() string {
	return map[lineKind]string{
		oldName: bold, newName: bold, hunk: cyan, removed: red, added: green, kept: "", other: "",
	}[l.kind]
}

// diffLines returns the lines of the concatenated unified diffs of several documents. It counts the lines of each hunk,
// because lines of a document may look like the names before a hunk.
func diffLines(unified string) []diffLine {
	var lines []diffLine
	header := true // between the documents: --- and +++ lines come next
	left, right := 0, 0
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		kind := other
		switch {
		case strings.HasPrefix(line, "--- ") && (header || left <= 0 && right <= 0):
			kind, header = oldName, true
		case header && strings.HasPrefix(line, "+++ "):
			kind = newName
		case strings.HasPrefix(line, "@@ "):
			kind, header = hunk, false
			left, right = extentsOf(line)
		case !header && strings.HasPrefix(line, "-"):
			kind = removed
			left--
		case !header && strings.HasPrefix(line, "+"):
			kind = added
			right--
		case !header && strings.HasPrefix(line, " "):
			kind = kept
			left, right = left-1, right-1
		}
		lines = append(lines, diffLine{kind, line})
	}
	return lines
}

// extentsOf returns the numbers of old and new lines in a hunk, from a header such as @@ -1,6 +1,7 @@.
func extentsOf(line string) (left, right int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	return linesOf(fields[1]), linesOf(fields[2])
}

func linesOf(extent string) int {
	_, count, found := strings.Cut(extent, ",")
	if !found {
		return 1
	}
	n := 0
	for _, digit := range count {
		n = n*10 + int(digit-'0')
	}
	return n
}
