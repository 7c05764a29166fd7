package main

import (
	"strings"
	"unicode/utf8"
)

// sideBySide returns a unified diff in two columns, the old lines on the left and the new ones on the right: with |
// between lines that differ, < beside lines that are gone and > beside new ones.
func sideBySide(unified string, width int, colors bool) string {
	const gutter = 3
	s := &sides{half: max((width-gutter)/2, 10), colors: colors}
	for _, line := range diffLines(unified) {
		switch line.kind {
		case oldName:
			s.flush()
			s.names, s.removed = true, append(s.removed, line.text)
		case removed:
			s.removed = append(s.removed, line.text[1:])
		case newName:
			s.added = append(s.added, line.text)
		case added:
			s.added = append(s.added, line.text[1:])
		case kept:
			s.flush()
			s.row(line.text[1:], " ", line.text[1:], "", "")
		default:
			s.flush()
			s.out.WriteString(s.tinted(line.tint(), line.text) + "\n")
		}
	}
	s.flush()
	return s.out.String()
}

// sides writes two columns.
type sides struct {
	out            strings.Builder
	half           int // the width of a column
	colors         bool
	removed, added []string
	names          bool // they are the names of what is compared
}

// flush writes the lines that were removed beside those that were added in their place.
func (s *sides) flush() {
	left, right := red, green
	if s.names {
		left, right = bold, bold
	}
	for i := range max(len(s.removed), len(s.added)) {
		switch {
		case i >= len(s.added):
			s.row(s.removed[i], "<", "", left, right)
		case i >= len(s.removed):
			s.row("", ">", s.added[i], left, right)
		default:
			s.row(s.removed[i], "|", s.added[i], left, right)
		}
	}
	s.removed, s.added, s.names = nil, nil, false
}

func (s *sides) row(left, mark, right, leftTint, rightTint string) {
	left, right = cut(left, s.half), cut(right, s.half)
	pad := strings.Repeat(" ", s.half-utf8.RuneCountInString(left))
	s.out.WriteString(strings.TrimRight(s.tinted(leftTint, left)+pad+" "+mark+" "+s.tinted(rightTint, right), " ") + "\n")
}

func (s *sides) tinted(tint, text string) string {
	if !s.colors {
		return text
	}
	return tinted(tint, text)
}

// cut returns a text of at most so many characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}
