package schemadocs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/words"
)

// prose writes text from the schema as Markdown, on one line.
func prose(s string) string { return escape(cut(oneLine(s), maxText)) }

// strong is prose in bold.
func strong(s string) string {
	if s = prose(s); s == "" {
		return s
	}
	return "**" + s + "**"
}

// code writes a text from the schema in code font.
func code(s string) string {
	text, fence := visible(s), "`"
	if strings.Contains(text, `\|`) { // which readers of Markdown disagree on within tables
		return escape(text)
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + text + fence
}

// when returns a text if a condition holds.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// join connects the texts that are not empty.
func join(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), separator)
}

// link makes a text a link to a section, if that will be on the page: linked decides, once all sections are known.
func (t *table) link(text string, to *section) string {
	const escaped = len("%80") // of a byte that is not ASCII
	t.size += escaped * len(cmp.Or(to.anchor, text))
	t.links = append(t.links, to)
	return fmt.Sprintf("\x01%d\x02%s\x03", len(t.links)-1, withoutLinks(text))
}

// linkMark matches a link, which no text from a schema can have in it: such characters are made visible.
var linkMark = regexp.MustCompile("\x01([0-9]+)\x02([^\x03]*)\x03")

func withoutLinks(text string) string { return linkMark.ReplaceAllString(text, "$2") }

// linked writes the links in a text.
func (t *table) linked(text string) string {
	return linkMark.ReplaceAllStringFunc(text, func(mark string) string {
		found := linkMark.FindStringSubmatch(mark)
		n, _ := strconv.Atoi(found[1])
		if to := t.links[n]; to.anchor != "" {
			return "[" + found[2] + "](#" + to.anchor + ")"
		}
		return found[2]
	})
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

// visible shortens a name, a pattern or a value, and quotes it if it has characters that would be invisible.
func visible(s string) string {
	if s = cut(s, maxCode); s == "" || strings.TrimSpace(s) != s || words.Line(s) != s || !utf8.ValidString(s) {
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
func paragraphs(s string) []string {
	all := []string{""}
	for line := range strings.Lines(cut(s, maxText)) {
		end := when(listItem.MatchString(line), `\`) + "\n"
		if line = prose(line); line == "" {
			all = append(all, "")
			continue
		}
		all[len(all)-1] = join(end, all[len(all)-1], line)
	}
	return all
}

// jsonOf writes a value as JSON.
func jsonOf(value any) string { return string(document.AppendJSON(nil, value)) }
