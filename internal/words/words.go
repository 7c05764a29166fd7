// Package words provides parts of messages: strings of bounded length that are safe to show (printable.go) or to store,
// counted nouns, lists, sentences, and suggestions for misspelt words.
package words

import (
	"fmt"
	"strconv"
	"strings"
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

// AtLeast returns a number in words as one that may be larger if more is set.
func AtLeast(number string, more bool) string {
	if more {
		return "at least " + number
	}
	return number
}

// Others returns what follows the first of several similar findings in a number of documents, "" if it is the only one.
func Others(findings, documents int, more bool) string {
	if findings <= 1 {
		return ""
	}
	return ", and " + AtLeast(strconv.Itoa(findings-1), more) + " more like it, in " + Count(documents, "document")
}

// Rest returns a line with the number of findings that are not shown, "" if all are.
func Rest(rest int, more bool) string {
	switch {
	case rest > 0:
		return "and " + AtLeast(strconv.Itoa(rest), more) + " more\n"
	case more:
		return "and perhaps others, which were not examined\n"
	}
	return ""
}
