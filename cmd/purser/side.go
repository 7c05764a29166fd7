package main

import (
	"strings"
	"unicode/utf8"
)

// sideBySide returns a unified diff in two columns, the old lines on the left and the new ones on the right: with |
// between lines that differ, < beside lines that are gone and > beside new ones.
func sideBySide(unified string, width int) string {
	const gutter = 3
	s := &sides{half: max((width-gutter)/2, 10)}
	header := true // the lines --- and +++ before the first hunk of a document
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "--- ") && (header || s.done()):
			s.flush()
			header = true
			s.removed = append(s.removed, line)
		case header && strings.HasPrefix(line, "+++ "):
			s.added = append(s.added, line)
		case strings.HasPrefix(line, "@@ "):
			s.flush()
			s.left, s.right = hunk(line)
			s.out.WriteString(line + "\n")
			header = false
		case !header && strings.HasPrefix(line, "-"):
			s.left--
			s.removed = append(s.removed, line[1:])
		case !header && strings.HasPrefix(line, "+"):
			s.right--
			s.added = append(s.added, line[1:])
		case !header && strings.HasPrefix(line, " "):
			s.left, s.right = s.left-1, s.right-1
			s.flush()
			s.row(line[1:], " ", line[1:])
		default:
			s.flush()
			s.out.WriteString(line + "\n")
		}
	}
	s.flush()
	return s.out.String()
}

// sides writes two columns.
type sides struct {
	out            strings.Builder
	half           int // the width of a column
	removed, added []string
	left, right    int // lines of the hunk that are still to come
}

func (s *sides) done() bool { return s.left <= 0 && s.right <= 0 }

// flush writes the lines that were removed beside those that were added in their place.
func (s *sides) flush() {
	for i := range max(len(s.removed), len(s.added)) {
		switch {
		case i >= len(s.added):
			s.row(s.removed[i], "<", "")
		case i >= len(s.removed):
			s.row("", ">", s.added[i])
		default:
			s.row(s.removed[i], "|", s.added[i])
		}
	}
	s.removed, s.added = nil, nil
}

func (s *sides) row(left, mark, right string) {
	left, right = cut(left, s.half), cut(right, s.half)
	pad := strings.Repeat(" ", s.half-utf8.RuneCountInString(left))
	s.out.WriteString(strings.TrimRight(left+pad+" "+mark+" "+right, " ") + "\n")
}

// cut returns a text of at most so many characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// hunk reads how many old and new lines follow: @@ -1,6 +1,7 @@.
func hunk(line string) (left, right int) {
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
