// Package words makes parts of messages: texts of a bounded length, counted nouns, and what somebody meant to write.
package words

import (
	"fmt"
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
