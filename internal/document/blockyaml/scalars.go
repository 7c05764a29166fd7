package blockyaml

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

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
	start := w.at
	for w.at++; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	if !escaped {
		return w.in[start+1 : w.at-1], false
	}
	w.buffer, _ = jsontext.AppendUnquote(w.buffer[:0], w.in[start:w.at])
	return w.buffer, true
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
