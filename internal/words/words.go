// Package words makes parts of messages: texts of a bounded length that are safe to show, counted nouns, and what
// somebody meant to write.
package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const cut = "…"

// First returns the first n characters of a text, followed by "…" if there are more. It reads no further.
func First(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + cut
		}
		n--
	}
	return text
}

// FirstBytes returns the beginning of a text that is longer than n bytes, followed by "…": at most n bytes of it,
// without half a character at its end.
func FirstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + cut
}

// Count returns a number and the noun that it counts: 1 document, 2 documents. The noun's plural must end with s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Printable returns a text in which U+FFFD replaces all that could control a terminal or hide a part of the text: what
// is not graphic, but for line feeds and tabs.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// PrintableJSON returns JSON text of the same value in which escapes stand for what Printable replaces. It leaves YAML
// without such characters as it is.
func PrintableJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n', r == '\t', r == '\r', unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// Line is Printable with a blank for each line feed and each other space.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, Printable(text))
}
