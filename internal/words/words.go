// Package words provides parts of messages: strings of bounded length that are safe to show, counted nouns, lists,
// sentences, and suggestions for misspelt words.
package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const cut = "…"

// First returns the first n characters of a string, followed by "…" if there are more. It does not read the rest.
func First(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + cut
		}
		n--
	}
	return text
}

// Excerpt returns the beginning of a user's text, for a message that quotes it.
func Excerpt(text string) string { return First(text, 128) }

// FirstBytes returns a string of at most n bytes unchanged. It cuts a longer one to at most n bytes of whole characters
// and appends "…".
func FirstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + cut
}

// Storable returns a text as the database stores it: it replaces NUL characters and bytes that are not UTF-8 by U+FFFD.
func Storable(text string) string {
	const replacement = string(utf8.RuneError)
	return strings.ReplaceAll(strings.ToValidUTF8(text, replacement), "\x00", replacement)
}

// Count returns a number with the noun it counts: 1 document, 2 documents. The noun's plural must end with s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Printable replaces by U+FFFD all characters that could control a terminal or hide a part of the text: those that are
// not graphic, except line feeds and tabs.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// PrintableJSON returns JSON text of the same value that escapes the characters that Printable replaces. It leaves YAML
// without these characters unchanged.
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

// Line is like Printable, but also replaces line feeds and other white space by blanks.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, Printable(text))
}
