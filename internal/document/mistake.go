package document

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// findMistake returns the first of the common mistakes in a document that the YAML library refuses, nil if it finds
// none. The library reports only the line where it gives up, or where the surrounding mapping begins. line is the
// number in the body of the text's first line, from which rules count.
func findMistake(text []byte, line int) *syntaxError {
	o := &outline{text: text, from: line, anchors: anchorsIn(text)}
	o.characters()
	for o.reset(); o.found == nil && o.at < len(text); {
		o.nextLine()
	}
	return o.found
}

// anchorsIn returns the offset after the name of the first anchor of each name, or of what looks like one.
func anchorsIn(text []byte) map[string]int {
	anchors, at := map[string]int{}, 0
	for {
		i := bytes.IndexByte(text[at:], '&')
		if i < 0 {
			return anchors
		}
		name := nameIn(text[at+i+1:])
		at += i + 1 + len(name)
		if _, known := anchors[string(name)]; !known {
			anchors[string(name)] = at
		}
	}
}

// outline is the block structure of a text. It is read line by line, up to the first mistake.
type outline struct {
	text    []byte
	from    int            // line of the text in the body
	anchors map[string]int // offsets of what may be anchors, each after its name
	at      int
	begin   int // offset of the current line
	found   *syntaxError
	levels  []level // open mappings and lists; the innermost is last

	// The last entry:
	open   bool  // it has no value yet
	parent int   // indentation of its level; -1 for the document
	last   int   // offset of its value; -1 if it has none
	kind   value // kind of its value
	alone  bool  // the value begins its line, without a key
	inside int   // indentation of the lines of a block scalar
}

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

// maxDashes bounds the lists that begin on one line.
const maxDashes = 20

func (o *outline) reset() { o.levels, o.open, o.parent, o.last = nil, true, -1, -1 }

// stop stops reading at what this reader does not know.
func (o *outline) stop() { o.at = len(o.text) }

// failf records the first mistake. Its arguments are numbers and single characters of YAML's syntax, so that it cannot
// quote the text.
func (o *outline) failf(at int, format string, args ...int) {
	if o.found == nil {
		o.found = syntaxErrorAt(o.text, at, rulef(format, args...))
	}
}

// line returns the line of an offset in the body.
func (o *outline) line(at int) int { return o.from - 1 + lineOf(o.text, at) }

// characters looks for characters that YAML does not allow.
func (o *outline) characters() {
	at := bytes.IndexFunc(o.text, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) || r|1 == 0xffff || r == '\ufeff'
	})
	if at >= 0 {
		r, _ := utf8.DecodeRune(o.text[at:])
		o.failf(at, "the control character U+%04X is not allowed; remove it, or write it as an escape in double "+
			"quotes", int(r))
	}
}

// rest returns the rest of the line.
func (o *outline) rest() []byte {
	rest, _, _ := bytes.Cut(o.text[min(o.at, len(o.text)):], []byte("\n"))
	return bytes.TrimRight(rest, "\r")
}

func (o *outline) skipLine() {
	if i := bytes.IndexByte(o.text[o.at:], '\n'); i >= 0 {
		o.at += i + 1
	} else {
		o.stop()
	}
	o.begin = o.at
}

// ended skips blanks and reports whether at most a comment remains on the line, which it then skips.
func (o *outline) ended() bool {
	rest := o.rest()
	content := bytes.TrimLeft(rest, " \t")
	o.at += len(rest) - len(content)
	if len(content) == 0 || content[0] == '#' && (len(rest) > len(content) || o.at == o.begin) {
		o.skipLine()
		return true
	}
	return false
}

// nextLine reads a line and the lines that continue its last value.
func (o *outline) nextLine() {
	rest := o.rest()
	if isBorder(rest) {
		o.reset()
		if o.at += len("---"); !o.ended() {
			o.entry()
		}
		return
	}
	indent := len(rest) - len(bytes.TrimLeft(rest, " "))
	content := bytes.TrimLeft(rest, " \t")
	hasTab := len(rest)-len(content) > indent
	isEmpty := len(content) == 0 || content[0] == '#'
	continues := !o.open && o.kind == plain && indent > o.parent
	switch {
	case isEmpty && (!hasTab || continues), !isEmpty && continues && colonIn(rest) < 0,
		!isEmpty && rest[0] == '%' && o.last < 0:
		o.skipLine()
	case hasTab:
		o.failf(o.at+indent, string(tabIndent))
	default:
		o.at += indent
		o.entry()
	}
}

// isBorder reports whether a line begins or ends a document.
func isBorder(line []byte) bool {
	is := bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))
	return is && (len(line) == len("---") || line[3] == ' ' || line[3] == '\t')
}

// top returns the indentation of the innermost level, or -1 if there is none.
func (o *outline) top() int {
	if len(o.levels) == 0 {
		return -1
	}
	return o.levels[len(o.levels)-1].indent
}

// pop closes the levels that are indented more.
func (o *outline) pop(indent int) (closed []level) {
	keep := len(o.levels)
	for keep > 0 && o.levels[keep-1].indent > indent {
		keep--
	}
	closed, o.levels = o.levels[keep:], o.levels[:keep:keep]
	return closed
}

// entry reads an item of a list, a member of a mapping, or a value that begins its line.
func (o *outline) entry() {
	dashes := 0
	for rest := o.rest(); rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t'); rest = o.rest() {
		if dashes++; dashes > maxDashes {
			o.stop()
			return
		}
		if !o.enter(level{o.at - o.begin, true, o.at}, dashes > 1) {
			return
		}
		if o.at++; o.ended() {
			return
		}
	}
	start, rest := o.at, o.rest()
	if rest[0] == '?' && len(rest) > 1 && rest[1] == ' ' {
		o.stop()
		return
	}
	if o.properties() {
		return
	}
	colon := o.key()
	switch {
	case o.found != nil:
	case colon < 0:
		o.at = start
		o.loneValue()
	case o.enter(level{start - o.begin, false, start}, dashes > 0):
		if o.at = colon + 1; !o.ended() && !o.properties() {
			o.value(false)
		}
	}
}

// propertyWords match the anchor and the tag before a value.
var propertyWords = regexp.MustCompile(`^(?:[&!][^ \t\r\n]*(?:[ \t]+|$))+`)

// properties skips the anchor and the tag before a value, and reports whether nothing follows them on the line.
func (o *outline) properties() (ended bool) {
	words := propertyWords.Find(o.rest())
	o.at += len(words)
	return len(words) > 0 && (len(o.rest()) == 0 || o.rest()[0] == '#') && o.ended()
}

// key returns the offset of the colon after the key that begins here, -1 if there is no key on the line.
func (o *outline) key() int {
	rest := o.rest()
	skip := 0
	switch rest[0] {
	case '"', '\'':
		end := o.quoted(o.at)
		if end < 0 || end > o.at+len(rest) {
			return -1 // value reports the mistake
		}
		after := bytes.TrimLeft(rest[end-o.at:], " \t")
		if colonIn(after) != 0 {
			return -1
		}
		skip = len(rest) - len(after)
	case '[', '{', '|', '>', '#':
		return -1
	case '*':
		o.alias()
	}
	if i := colonIn(rest[skip:]); i >= 0 {
		return o.at + skip + i
	}
	return -1
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

// enter begins an entry in the mapping or list at l's indentation, which may begin there; inline means after a dash. It
// returns false if the entry does not fit there.
func (o *outline) enter(l level, inline bool) bool {
	if !o.fits(l, inline) {
		return false
	}
	o.open, o.parent, o.last = true, l.indent, -1
	return true
}

func (o *outline) fits(l level, inline bool) bool {
	if inline {
		o.levels = append(o.levels, l)
		return true
	}
	closed := o.pop(l.indent)
	nested := o.open && o.parent == o.top() // the previous entry still lacks a value
	switch {
	case o.top() < l.indent && nested:
		o.levels = append(o.levels, l)
		return true
	case o.top() < l.indent:
		o.indentation(l, closed)
		return false
	}
	last := len(o.levels) - 1
	switch {
	case o.levels[last].list == l.list:
		return true
	case l.list && nested:
		o.levels = append(o.levels, l)
		return true
	case !l.list && last > 0 && o.levels[last-1].indent == l.indent:
		o.levels = o.levels[:last]
		return true
	}
	o.failf(l.at, "a key and an item of a list are indented alike, here and at line %d; indent items under a key without "+
		"a value, and keys of an item like its first one", o.line(o.levels[last].at))
	return false
}

// indentation reports a wrong indentation of an entry, which closes levels.
func (o *outline) indentation(l level, closed []level) {
	switch {
	case o.last >= 0 && o.kind == plain && o.alone && columnOf(o.text, o.last) == l.indent:
		o.noKey(o.last)
	case o.last >= 0 && l.indent > o.parent:
		right := max(0, o.parent)
		if o.kind == block {
			right = o.inside
		}
		o.failf(l.at, "the line is indented by %d, but the entry at line %d has a value already; indent it by %d", l.indent,
			o.line(o.last), right)
	default:
		around := max(0, o.top())
		o.failf(l.at, "the line is indented by %d, and those that it could belong to by %d or %d; indent it like one of them",
			l.indent, around, append(closed, level{indent: around})[0].indent)
	}
}

// columnOf returns the column of an offset, in bytes from 0.
func columnOf(text []byte, at int) int { return at - 1 - bytes.LastIndexByte(text[:at], '\n') }

var unspaced = regexp.MustCompile(`^[\w./-]+:[^\s/]`)

// noKey reports a line without a key.
func (o *outline) noKey(at int) {
	if unspaced.Match(o.text[at:]) {
		o.failf(at, "the colon is not followed by a space; write 'key: value'")
	}
	o.failf(at, "the line has no colon after its key; write 'key: value'")
}

// loneValue reads a value that begins its line.
func (o *outline) loneValue() {
	column := o.at - o.begin
	if !o.open && o.last >= 0 && o.kind == plain && column > o.parent {
		o.skipLine()
		return
	}
	o.pop(column)
	if !o.open || o.parent != o.top() || column <= o.parent {
		o.noKey(o.at)
	} else if !o.properties() {
		o.value(true)
	}
}
