package web

import (
	"fmt"
	"strings"

	"purser/internal/words"
)

// extent is how much of a text is shown at most; … stands for the rest.
type extent struct {
	characters, bytes int // the bytes are those that they take in a page
}

var (
	shownLine = extent{1500, 6000} // of a document
	shownText = extent{600, 2000}  // a message
	shownName = extent{200, 600}   // in a table
	shownChip = extent{60, 180}    // one of several in a field of a table
)

// cut returns what is shown of a text of any type.
func (e extent) cut(text any) string {
	shown, _ := e.measure(fmt.Sprint(text))
	return shown
}

// weight returns how many bytes of a page a line takes.
func weight(text string) int {
	_, size := shownLine.measure(text)
	return size
}

// measure returns what is shown of a text, and how many bytes of a page that takes.
func (e extent) measure(text string) (shown string, size int) {
	var b strings.Builder
	for shown := range words.Characters(text) {
		if e.characters--; e.characters >= 0 {
			size += escaped(shown)
		}
		if e.characters < 0 || size > e.bytes {
			const mark = "…"
			return b.String() + mark, min(size, e.bytes) + len(mark)
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
