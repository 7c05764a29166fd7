package schemadocs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/document"
)

// entities are written for what some reader of Markdown may take for HTML or for the border of a table's cell.
var entities = strings.NewReplacer( //nolint:gochecknoglobals // it never changes
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;",
	`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "~", `\~`)

// text writes plain text as Markdown on one line, wherever on a line that is.
func text(s string) string {
	s = entities.Replace(cut(oneLine(s), maxText))
	return escapeStart(escapeUnderscores(s))
}

// oneLine makes whitespace single spaces and drops what cannot be seen, such as marks that turn the direction of text.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(clip(s), "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
				b.WriteByte(' ')
			}
		case unicode.IsGraphic(r), r == '\u200c', r == '\u200d': // the joiners of scripts and of emoji
			b.WriteRune(r)
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// clip takes off what a text can hold no more of, keeping what cut needs to say how much that is.
func clip(s string) string {
	if len(s) <= 2*maxText {
		return s
	}
	return cut(s, maxText)
}

// cut shortens a text to n bytes and says so.
func cut(s string, n int) string {
	if len(s) <= n+40 { // which the remark would take
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d more bytes)", s[:n], len(s)-n)
}

// escapeUnderscores leaves those within words as they are: there they mean nothing.
func escapeUnderscores(s string) string {
	var b strings.Builder
	before := ' '
	for i, r := range s {
		if r == '_' {
			after, _ := utf8.DecodeRuneInString(s[i+1:])
			if !isWord(before) || !isWord(after) {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// escapeStart escapes what would begin a heading, a list or a line of another kind.
func escapeStart(s string) string {
	if s == "" {
		return s
	}
	if strings.ContainsRune("#+-=", rune(s[0])) {
		return `\` + s
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && strings.ContainsRune(".)", rune(s[digits])) {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// paragraphs writes a text that may have several; lines that look like a list's items stay lines.
func paragraphs(s string) string {
	var b strings.Builder
	wasEmpty := false
	for line := range strings.Lines(cut(s, maxText)) {
		said := text(line)
		switch {
		case said == "":
			wasEmpty = b.Len() > 0
			continue
		case wasEmpty:
			b.WriteString("\n\n")
		case b.Len() > 0 && looksLikeItem(line):
			b.WriteString("\\\n")
		case b.Len() > 0:
			b.WriteByte('\n')
		}
		wasEmpty = false
		b.WriteString(said)
	}
	return b.String()
}

func looksLikeItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	mark := strings.TrimLeft(line, "0123456789")
	if len(mark) < len(line) {
		return strings.HasPrefix(mark, ". ") || strings.HasPrefix(mark, ") ")
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ")
}

// code writes a text in code font.
func code(s string) string {
	s = visible(cut(s, maxCode))
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// visible quotes a text of which not everything would be seen.
func visible(s string) string {
	isHidden := func(r rune) bool {
		return !unicode.IsGraphic(r) || r == utf8.RuneError || unicode.IsSpace(r) && r != ' '
	}
	if s == "" || strings.ContainsFunc(s, isHidden) || s[0] == ' ' || s[len(s)-1] == ' ' {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

// longestRun is how many backticks stand in a row.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// code writes a text in code font. In a table pipes stand in its way: \| is one there, but \\| is not the same to every
// reader of Markdown, so such a text has the font of others.
func (w *writer) code(s string) string {
	pipes := strings.Count(s[:min(len(s), maxCode)], "|")
	if pipes == 0 || !w.inTable {
		return code(s)
	}
	if w.pipes += pipes; w.pipes > maxPipes || strings.Contains(s, `\|`) {
		return text(visible(cut(s, maxCode)))
	}
	return strings.ReplaceAll(code(s), "|", `\|`)
}

// plain is a value as one would write it in YAML: strings without quotes where they are words.
func plain(value any) string {
	s, ok := value.(string)
	if !ok || !isPlainWord(s) {
		return string(document.AppendJSON(nil, value))
	}
	return s
}

// isPlainWord tells whether YAML reads an unquoted text as a string.
func isPlainWord(s string) bool {
	switch strings.ToLower(s) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	first := s[0] | 0x20
	rest := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
	return (first >= 'a' && first <= 'z' || s[0] == '/') && rest == ""
}
