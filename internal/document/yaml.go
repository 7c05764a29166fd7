package document

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// AppendYAML appends compact JSON text, as this package writes it, as block YAML that ends with a line break. Any YAML
// 1.1 or 1.2 parser reads the same values from it: what one of them would take for something else is quoted, and what
// is not ASCII is escaped, because some clients guess the encoding of what they receive.
func AppendYAML(dst, json []byte) []byte {
	w := yamlWriter{in: json, out: dst}
	w.value(0, atLineStart)
	return w.out
}

// where a value is about to be written.
type position uint8

const (
	atLineStart position = iota // of the whole text
	afterKey                    // behind "key:"
	afterDash                   // behind "-", where a mapping or list begins on the same line
)

const indentWidth = 2

// yamlWriter walks JSON text once, from front to back.
type yamlWriter struct {
	in  []byte
	at  int
	out []byte
}

func (w *yamlWriter) value(indent int, where position) {
	switch w.in[w.at] {
	case '{':
		w.collection(indent, where, '}')
	case '[':
		w.collection(indent, where, ']')
	case '"':
		w.space(where)
		w.text(w.str(), indent)
		w.out = append(w.out, '\n')
	default:
		w.space(where)
		w.literal()
		w.out = append(w.out, '\n')
	}
}

func (w *yamlWriter) space(where position) {
	if where != atLineStart {
		w.out = append(w.out, ' ')
	}
}

func (w *yamlWriter) indent(n int) {
	for range n {
		w.out = append(w.out, ' ')
	}
}

// collection writes the mapping or list that begins here.
func (w *yamlWriter) collection(indent int, where position, end byte) {
	if w.in[w.at+1] == end {
		w.space(where)
		w.out = append(w.out, w.in[w.at], end, '\n')
		w.at += 2
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
	for w.in[w.at] != end {
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

func (w *yamlWriter) member(indent int) {
	key := w.str()
	w.at++ // the colon
	if len(key) > maxSimpleKey || strings.Contains(key, "\n") {
		w.out = append(w.out, '?', ' ')
		w.out = appendQuoted(w.out, key)
		w.out = append(w.out, '\n')
		w.indent(indent)
	} else {
		w.word(key)
	}
	w.out = append(w.out, ':')
	if w.in[w.at] == '[' {
		w.value(indent, afterKey) // a list may stand at its key's indentation
		return
	}
	w.value(indent+indentWidth, afterKey)
}

// maxSimpleKey is how long parsers let a key be that is not announced with a question mark (they allow 1024 with
// quotes and escapes, of which a character may need ten).
const maxSimpleKey = 100

// literal copies a number, true, false or null.
func (w *yamlWriter) literal() {
	start := w.at
	for w.at < len(w.in) && w.in[w.at] != ',' && w.in[w.at] != '}' && w.in[w.at] != ']' {
		w.at++
	}
	token := string(w.in[start:w.at])
	if mantissa, exponent, ok := strings.Cut(token, "e"); ok && token[0] != 't' && token[0] != 'f' {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0" // YAML 1.1 takes 1e-07 for a string
		}
		token = mantissa + "e" + exponent
	}
	w.out = append(w.out, token...)
}

// str reads the JSON string that begins here.
func (w *yamlWriter) str() string {
	w.at++
	start := w.at
	for w.in[w.at] != '"' {
		if w.in[w.at] == '\\' {
			return w.escaped(start)
		}
		w.at++
	}
	w.at++
	return string(w.in[start : w.at-1])
}

func (w *yamlWriter) escaped(start int) string {
	var b strings.Builder
	b.Write(w.in[start:w.at])
	for w.in[w.at] != '"' {
		c := w.in[w.at]
		w.at++
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		switch e := w.in[w.at]; e {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			var r rune
			_, _ = fmt.Sscanf(string(w.in[w.at+1:w.at+5]), "%04x", &r)
			b.WriteRune(r)
			w.at += 4
		default:
			b.WriteByte(e)
		}
		w.at++
	}
	w.at++
	return b.String()
}

// text writes a string value: as a block of lines where that is exact, else as one word.
func (w *yamlWriter) text(s string, indent int) {
	if fitsBlock(s) {
		w.block(s, indent)
		return
	}
	w.word(s)
}

// fitsBlock tells whether a literal block gives back exactly s.
func fitsBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '\n' && (c < ' ' || c > '~') {
			return false
		}
	}
	// A line of blanks only reads back differently in some parsers.
	return !strings.Contains(s, " \n") && !strings.HasSuffix(s, " ")
}

func (w *yamlWriter) block(s string, indent int) {
	body := strings.TrimRight(s, "\n")
	w.out = append(w.out, '|')
	switch len(s) - len(body) {
	case 0:
		w.out = append(w.out, '-')
	case 1:
	default:
		w.out = append(w.out, '+')
	}
	indent = max(indent, indentWidth)
	for line := range strings.SplitSeq(body, "\n") {
		w.out = append(w.out, '\n')
		if line != "" {
			w.indent(indent)
			w.out = append(w.out, line...)
		}
	}
	for range max(0, len(s)-len(body)-1) {
		w.out = append(w.out, '\n')
	}
}

// word writes a string on one line: plain, in single quotes, or with escapes.
func (w *yamlWriter) word(s string) {
	switch {
	case isPlain(s):
		w.out = append(w.out, s...)
	case isPrintableASCII(s):
		w.out = append(w.out, '\'')
		for i := range len(s) {
			if s[i] == '\'' {
				w.out = append(w.out, '\'')
			}
			w.out = append(w.out, s[i])
		}
		w.out = append(w.out, '\'')
	default:
		w.out = appendQuoted(w.out, s)
	}
}

// isPlain tells whether every parser reads s, written without quotes, as this very string.
func isPlain(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '/' {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case isLetter(c), c >= '0' && c <= '9', strings.IndexByte("_-./@+=(),;", c) >= 0 && i > 0:
		case c == ':' && i+1 < len(s) && s[i+1] != ' ', c == ' ' && i+1 < len(s) && s[i+1] != '#' && s[i+1] != ' ':
		default:
			return false
		}
	}
	return len(s) > len("false") || !isWord(s)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWord tells whether some parser takes s for a boolean or null.
func isWord(s string) bool {
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off", "true", "false", "null", "y", "n":
		return true
	}
	return false
}

func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// appendQuoted writes a string in double quotes with everything but printable ASCII escaped.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
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
