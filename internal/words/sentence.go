package words

import (
	"strconv"
	"strings"
)

// Sentence begins a text with a capital and ends it with a full stop. It trims white space.
func Sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if c := text[0]; 'a' <= c && c <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return Ended(text)
}

// Ended ends a text that is not empty with a full stop, unless it already ends like a sentence.
func Ended(text string) string {
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// List lists words: a, b and c.
func List(words []string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Some lists the first words, at most most, and says how many more there are.
func Some(words []string, most int) string {
	if rest := len(words) - most; rest > 0 {
		return strings.Join(words[:most], ", ") + " and " + strconv.Itoa(rest) + " more"
	}
	return List(words)
}
