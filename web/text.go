package web

import (
	"strings"

	"purser/internal/words"
)

// The characters, and bytes of a page, that are shown of a text at most; … stands for the rest. A line is one of a
// document, a text is a message, a name is in a table, and a chip is one of several in a field of a table.
const (
	maxLine, maxLineBytes = 1500, 6000
	maxText, maxTextBytes = 600, 2000
	maxName, maxNameBytes = 200, 600
	maxChip, maxChipBytes = 60, 180
)

// cutLine returns what is shown of a line.
func cutLine(text string) string { shown, _ := cut(text, maxLine, maxLineBytes); return shown }

// cutText returns what is shown of a message.
func cutText(text string) string { shown, _ := cut(text, maxText, maxTextBytes); return shown }

// cutName returns what is shown of a name.
func cutName(text string) string { shown, _ := cut(text, maxName, maxNameBytes); return shown }

// cutChip returns what is shown of one of several names in a field of a table.
func cutChip(text string) string { shown, _ := cut(text, maxChip, maxChipBytes); return shown }

// weight returns how many bytes of a page a line takes.
func weight(text string) int {
	_, size := cut(text, maxLine, maxLineBytes)
	return size
}

// cut returns a text as it is shown, with at most so many of its characters and bytes of a page, and how many bytes of
// a page it takes.
func cut(text string, characters, most int) (shown string, size int) {
	var b strings.Builder
	for shown := range words.Characters(text) {
		if characters--; characters >= 0 {
			size += escaped(shown)
		}
		if characters < 0 || size > most {
			const mark = "…"
			return b.String() + mark, min(size, most) + len(mark)
		}
		b.WriteString(shown)
	}
	return b.String(), size
}

// escaped returns how many bytes of a page a character takes that html/template writes.
func escaped(shown string) int {
	switch shown {
	case "&", `"`, "'", "+":
		return len("&#34;")
	case "<", ">":
		return len("&lt;")
	}
	return len(shown)
}
