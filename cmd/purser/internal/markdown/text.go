package markdown

import (
	"net/url"
	"strings"
	"unicode/utf16"

	"purser/internal/words"
)

// Code returns a text as a code span on one line.
func Code(text string) string {
	text = words.Line(text)
	if strings.Trim(text, " ") == "" {
		text = " "
	} else if strings.Trim(text, "` ") != text { // a parser removes one blank at each end
		text = " " + text + " "
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	return ticks + text + ticks
}

// Link returns a text as a code span that leads to a URL, or the code span alone if the URL is "".
func Link(text, to string) string {
	if to == "" {
		return Code(text)
	}
	return "[" + Code(text) + "](" + to + ")"
}

// Path returns a path of files as a part of a URL, in which only letters, digits, slashes and -._~ stay as they are.
func Path(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}

// longestRun returns the length of the longest run of backticks in a text.
func longestRun(text string) (longest int) {
	run := 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// size returns the number of characters of a text as browsers count them: those beyond U+FFFF count twice. Wherever
// they count once, a text has no more characters than that.
func size(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
