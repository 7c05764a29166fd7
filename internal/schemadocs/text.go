package schemadocs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/words"
)

// inline is text within a line, as pieces of one font each. The templates escape it.
type inline []span

type span struct {
	Text    string
	Font    string   // "", "code", "strong", or "br" for the end of a line
	Section *section // that it links to, if it has an anchor in the end
}

func plain(s string) inline { return styled(s, "") }

// prose returns text from the schema, on one line.
func prose(s string) inline { return plain(cut(oneLine(s), maxText)) }

func strong(s string) inline { return styled(cut(oneLine(s), maxText), "strong") }

func code(s string) inline { return styled(visible(cut(s, maxCode)), "code") }

func styled(s, font string) inline {
	if s == "" {
		return nil
	}
	return inline{{Text: s, Font: font}}
}

// linked makes the last piece a link to a section, if that will be on the page.
func (t inline) linked(to *section) inline {
	t[len(t)-1].Section = to
	return t
}

// when returns a text if a condition holds.
func when(holds bool, text inline) inline {
	if holds {
		return text
	}
	return nil
}

// join connects the texts that are not empty.
func join(separator string, texts ...inline) inline {
	var joined inline
	for _, t := range texts {
		if len(joined) > 0 && len(t) > 0 {
			joined = append(joined, plain(separator)...)
		}
		joined = append(joined, t...)
	}
	return joined
}

func (t inline) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Markdown returns the text as Markdown. In a table, a pipe must be escaped even in code.
func (t inline) Markdown(inTable bool) string {
	var b strings.Builder
	for _, s := range t {
		written := s.markdown(inTable)
		if s.Section != nil && s.Section.Anchor != "" {
			written = "[" + written + "](#" + s.Section.Anchor + ")"
		}
		b.WriteString(written)
	}
	return b.String()
}

func (s span) markdown(inTable bool) string {
	switch {
	case s.Font == "br":
		return "\\\n"
	case s.Font == "strong":
		return "**" + escape(s.Text) + "**"
	case s.Font != "code", inTable && strings.Contains(s.Text, `\|`): // which readers of Markdown disagree on
		return escape(s.Text)
	}
	text, fence := s.Text, "`"
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if inTable {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	return fence + text + fence
}

// entities replace characters that some Markdown readers treat as HTML or as the border of a table cell.
var entities = strings.NewReplacer( //nolint:gochecknoglobals // it never changes
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;",
	`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "~", `\~`)

// underscore finds words with the underscores in them, which mean nothing there, and each other underscore.
var underscore = regexp.MustCompile(`[\pL\d](?:[\pL\d_]*[\pL\d])?|_`)

// The beginnings of lines that Markdown treats as markup, and those that people use for list items.
var (
	marker   = regexp.MustCompile(`^([-#+=]|\d+[.)])`)
	listItem = regexp.MustCompile(`^\s*([-*+]|\d+[.)]) `)
)

// escape writes plain text as Markdown, wherever on a line that is.
func escape(s string) string {
	s = underscore.ReplaceAllStringFunc(entities.Replace(s), func(found string) string {
		if found == "_" {
			return `\_`
		}
		return found
	})
	if mark := marker.FindString(s); mark != "" {
		return mark[:len(mark)-1] + `\` + s[len(mark)-1:]
	}
	return s
}

// oneLine makes whitespace single spaces, and the text printable.
func oneLine(s string) string {
	return words.Printable(strings.Join(strings.Fields(cut(s, 2*maxText)), " "))
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

// tail shortens a path from the front.
func tail(path string) string {
	if len(path) <= maxPath {
		return path
	}
	from := len(path) - maxPath
	for from < len(path) && !utf8.RuneStart(path[from]) {
		from++
	}
	return "…" + path[from:]
}

// visible quotes a string with characters that would be invisible.
func visible(s string) string {
	if s == "" || strings.TrimSpace(s) != s || words.Line(s) != s || !utf8.ValidString(s) {
		return strconv.QuoteToGraphic(s)
	}
	return s
}

// sentence ends a text with a full stop, if it has no end.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return s
	}
	return words.Ended(s)
}

// paragraphs splits a text at its empty lines. Lines that look like a list's items stay lines.
func paragraphs(s string) []inline {
	all := []inline{nil}
	for line := range strings.Lines(cut(s, maxText)) {
		text, last := prose(line), &all[len(all)-1]
		switch {
		case len(text) == 0:
			all = append(all, nil)
			continue
		case len(*last) > 0 && listItem.MatchString(line):
			*last = append(*last, span{Font: "br"})
		case len(*last) > 0:
			*last = append(*last, span{Text: "\n"})
		}
		*last = append(*last, text...)
	}
	return all
}

// The texts that YAML reads as strings without quotes, and those of them that it does not.
var (
	word    = regexp.MustCompile(`^[A-Za-z/][\w./-]*$`)
	notWord = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)
)

// yamlOf writes a value as one would in YAML: strings without quotes where they are words.
func yamlOf(value any) string {
	s, ok := value.(string)
	if ok && word.MatchString(s) && !notWord.MatchString(s) {
		return s
	}
	return string(document.AppendJSON(nil, value))
}
