package document

import (
	"bytes"
	"regexp"
	"strings"
)

// value reads a value to the end of its last line. alone means that no key is before it on the line.
func (o *outline) value(alone bool) {
	start, rest := o.at, o.rest()
	o.open, o.last, o.alone, o.kind = false, start, alone, closed
	switch rest[0] {
	case '"', '\'':
		o.quotedValue()
		return
	case '[', '{':
		o.brackets()
	case '|', '>':
		o.kind = block
		o.blockValue()
		return
	case '*':
		o.alias()
		o.at += 1 + len(nameIn(rest[1:]))
	case '@', '`', '%', ',', ']', '}':
		o.failf(start, "a value cannot begin with '%c'; quote it", int(rest[0]))
	default:
		o.kind = plain
		if i := colonIn(rest); i >= 0 && !alone {
			o.failf(start+i, "a second colon on the line; quote the value that contains it, or start a new line")
		}
		o.skipLine()
		return
	}
	if o.found == nil && !o.ended() {
		o.failf(o.at, "text after the end of the value that begins at line %d; quote the value, or remove the text",
			o.line(start))
	}
}

// nameIn returns the name of an anchor or alias that a text begins with.
func nameIn(text []byte) []byte {
	end := bytes.IndexFunc(text, func(r rune) bool { return r != '-' && r != '_' && !isAlphanumeric(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end]
}

func isAlphanumeric(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }

// alias checks an alias.
func (o *outline) alias() {
	name := nameIn(o.text[o.at+1:])
	anchor, known := o.anchors[string(name)]
	switch {
	case len(name) == 0:
		o.failf(o.at, "'*' begins an alias; quote a value that begins with it")
	case !known || anchor > o.at:
		o.failf(o.at, "'*' begins an alias, and no such anchor precedes it in this document; quote a value that begins "+
			"with '*'")
	}
}

// quoted returns the offset after a quoted text, or -1 if it is not closed.
func (o *outline) quoted(start int) int {
	quote := o.text[start]
	for at := start + 1; at < len(o.text); at++ {
		switch c := o.text[at]; {
		case c == '\\' && quote == '"':
			at++
		case c != quote:
		case quote == '\'' && at+1 < len(o.text) && o.text[at+1] == '\'':
			at++
		default:
			return at + 1
		}
	}
	return -1
}

// quotedValue reads a quoted value to the end of its last line.
func (o *outline) quotedValue() {
	start, quote, way := o.at, int(o.text[o.at]), `\"`
	end := o.quoted(start)
	if end < 0 {
		o.failf(start, "the quote %c that opens here is not closed", quote)
		return
	}
	if o.at = end; o.ended() {
		return
	}
	if o.leavesIndent(start, end) {
		o.failf(start, "the quote %c that opens here is not closed on its line; it ends at line %d, before other text", quote,
			o.line(end))
		return
	}
	if quote == '\'' {
		way = "''"
	}
	o.failf(end-1, "text after the closing quote %c of the value that begins at line %d; write a quote in it as "+way,
		quote, o.line(start))
}

// leavesIndent reports whether a line of a value that continues it is not indented more than its entry.
func (o *outline) leavesIndent(start, end int) bool {
	_, lines, _ := bytes.Cut(o.text[start:end], []byte("\n"))
	for line := range bytes.Lines(lines) {
		first := bytes.TrimLeft(line, " ")
		if len(first) > 0 && first[0] != '\n' && len(line)-len(first) <= o.parent {
			return true
		}
	}
	return false
}

// entryStart matches a line within brackets that looks like an entry outside them.
var entryStart = regexp.MustCompile(`^(- |[\w./-]+:(\s|$))`)

// brackets reads a list or mapping in brackets.
func (o *outline) brackets() {
	var open []int                               // offsets of open brackets
	for begins := true; o.found == nil; o.at++ { // begins: a value may begin here
		if o.at >= len(o.text) {
			o.notClosed(open)
			return
		}
		switch c := o.text[o.at]; c {
		case '\n', ' ', '\t', '\r':
			if o.leavesBrackets() {
				o.notClosed(open)
			}
		case '[', '{':
			open, begins = append(open, o.at), true
		case ']', '}':
			if o.text[open[len(open)-1]] != c-2 {
				o.notClosed(open)
			}
			if open, begins = open[:len(open)-1], false; len(open) == 0 {
				o.at++
				return
			}
		default:
			if begins {
				o.word()
			}
			begins = c == ',' || c == ':'
		}
	}
}

func (o *outline) notClosed(open []int) {
	at := open[len(open)-1]
	o.failf(at, "the bracket '%c' that opens here is not closed", int(o.text[at]))
}

// leavesBrackets skips a comment after a blank, or reports whether the line after a line break looks like an entry
// outside the brackets.
func (o *outline) leavesBrackets() bool {
	rest := o.text[o.at+1:]
	if o.text[o.at] == '\n' {
		content := bytes.TrimLeft(rest, " \t")
		return len(rest)-len(content) <= o.parent && entryStart.Match(content)
	}
	if len(rest) > 0 && rest[0] == '#' {
		o.at += len(o.rest()) - 1
	}
	return false
}

// word checks an alias within brackets, or moves to the closing quote of a text.
func (o *outline) word() {
	switch c := o.text[o.at]; c {
	case '*':
		o.alias()
	case '"', '\'':
		end := o.quoted(o.at)
		if end < 0 {
			o.failf(o.at, "the quote %c that opens here is not closed", int(c))
			return
		}
		o.at = end - 1
	}
}

var blockHeader = regexp.MustCompile(`^[|>]([+-]?([1-9])?|[1-9][+-])[ \t]*(#.*)?$`)

// blockValue reads the lines of a block scalar, after | or >.
func (o *outline) blockValue() {
	header := blockHeader.FindSubmatch(o.rest())
	if header == nil {
		o.failf(o.at, "'%c' begins a text on the lines below; quote a value that begins with it", int(o.text[o.at]))
		return
	}
	o.skipLine()
	o.inside = 0
	if width := strings.Trim(string(header[1]), "+-"); width != "" {
		o.inside = max(0, o.parent) + int(width[0]-'0')
	}
	for ; o.at < len(o.text); o.skipLine() {
		rest := o.rest()
		content := bytes.TrimLeft(rest, " ")
		indent := len(rest) - len(content)
		switch {
		case len(content) == 0:
		case o.inside == 0 && content[0] == '\t' && indent <= max(0, o.parent):
			o.failf(o.at+indent, string(tabIndent))
			return
		case o.inside == 0 && indent > o.parent:
			o.inside = indent
		case indent < o.inside || o.inside == 0:
			return
		}
	}
}
