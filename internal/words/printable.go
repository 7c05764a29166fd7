package words

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Printable returns a text in which all characters that could control a terminal, hide a part of the text or change its
// direction are written as their code points, such as ⟨U+202E⟩. Line feeds and tabs stay. See Characters.
func Printable(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for shown := range Characters(text) {
		b.WriteString(shown)
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

// PrintableJSON returns JSON text of the same value that escapes the characters that Printable replaces. It leaves YAML
// without these characters unchanged.
func PrintableJSON(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for r, visible := range characters(text) {
		if visible || r == '\r' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Characters iterates over the characters of a text as Printable shows them.
func Characters(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for r, visible := range characters(text) {
			shown := string(r)
			if !visible {
				shown = fmt.Sprintf("⟨U+%04X⟩", r)
			}
			if !yield(shown) {
				return
			}
		}
	}
}

// isPlain reports whether a text has only line feeds, tabs and printable ASCII characters.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// maxMarks is how many combining marks may follow each other. More would cover the lines above and below.
const maxMarks = 8

// characters iterates over the characters of a text, and whether each can be seen where it stands.
func characters(text string) iter.Seq2[rune, bool] {
	return func(yield func(rune, bool) bool) {
		previous, marks := rune(0), 0
		for _, r := range text {
			if marks++; !unicode.Is(unicode.M, r) {
				marks = 0
			}
			visible := marks <= maxMarks && (isVisible(r) || joins(previous, r))
			if !yield(r, visible) {
				return
			}
			if previous = r; !visible {
				previous = 0
			}
		}
	}
}

// isVisible reports whether a character has a shape of its own, or is a line feed or a tab.
func isVisible(r rune) bool {
	return r == '\n' || r == '\t' || r >= ' ' && r <= '~' ||
		unicode.IsGraphic(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// The invisible characters that scripts and emoji need.
const (
	nonJoiner, joiner = '\u200c', '\u200d'
	emojiStyle        = '\ufe0f'
)

// joins reports whether an invisible character belongs to the previous visible one, as in emoji and in scripts that
// join their letters. In Latin text it would only make two names look the same.
func joins(previous, r rune) bool {
	const afterLatin = 0x300
	switch r {
	case joiner:
		return previous == emojiStyle || previous >= afterLatin && isVisible(previous)
	case nonJoiner, emojiStyle:
		return previous >= afterLatin && isVisible(previous)
	}
	return false
}
