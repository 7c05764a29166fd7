// Package blockyaml writes JSON text as YAML in block style. Values nested deeper than in documents written by people
// are in flow style, because each line of a thousand levels would be mostly indentation. The YAML has at most about ten
// times as many bytes as the JSON.
package blockyaml

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append converts compact JSON text, as document.AppendJSON writes it, to block YAML that ends with a line break. All
// YAML 1.1 and 1.2 parsers read the same values from it: strings that some parsers would misread are quoted, and
// non-ASCII characters are escaped, because some clients guess the encoding of responses.
func Append(dst, json []byte) []byte {
	text, _ := AppendAtMost(dst, json, math.MaxInt)
	return text
}

// AppendAtMost is like Append, but stops soon after dst has more than most bytes. It reports whether the text is
// complete.
func AppendAtMost(dst, json []byte, most int) (text []byte, complete bool) {
	w := writer{in: json, out: dst, most: most, flowBeyond: deep, blanks: smallIndentation + indentationRatio*len(json)}
	w.value(0, atLineStart)
	if w.blanks < 0 {
		w = writer{in: json, out: dst, most: most, flowBeyond: shallow, blanks: math.MaxInt, buffer: w.buffer}
		w.value(0, atLineStart)
	}
	return w.out, !w.full()
}

// position is the place where a value is written.
type position uint8

const (
	atLineStart position = iota // at the start of the text
	afterKey                    // after "key:"
	afterDash                   // after "-"; a mapping or list begins on the same line
)

// indentWidth is the indentation of a level.
const indentWidth = 2

// Values indented by more than deep are written in flow style; no document written by people is indented that far. If
// the indentation still has too many bytes for the size of the JSON, the limit is shallow instead.
const (
	deep, shallow                      = 200, 16
	smallIndentation, indentationRatio = 16 << 10, 8
)

// writer converts JSON text in one pass.
type writer struct {
	in     []byte
	at     int
	out    []byte
	most   int    // bytes of out after which writing stops
	buffer []byte // the last string with escapes, decoded

	flowBeyond int // the indentation beyond which collections are in flow style
	blanks     int // bytes of indentation that may still be written; writing stops when it is negative
}

func (w *writer) full() bool { return len(w.out) > w.most || w.blanks < 0 }

func (w *writer) value(indent int, where position) {
	switch w.in[w.at] {
	case '{':
		w.collection(indent, where, '}')
	case '[':
		w.collection(indent, where, ']')
	case '"':
		w.space(where)
		w.text(indent)
		w.out = append(w.out, '\n')
	default:
		w.space(where)
		w.literal()
		w.out = append(w.out, '\n')
	}
}

func (w *writer) space(where position) {
	if where != atLineStart {
		w.out = append(w.out, ' ')
	}
}

func (w *writer) indent(n int) {
	w.blanks -= n
	for range n {
		w.out = append(w.out, ' ')
	}
}

// collection writes the mapping or list at the current offset.
func (w *writer) collection(indent int, where position, end byte) {
	if w.in[w.at+1] == end {
		w.space(where)
		w.out = append(w.out, w.in[w.at], end, '\n')
		w.at += 2
		return
	}
	if indent > w.flowBeyond {
		w.space(where)
		w.flow()
		w.out = append(w.out, '\n')
		return
	}
	switch where {
	case afterKey:
		w.out = append(w.out, '\n')
	case afterDash:
		w.out = append(w.out, ' ')
	case atLineStart:
	}
	first := where == afterDash
	for !w.full() && w.in[w.at] != end {
		w.at++ // the opening bracket or the comma
		if !first {
			w.indent(indent)
		}
		first = false
		if end == '}' {
			w.member(indent)
		} else {
			w.out = append(w.out, '-')
			w.value(indent+indentWidth, afterDash)
		}
	}
	w.at++
}

// flow writes a value in flow style on the current line.
func (w *writer) flow() {
	switch w.in[w.at] {
	case '{':
		w.flowCollection('}')
	case '[':
		w.flowCollection(']')
	case '"':
		s, _ := w.str()
		w.out = appendQuoted(w.out, s)
	default:
		w.literal()
	}
}

func (w *writer) flowCollection(end byte) {
	w.out = append(w.out, w.in[w.at])
	for w.at++; !w.full() && w.in[w.at] != end; {
		if w.in[w.at] == ',' {
			w.at++
			w.out = append(w.out, ',', ' ')
		}
		if end == '}' {
			key, _ := w.str()
			w.at++ // the colon
			if len(key) > maxSimpleKey {
				w.out = append(w.out, '?', ' ')
			}
			w.out = append(appendQuoted(w.out, key), ':', ' ')
		}
		w.flow()
	}
	w.at++
	w.out = append(w.out, end)
}

func (w *writer) member(indent int) {
	key, escaped := w.str()
	w.at++ // the colon
	if len(key) > maxSimpleKey || escaped && bytes.IndexByte(key, '\n') >= 0 {
		w.out = append(w.out, '?', ' ')
		w.out = appendQuoted(w.out, key)
		w.out = append(w.out, '\n')
		w.indent(indent)
	} else {
		w.word(key)
	}
	w.out = append(w.out, ':')
	if w.in[w.at] == '[' {
		w.value(indent, afterKey) // a list may have the indentation of its key
		return
	}
	w.value(indent+indentWidth, afterKey)
}

// maxSimpleKey is the maximum length of a key without a question mark, in bytes. Parsers allow 1024 bytes including
// quotes and escapes, and an escape may take ten bytes.
const maxSimpleKey = 100

// literal copies a number, true, false or null.
func (w *writer) literal() {
	start := w.at
	for w.at < len(w.in) && w.in[w.at] != ',' && w.in[w.at] != '}' && w.in[w.at] != ']' {
		w.at++
	}
	token := w.in[start:w.at]
	e := bytes.IndexByte(token, 'e')
	if e > 0 && token[0] <= '9' && bytes.IndexByte(token, '.') < 0 {
		w.out = append(w.out, token[:e]...)
		w.out = append(w.out, ".0"...) // YAML 1.1 reads 1e-07 as a string
		token = token[e:]
	}
	w.out = append(w.out, token...)
}

// str reads the JSON string at the current offset and reports whether it has escapes. The result is valid until the
// next call.
func (w *writer) str() (s []byte, escaped bool) {
	w.at++
	start := w.at
	for at, c := range w.in[start:] {
		if c == '"' {
			w.at = start + at + 1
			return w.in[start : start+at], false
		}
		if c == '\\' {
			w.at = start + at
			return w.unescape(start), true
		}
	}
	panic("document: JSON text that ends inside a string")
}

// unescape reads the rest of a string from its first escape on and returns the whole string.
func (w *writer) unescape(start int) []byte {
	text := w.buffer[:0]
	text = append(text, w.in[start:w.at]...)
	for w.in[w.at] != '"' {
		c := w.in[w.at]
		w.at++
		if c != '\\' {
			text = append(text, c)
			continue
		}
		switch e := w.in[w.at]; e {
		case 'n':
			text = append(text, '\n')
		case 't':
			text = append(text, '\t')
		case 'r':
			text = append(text, '\r')
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'u':
			text = utf8.AppendRune(text, w.codePoint())
		default:
			text = append(text, e)
		}
		w.at++
	}
	w.at++
	w.buffer = text
	return text
}

// codePoint reads the four digits after \u. The JSON text has no surrogate pairs as escapes.
func (w *writer) codePoint() rune {
	code, _ := strconv.ParseUint(string(w.in[w.at+1:w.at+5]), 16, 16)
	w.at += 4
	return rune(code)
}

// text writes a string value, as a literal block if that preserves it, otherwise on one line.
func (w *writer) text(indent int) {
	s, escaped := w.str()
	if escaped && fitsBlock(s) {
		w.block(s, indent)
		return
	}
	w.word(s)
}

// fitsBlock reports whether a literal block preserves s in all parsers.
func fitsBlock(s []byte) bool {
	if bytes.IndexByte(s, '\n') < 0 || s[0] == ' ' || s[0] == '\n' {
		return false
	}
	for _, c := range s {
		if c != '\n' && class[c] == special {
			return false
		}
	}
	// Parsers disagree about lines that consist of blanks.
	return !bytes.Contains(s, []byte(" \n")) && s[len(s)-1] != ' '
}

func (w *writer) block(s []byte, indent int) {
	body := bytes.TrimRight(s, "\n")
	w.out = append(w.out, '|')
	switch len(s) - len(body) {
	case 0:
		w.out = append(w.out, '-')
	case 1:
	default:
		w.out = append(w.out, '+')
	}
	w.out = append(w.out, '\n')
	indent = max(indent, indentWidth)
	for line := range bytes.Lines(body) {
		if w.full() {
			return
		}
		if line[0] != '\n' {
			w.indent(indent)
		}
		w.out = append(w.out, line...)
	}
	for range len(s) - len(body) - 1 {
		w.out = append(w.out, '\n')
	}
}

// word writes a string on one line: plain, in single quotes, or with escapes.
func (w *writer) word(s []byte) {
	switch {
	case isPlain(s):
		w.out = append(w.out, s...)
	case isPrintableASCII(s):
		w.out = append(w.out, '\'')
		for _, c := range s {
			if c == '\'' {
				w.out = append(w.out, '\'')
			}
			w.out = append(w.out, c)
		}
		w.out = append(w.out, '\'')
	default:
		w.out = appendQuoted(w.out, s)
	}
}

// The classes of bytes in a string on one line.
const (
	special   uint8 = iota // must be escaped
	printable              // needs quotes
	between                // allowed unquoted, but only before a character of the classes below
	inside                 // allowed unquoted, but not first
	digit                  // allowed unquoted, but not if the string looks like a number
	letter                 // allowed unquoted anywhere
)

var class = classes() //nolint:gochecknoglobals // never changes

func classes() (table [256]uint8) {
	for c := ' '; c <= '~'; c++ {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', strings.ContainsRune("/$^(", c):
			table[c] = letter
		case c >= '0' && c <= '9', c == '.':
			table[c] = digit
		case strings.ContainsRune(`_-@+=),;*%!?~<>|&'"\\`, c):
			table[c] = inside
		case c == ':', c == ' ':
			table[c] = between
		default:
			table[c] = printable
		}
	}
	return table
}

// isPlain reports whether all parsers read s, unquoted, as the same string.
func isPlain(s []byte) bool {
	if len(s) == 0 || class[s[0]] < digit || class[s[len(s)-1]] < inside || class[s[0]] == digit && !isNotNumeric(s) {
		return false
	}
	for i, c := range s {
		if k := class[c]; k <= printable || k == between && class[s[i+1]] <= between {
			return false
		}
	}
	return len(s) > len("false") || !isWord(s)
}

// isNotNumeric reports whether no parser reads s, which begins with a digit or '.', as a number or a date. It may
// return false for other strings, too.
func isNotNumeric(s []byte) bool {
	switch {
	case s[0] == '.':
		return len(s) > len(".inf") && class[s[1]] == letter
	case bytes.IndexByte(s, ':') >= 0:
		return false
	}
	return bytes.Count(s, []byte(".")) > 1 || bytes.IndexByte(s, '/') >= 0 || bytes.IndexByte(s, ' ') >= 0
}

// isWord reports whether some parser reads s as a boolean or null.
func isWord(s []byte) bool {
	var lower [len("false")]byte
	for i, c := range s {
		lower[i] = c | 0x20 // letters to lower case; others do not matter
	}
	switch string(lower[:len(s)]) {
	case "yes", "no", "on", "off", "true", "false", "null", "y", "n":
		return true
	}
	return false
}

func isPrintableASCII(s []byte) bool {
	for _, c := range s {
		if class[c] == special {
			return false
		}
	}
	return true
}

// appendQuoted writes a string in double quotes, escaping everything except printable ASCII.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, r := range string(s) {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r >= ' ' && r <= '~':
			dst = append(dst, byte(r))
		case r <= 0xff:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r <= 0xffff && r != utf8.RuneError:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, '"')
}
