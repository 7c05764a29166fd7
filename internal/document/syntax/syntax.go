// Package syntax finds what makes a text invalid YAML. The YAML library reports only the line where it gives up, or
// where the surrounding mapping begins.
package syntax

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mistake is an error that makes a text invalid YAML.
type Mistake struct {
	Offset int    // in the text, in bytes
	Rule   string // what is violated and what to do; it quotes no part of the text, which may be a secret
}

// Find returns the first mistake in a document that the YAML library refuses, or nil if it finds none. line is the
// number of the text's first line, from which rules count.
func Find(text []byte, line int) *Mistake {
	d := &diagnosis{
		text: text, from: line, anchors: map[string]bool{}, handles: map[string]bool{}, parent: -1, open: true, last: -1,
	}
	d.characters()
	for d.found == nil && d.at < len(text) {
		d.nextLine()
	}
	return d.found
}

// diagnosis reads the block structure of a text line by line, and stops at the first mistake.
type diagnosis struct {
	text    []byte
	from    int // first line of the text in the body
	at      int
	begin   int // offset of the current line
	first   int // offset of the line's first token
	dashes  int // dashes on the line
	found   *Mistake
	anchors map[string]bool
	handles map[string]bool // of tags, such as !e!, that directives define
	levels  []level         // open mappings and lists; the innermost is last

	// The last entry that was read:
	open   bool  // it has no value yet
	parent int   // indentation of its level; -1 for the document
	last   int   // offset of its value; -1 if it has none
	kind   value // kind of its value
	alone  bool  // the value begins its line, without a key
	inside int   // indentation of the lines of a block scalar
}

// maxDashes bounds the lists that begin on one line, and the anchors and tags before a value.
const maxDashes = 20

// level is a mapping or list in block style.
type level struct {
	indent int
	list   bool
	at     int
}

// value is a kind of value.
type value uint8

const (
	plain  value = iota // may continue on the next lines
	block               // after | or >
	closed              // quoted, in brackets, or an alias
)

// failf records the first mistake. Its arguments are numbers and single characters of YAML's syntax, so that it cannot
// quote the text.
func (d *diagnosis) failf(at int, format string, args ...int) {
	if d.found != nil {
		return
	}
	numbers := make([]any, len(args))
	for i, n := range args {
		numbers[i] = n
	}
	d.found = &Mistake{at, fmt.Sprintf(format, numbers...)}
}

// line returns the line of an offset in the body.
func (d *diagnosis) line(at int) int { return d.from + bytes.Count(d.text[:at], []byte("\n")) }

// characters looks for characters that YAML does not allow.
func (d *diagnosis) characters() {
	for at := 0; at < len(d.text); {
		r, size := utf8.DecodeRune(d.text[at:])
		printable := r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) || r == '\t' || r == '\n' || r == '\r' || r == 0x85
		if !printable || r == 0xfffe || r == 0xffff {
			kind := "the character"
			if unicode.IsControl(r) {
				kind = "the control character"
			}
			d.failf(at, kind+" U+%04X is not allowed; remove it, or write it as an escape in double quotes", int(r))
			return
		}
		at += size
	}
}

// rest returns the rest of the line.
func (d *diagnosis) rest() []byte {
	rest := d.text[min(d.at, len(d.text)):]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return bytes.TrimRight(rest, "\r")
}

func (d *diagnosis) skipLine() {
	defer func() { d.begin, d.dashes = d.at, 0 }()
	if i := bytes.IndexByte(d.text[d.at:], '\n'); i >= 0 {
		d.at += i + 1
	} else {
		d.at = len(d.text)
	}
}

// ended skips blanks and reports whether at most a comment remains on the line.
func (d *diagnosis) ended() bool {
	rest := d.rest()
	content := bytes.TrimLeft(rest, " \t")
	d.at += len(rest) - len(content)
	return len(content) == 0 || content[0] == '#' && (len(rest) > len(content) || d.startsLine())
}

// maxName is the maximum length of a recognised name, in bytes.
const maxName = 300

// ahead returns at most the next maxName bytes.
func (d *diagnosis) ahead() []byte { return d.text[d.at:min(len(d.text), d.at+maxName)] }

func (d *diagnosis) startsLine() bool { return d.at == 0 || d.text[d.at-1] == '\n' }

// column returns the column of an offset in the current line, in bytes from 0.
func (d *diagnosis) column(at int) int { return at - d.begin }

// nextLine reads a line and the lines that continue its last value.
func (d *diagnosis) nextLine() {
	rest := d.rest()
	isBorder := bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))
	if isBorder && (len(rest) == 3 || rest[3] == ' ' || rest[3] == '\t') {
		d.levels, d.open, d.parent, d.last = nil, true, -1, -1
		d.at += len("---")
		d.first = d.at
		if d.ended() {
			d.skipLine()
			return
		}
		d.node(d.column(d.at))
		return
	}
	indent := len(rest) - len(bytes.TrimLeft(rest, " "))
	blank := indent + len(rest[indent:]) - len(bytes.TrimLeft(rest[indent:], " \t"))
	isEmpty := blank == len(rest) || rest[blank] == '#'
	switch {
	case isEmpty && (blank == indent || d.continues(indent)):
		d.skipLine()
	case !isEmpty && indent == 0 && rest[0] == '%' && d.last < 0:
		d.directive(rest)
		d.skipLine()
	case !isEmpty && d.continues(indent) && colonIn(rest) < 0:
		d.skipLine()
	case blank > indent:
		d.failf(d.at+indent, "a tab in the indentation; indent with spaces")
	default:
		d.at += blank
		d.first = d.at
		d.node(indent)
	}
}

// directive notes the handle that a directive %TAG defines.
func (d *diagnosis) directive(line []byte) {
	if words := bytes.Fields(line[:min(len(line), maxName)]); len(words) > 1 && string(words[0]) == "%TAG" {
		d.handles[string(words[1])] = true
	}
}

// continues reports whether a line without a key continues the value before it.
func (d *diagnosis) continues(indent int) bool {
	return !d.open && d.last >= 0 && d.kind == plain && indent > d.parent
}

// top returns the indentation of the innermost level, or -1 if there is none.
func (d *diagnosis) top() int {
	if len(d.levels) == 0 {
		return -1
	}
	return d.levels[len(d.levels)-1].indent
}

// node reads the node at a column: an item of a list, a member of a mapping, or a value.
func (d *diagnosis) node(column int) {
	start := d.at
	rest := d.rest()
	if rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t') {
		if !d.enter(level{column, true, start}) {
			return
		}
		d.at++
		d.open, d.parent, d.last = true, column, -1
		if d.dashes++; d.dashes > maxDashes {
			d.at = len(d.text)
			return
		}
		if d.ended() {
			d.skipLine()
			return
		}
		d.node(d.column(d.at))
		return
	}
	if rest[0] == '?' && len(rest) > 1 && rest[1] == ' ' {
		d.at = len(d.text) // too many dashes: stop looking
		return
	}
	if !d.properties() {
		return
	}
	if isKey := d.key(); d.found != nil {
		return
	} else if !isKey {
		d.at = start
		d.loneValue(column)
		return
	}
	end := d.at
	if !d.enter(level{column, false, start}) {
		return
	}
	d.at = end + len(":")
	d.open, d.parent, d.last = true, column, -1
	if d.properties() {
		d.value(false)
	}
}

// properties skips the anchors and tags before a value. It returns false if nothing follows them on the line.
func (d *diagnosis) properties() bool {
	for range maxDashes {
		if d.ended() {
			d.skipLine()
			return false
		}
		word, _, _ := bytes.Cut(d.ahead(), []byte(" "))
		word, _, _ = bytes.Cut(word, []byte("\n"))
		switch word[0] {
		case '&':
			d.anchors[string(bytes.TrimRight(word[1:], "\r"))] = true
		case '!':
			if d.tag(word); d.found != nil {
				return false
			}
		default:
			return true
		}
		d.at += len(bytes.TrimRight(word, "\r"))
	}
	d.at = len(d.text)
	return false
}

// tagHandle matches the handle of a tag that a directive must define.
var tagHandle = regexp.MustCompile(`^![0-9A-Za-z_-]+!`)

// tag checks the handle of a tag.
func (d *diagnosis) tag(tag []byte) {
	if handle := tagHandle.Find(tag); handle != nil && !d.handles[string(handle)] {
		d.failf(d.at, "no %%TAG directive defines the handle of this tag; quote a value that begins with '!'")
	}
}

// key moves to the colon of the key that begins here. It returns false if there is no key on the line.
func (d *diagnosis) key() bool {
	start := d.at
	switch rest := d.rest(); rest[0] {
	case '"', '\'':
		end := d.quoted(start)
		if end < 0 || bytes.IndexByte(d.text[start:end], '\n') >= 0 {
			return false // value reports the mistake
		}
		d.at = end
		d.ended()
	case '[', '{', '|', '>', '#':
		return false
	case '*':
		if d.alias(start); d.found == nil {
			d.ended()
		}
	default:
		i := colonIn(rest)
		if i < 0 {
			return false
		}
		d.at += i
	}
	return colonIn(d.rest()) == 0
}

// colonIn returns the offset of the first colon in a line that ends a key, or -1 if there is none.
func colonIn(line []byte) int {
	for i, c := range line {
		switch {
		case c == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t'):
			return i
		case c == '#' && i > 0 && (line[i-1] == ' ' || line[i-1] == '\t'):
			return -1
		}
	}
	return -1
}

// enter begins or continues the mapping or list at l's indentation. It returns false if the entry does not fit there.
func (d *diagnosis) enter(l level) bool {
	if l.at != d.first { // after a dash
		d.levels = append(d.levels, l)
		return true
	}
	all := d.levels
	for d.top() > l.indent {
		d.levels = d.levels[:len(d.levels)-1]
	}
	nested := d.open && d.parent == d.top() // the previous entry still lacks a value
	switch {
	case d.top() < l.indent && nested:
		d.levels = append(d.levels, l)
		return true
	case d.top() < l.indent:
		d.indentation(l, all)
		return false
	}
	top := d.levels[len(d.levels)-1]
	switch {
	case top.list == l.list:
		return true
	case l.list && nested:
		d.levels = append(d.levels, l)
		return true
	case top.list && len(d.levels) > 1 && d.levels[len(d.levels)-2].indent == l.indent:
		d.levels = d.levels[:len(d.levels)-1]
		return true
	case l.list:
		d.failf(l.at, "an item of a list where a key of the mapping from line %d is expected; indent the list's items "+
			"alike, under a key without a value", d.line(top.at))
	default:
		d.failf(l.at, "a key where an item of the list from line %d is expected; begin it with '- ', or indent it",
			d.line(top.at))
	}
	return false
}

// indentation reports a wrong indentation of an entry. open are the levels that were open before it.
func (d *diagnosis) indentation(l level, open []level) {
	switch {
	case d.last >= 0 && d.kind == plain && d.alone && columnOf(d.text, d.last) == l.indent:
		d.noKey(d.last)
	case d.last >= 0 && d.kind == block && l.indent > d.parent:
		d.failf(l.at, "the line is indented by %d, which ends the text that begins at line %d; indent it "+
			"by %d", l.indent, d.line(d.last), d.inside)
	case d.last >= 0 && l.indent > d.parent:
		d.failf(l.at, "the line is indented by %d, but the entry at line %d has a value already; indent it by %d",
			l.indent, d.line(d.last), max(0, d.parent))
	default:
		widths := []int{l.indent}
		for _, level := range open[max(0, len(open)-maxDashes):] {
			if len(widths) == 1 || widths[len(widths)-1] != level.indent {
				widths = append(widths, level.indent)
			}
		}
		list := strings.TrimPrefix(strings.Repeat(", %d", len(widths)-1), ", ")
		d.failf(l.at, "the line is indented by %d, and those that it could belong to by "+list+"; indent it like one of them",
			widths...)
	}
}

// columnOf returns the column of an offset, in bytes from 0.
func columnOf(text []byte, at int) int { return at - 1 - bytes.LastIndexByte(text[:at], '\n') }

var (
	unspaced = regexp.MustCompile(`^[\w./-]+:[^\s/]`)
	border   = regexp.MustCompile(`^(--|-{4,}|—|\.\.|\.{4,})\s*$`)
)

// noKey reports a line without a key.
func (d *diagnosis) noKey(at int) {
	d.at = at
	rest := d.rest()
	switch {
	case border.Match(rest):
		d.failf(at, "this line does not separate documents; write ---")
	case unspaced.Match(rest):
		d.failf(at, "the colon is not followed by a space; write 'key: value'")
	case d.last >= 0 && d.kind == block && at > d.last:
		d.failf(at, "the line is indented less than the text that begins at line %d, which it ends, and has no colon; "+
			"indent it by %d", d.line(d.last), d.inside)
	default:
		d.failf(at, "the line has no colon after its key; write 'key: value'")
	}
}

// loneValue reads a value that begins its line.
func (d *diagnosis) loneValue(column int) {
	start := d.at
	if d.continues(column) {
		d.skipLine()
		return
	}
	for d.top() > column {
		d.levels = d.levels[:len(d.levels)-1]
	}
	if !d.open || d.parent != d.top() || column <= d.parent {
		d.noKey(start)
		return
	}
	if d.properties() {
		d.value(true)
	}
}
