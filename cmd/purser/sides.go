package main

import (
	"strings"
	"unicode/utf8"

	"purser/internal/diff"
	"purser/internal/words"
)

// sideBySide formats a unified diff in two columns, with old lines on the left and new ones on the right. Changed lines
// have | between them, removed ones < beside them and added ones >.
func sideBySide(unified string, width int, colors bool) string {
	const gutter = 3
	s := &sides{half: max((width-gutter)/2, 10), colors: colors}
	for line := range diff.Lines(words.Printable(unified)) {
		switch line.Kind {
		case diff.OldName:
			s.flush()
			s.names, s.removed = true, append(s.removed, line.String())
		case diff.Removed:
			s.removed = append(s.removed, line.Text)
		case diff.NewName:
			s.added = append(s.added, line.String())
		case diff.Added:
			s.added = append(s.added, line.Text)
		case diff.Same:
			s.flush()
			s.row(line.Text, " ", line.Text, "", "")
		default:
			s.flush()
			s.out.WriteString(s.tinted(tintOf(line.Kind), line.Text) + "\n")
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
	names          bool // removed and added are the names of the versions
}

// flush writes the removed lines beside the added ones.
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

// cut shortens a text to width characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return words.First(text, width-1)
}
