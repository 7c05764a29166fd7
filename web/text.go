package web

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// visible returns a text in which what controls how text is laid out is replaced by its number: control characters,
// and those that change the direction of writing, by which a line can look like another one. Line breaks and tabs stay.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether a character controls how text is laid out, or is none.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
}

// shortened returns a text of at most so many characters.
func shortened(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}

// count returns a number with a word: 1 document, 2 documents.
func count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// joined lists words: a, b and c.
func joined(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// weight returns how many bytes of a page a text takes.
func weight(text string) int { return len(html.EscapeString(visible(shortened(text, maxLine)))) }
