package syntax

import (
	"bytes"
	"regexp"
	"strings"
)

// value reads a value to the end of its last line. alone means that no key is before it on the line.
func (d *diagnosis) value(alone bool) {
	start := d.at
	rest := d.rest()
	d.open, d.last, d.alone, d.kind = false, start, alone, closed
	switch rest[0] {
	case '"', '\'':
		d.quotedValue(start)
		return
	case '[', '{':
		d.brackets(start)
	case '|', '>':
		d.kind = block
		d.blockValue(start)
		return
	case '*':
		d.alias(start)
	case '@', '`', '%', ',', ']', '}':
		d.failf(start, "a value cannot begin with '%c'; quote it", int(rest[0]))
	default:
		d.kind = plain
		if i := colonIn(rest); i >= 0 && !alone {
			d.failf(start+i, "a second colon on the line; quote the value that contains it, or start a new line")
		}
		d.skipLine()
		return
	}
	if d.found == nil && !d.ended() {
		d.failf(d.at, "text after the end of the value that begins at line %d; quote the value, or remove the text",
			d.line(start))
	}
	if d.found == nil {
		d.skipLine()
	}
}

// quoted returns the offset after a quoted text, or -1 if it is not terminated.
func (d *diagnosis) quoted(start int) int {
	quote := d.text[start]
	for at := start + 1; at < len(d.text); at++ {
		switch c := d.text[at]; {
		case c == '\\' && quote == '"':
			at++
		case c != quote:
		case quote == '\'' && at+1 < len(d.text) && d.text[at+1] == '\'':
			at++
		default:
			return at + 1
		}
	}
	return -1
}

// quotedValue reads a quoted value to the end of its last line.
func (d *diagnosis) quotedValue(start int) {
	quote := int(d.text[start])
	end := d.quoted(start)
	if end < 0 {
		d.failf(start, "the quote %c that opens here is not closed", quote)
		return
	}
	runaway := d.leavesIndent(start, end) // it continues into other entries
	if at, half := d.badEscape(start, end); at >= 0 && !runaway {
		if half {
			d.failf(at, "an escape in double quotes stands for half of a character, as \\ud800 does; write the character itself")
		}
		d.failf(at, "a backslash in double quotes begins an escape sequence, and this is none; write \\\\ for a backslash, "+
			"or use single quotes")
		return
	}
	d.at = end
	if d.ended() {
		d.skipLine()
		return
	}
	if runaway {
		d.failf(start, "the quote %c that opens here is not closed on its line; it ends at line %d, before other text", quote,
			d.line(d.at))
		return
	}
	way := `\"`
	if quote == '\'' {
		way = "''"
	}
	d.failf(end-1, "text after the closing quote %c of the value that begins at line %d; write a quote in it as "+way,
		quote, d.line(start))
}

// leavesIndent reports whether a continuation line of a value is not indented more than its entry.
func (d *diagnosis) leavesIndent(start, end int) bool {
	for at := start; ; {
		i := bytes.IndexByte(d.text[at:end], '\n')
		if i < 0 {
			return false
		}
		at += i + 1
		line := d.text[at:end]
		if first := bytes.TrimLeft(line, " "); len(first) > 0 && first[0] != '\n' && len(line)-len(first) <= d.parent {
			return true
		}
	}
}

var badEscape = regexp.MustCompile(`\\(\\|[^0abt\tnvfe "'/\\N_LPxuU\r\n]|[uU](?:0000)?[dD][89a-fA-F])`)

// badEscape returns the offset of the first invalid escape, or -1 if there is none. half reports whether it is half of
// a surrogate pair.
func (d *diagnosis) badEscape(start, end int) (at int, half bool) {
	if d.text[start] != '"' {
		return -1, false
	}
	for at := start; ; {
		found := badEscape.FindIndex(d.text[at:end])
		if found == nil {
			return -1, false
		}
		if second := d.text[at+found[0]+1]; second != '\\' {
			return at + found[0], second|0x20 == 'u'
		}
		at += found[1]
	}
}

var (
	aliasName  = regexp.MustCompile(`^\*[\w-]+`)
	anchorName = regexp.MustCompile(`^&[\w-]*`)
)

// alias reads an alias.
func (d *diagnosis) alias(start int) {
	d.at = start
	name := aliasName.Find(d.ahead())
	d.at += len(name)
	switch {
	case name == nil, d.at < len(d.text) && !strings.ContainsRune(" \t\r\n,]}:", rune(d.text[d.at])):
		d.failf(start, "'*' begins an alias; quote a value that begins with it")
	case !d.anchors[string(name[1:])]:
		d.failf(start, "'*' begins an alias, and no such anchor precedes it in this document; quote a value that begins "+
			"with '*'")
	}
}

// bracket is an open bracket.
type bracket struct {
	at   int
	pair bool // the current entry has a colon
}

// flow is the state of reading a flow collection: a list or mapping in brackets.
type flow struct {
	*diagnosis

	open   []bracket
	begins bool // a value may begin here
}

// brackets reads a flow collection.
func (d *diagnosis) brackets(start int) {
	f := &flow{d, nil, true}
	for d.at = start; d.at < len(d.text) && d.found == nil; {
		if f.blank() || f.begins && f.word() {
			continue
		}
		c := d.text[d.at]
		f.mark(c)
		d.at++
		f.begins = strings.IndexByte("[{,:", c) >= 0
		if len(f.open) == 0 {
			return
		}
	}
	if d.found == nil {
		last := f.open[len(f.open)-1].at
		d.failf(last, "the bracket '%c' that opens here is not closed", int(d.text[last]))
	}
}

// blank skips white space or a comment. It returns false if there is none.
func (f *flow) blank() bool {
	switch f.text[f.at] {
	case '\n':
		f.at++
		f.leavesBrackets(f.open)
	case ' ', '\t', '\r':
		if f.at++; f.at < len(f.text) && f.text[f.at] == '#' {
			f.at += len(f.rest())
		}
	default:
		return false
	}
	return true
}

// word skips a quoted text, an alias, an anchor or a tag. It returns false if there is none.
func (f *flow) word() bool {
	switch c := f.text[f.at]; c {
	case '"', '\'':
		end := f.quoted(f.at)
		if end < 0 {
			f.failf(f.at, "the quote %c that opens here is not closed", int(c))
			return true
		}
		f.at, f.begins = end, false
	case '*':
		f.alias(f.at)
		f.begins = false
	case '&':
		name := anchorName.Find(f.ahead())
		f.anchors[string(name[1:])] = true
		f.at += len(name)
	case '!':
		word := f.ahead()
		if end := bytes.IndexAny(word, " \t\r\n,[]{}"); end >= 0 {
			word = word[:end]
		}
		f.tag(word)
		f.at += len(word)
	default:
		return false
	}
	return true
}

// mark processes a bracket, a comma or a colon.
func (f *flow) mark(c byte) {
	switch c {
	case '[', '{':
		if len(f.open) > 0 && f.text[f.at-1] == ':' && strings.IndexByte(" \t\r\n,[{\"'", f.text[f.at-2]) < 0 {
			f.failf(f.at-1, "the colon is not followed by a space; write 'key: value'")
		}
		f.open = append(f.open, bracket{at: f.at})
	case ']', '}':
		last := f.open[len(f.open)-1]
		if f.text[last.at] != c-2 {
			f.failf(f.at, "'%c' does not close the '%c' that opens at line %d", int(c), int(f.text[last.at]), f.line(last.at))
		}
		f.open = f.open[:len(f.open)-1]
	case ',':
		f.open[len(f.open)-1].pair = false
	case ':':
		ends := f.at+1 == len(f.text) || strings.IndexByte(" \t\r\n,]}", f.text[f.at+1]) >= 0 || f.text[f.at-1] == '"'
		last := &f.open[len(f.open)-1]
		if ends && last.pair {
			f.failf(f.at, "a second colon after the last comma; is a comma missing before it, or a bracket?")
		}
		last.pair = last.pair || ends
	}
}

var entryStart = regexp.MustCompile(`^(- |[\w./-]+:(\s|$))`)

// leavesBrackets reports a mistake if a new line inside brackets looks like an entry outside them.
func (d *diagnosis) leavesBrackets(open []bracket) {
	rest := d.rest()
	content := bytes.TrimLeft(rest, " \t")
	if len(rest)-len(content) <= d.parent && entryStart.Match(content) {
		last := open[len(open)-1].at
		d.failf(last, "the bracket '%c' that opens here is not closed before line %d", int(d.text[last]), d.line(d.at))
	}
}

var blockHeader = regexp.MustCompile(`^[|>]([+-]?([1-9])?|[1-9][+-])[ \t]*(#.*)?$`)

// blockValue reads the lines of a block scalar, after | or >.
func (d *diagnosis) blockValue(start int) {
	header := blockHeader.FindSubmatch(d.rest())
	if header == nil {
		d.failf(start, "'%c' begins a text on the lines below; quote a value that begins with it", int(d.text[start]))
		return
	}
	d.skipLine()
	d.inside = 0
	if width := strings.Trim(string(header[1]), "+-"); width != "" {
		d.inside = max(0, d.parent) + int(width[0]-'0')
	}
	for ; d.at < len(d.text); d.skipLine() {
		rest := d.rest()
		content := bytes.TrimLeft(rest, " ")
		indent := len(rest) - len(content)
		switch {
		case len(content) == 0:
			continue
		case d.inside == 0 && content[0] == '\t' && indent <= max(0, d.parent):
			d.failf(d.at+indent, "a tab in the indentation; indent with spaces")
			return
		case d.inside == 0 && indent > d.parent:
			d.inside = indent
		case indent < d.inside || d.inside == 0:
			return
		}
	}
}
