package display

import (
	"fmt"
	"strings"
	"unicode"
)

// The characters, and bytes of a page, that are shown of a text at most; … stands for the rest. A line is one of a
// document, a text is a message, a name is in a table, and a chip is one of several in a field of a table.
const (
	maxLine, maxLineBytes = 1500, 6000
	maxText, maxTextBytes = 600, 2000
	maxName, maxNameBytes = 200, 600
	maxChip, maxChipBytes = 60, 180
)

// CutLine returns what is shown of a line.
func CutLine(text string) string { shown, _ := cut(text, maxLine, maxLineBytes); return shown }

// CutText returns what is shown of a message.
func CutText(text string) string { shown, _ := cut(text, maxText, maxTextBytes); return shown }

// CutName returns what is shown of a name.
func CutName(text string) string { shown, _ := cut(text, maxName, maxNameBytes); return shown }

// CutChip returns what is shown of one of several names in a field of a table.
func CutChip(text string) string { shown, _ := cut(text, maxChip, maxChipBytes); return shown }

// weight returns how many bytes of a page a line takes.
func weight(text string) int {
	_, size := cut(text, maxLine, maxLineBytes)
	return size
}

// cut returns a text as it is shown, with at most so many of its characters and bytes of a page, and how many bytes of
// a page it takes.
func cut(text string, characters, most int) (shown string, size int) {
	var b strings.Builder
	for _, r := range text {
		at := b.Len()
		if characters--; characters >= 0 {
			write(&b, r)
			size += escaped(r, b.Len()-at)
		}
		if characters < 0 || size > most {
			const mark = "…"
			return b.String()[:at] + mark, min(size, most) + len(mark)
		}
	}
	return b.String(), size
}

// escaped returns how many bytes of a page a character takes that html/template writes, of so many bytes itself.
func escaped(r rune, size int) int {
	switch r {
	case '&', '"', '\'', '+':
		return len("&#34;")
	case '<', '>':
		return len("&lt;")
	}
	return size
}

// Visible returns a text with characters that control layout replaced by their code points: control characters, and
// those that change the writing direction and could disguise a line. Line breaks and tabs stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		write(&b, r)
	}
	return b.String()
}

func write(b *strings.Builder, r rune) {
	if hidden(r) {
		fmt.Fprintf(b, "⟨U+%04X⟩", r)
		return
	}
	b.WriteRune(r)
}

// hidden reports whether a character controls how text is laid out, or is none.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
}
