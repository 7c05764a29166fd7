package document

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// word reads a scalar on one line of a block collection, or in quotes, and moves past it. If the scalar may be a key,
// the next byte is its colon.
func (r *plainReader) word() (text string, quoted bool) {
	if text, quoted = r.quotes(); quoted {
		r.must(!r.is(':') || r.isBlank(r.at+1))
		return text, true
	}
	switch c := r.text[r.at]; c {
	case '-', ':':
		r.must(!r.isBlank(r.at + 1))
	default:
		r.must(startsWord(c))
	}
	return r.line(), false
}

// startsWord reports whether a plain scalar may begin with c, whatever the next byte is.
func startsWord(c byte) bool { return c > ' ' && strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", c) < 0 }

// line reads a line of a plain scalar in a block collection and moves past it, or to the colon that ends it.
func (r *plainReader) line() string {
	start, i := r.at, r.at
scan:
	for ; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c > ':':
		case c == '\n', c == '\t', c == '#' && r.text[i-1] == ' ':
			break scan
		case c == ':' && r.isBlank(i+1):
			r.at = i
			return strings.TrimRight(r.text[start:i], " ")
		}
	}
	text := strings.TrimRight(r.text[start:i], " ")
	r.at = start + len(text)
	return text
}

// continuation reads the following lines of a plain scalar, which are indented more than parent, and returns the whole
// scalar.
func (r *plainReader) continuation(text string, parent int) string {
	out := r.buffer[:0]
	for {
		end := r.at
		r.spaces()
		start, feeds := r.at, 0
		for r.is('\n') {
			r.at++
			feeds++
			start = r.at
			r.spaces()
		}
		if feeds == 0 || r.at-start <= parent || r.at == len(r.text) || r.is('#') || r.is('\t') {
			r.at = end
			break
		}
		r.must(parent >= 0) // the root must be a mapping
		if len(out) == 0 {
			out = append(out, text...)
		}
		out = append(appendFold(out, feeds), r.line()...)
	}
	if r.buffer = out; len(out) == 0 {
		return text
	}
	return string(out)
}

// appendFold appends the folded form of the line feeds between two lines of a scalar.
func appendFold(out []byte, feeds int) []byte {
	if feeds == 1 {
		return append(out, ' ')
	}
	return appendFeeds(out, feeds-1)
}

func appendFeeds(out []byte, feeds int) []byte {
	for range feeds {
		out = append(out, '\n')
	}
	return out
}

// flowWord reads a scalar in a flow collection and moves past it or to the colon of a key. It declines plain scalars
// that the library may end elsewhere.
func (r *plainReader) flowWord() (text string, quoted bool) {
	if text, quoted = r.quotes(); quoted {
		return text, true
	}
	start := r.at
scan:
	for ; ; r.at++ {
		switch c := r.text[r.at]; c {
		case ',', ']', '}':
			break scan
		case ':':
			if r.isBlank(r.at + 1) {
				break scan
			}
			r.must(strings.IndexByte(",[]{}", r.text[r.at+1]) < 0)
		case '[', '{', '?', '#', '\n', '\t':
			r.must(false)
		}
	}
	text = strings.TrimRight(r.text[start:r.at], " ")
	if text[0] == '-' {
		r.must(strings.IndexByte(".0123456789", text[1]) >= 0)
	} else {
		r.must(startsWord(text[0]))
	}
	return text, false
}

// quotes reads a scalar in quotes and moves past it; ok is false if none begins here.
func (r *plainReader) quotes() (text string, ok bool) {
	if !r.is('\'') && !r.is('"') {
		return "", false
	}
	quote := r.text[r.at]
	r.at++
	start, out := r.at, r.buffer[:0]
	for ; ; r.at++ {
		switch c := r.text[r.at]; {
		case c == '\n':
			out = append(out, strings.TrimRight(r.text[start:r.at], " \t")...)
			out = appendFold(out, r.feeds())
		case c == '\\' && quote == '"':
			out = r.escape(append(out, r.text[start:r.at]...))
		case c != quote:
			continue
		case c == '\'' && strings.HasPrefix(r.text[r.at:], "''"):
			r.at++
			out = append(out, r.text[start:r.at]...)
		default:
			text = r.text[start:r.at]
			r.at++
			if len(out) > 0 {
				out = append(out, text...)
				text = string(out)
			}
			r.buffer = out
			return text, true
		}
		start = r.at + 1
	}
}

// feeds skips line feeds within quotes and stops at the last blank before the next text. It returns the number of line
// feeds.
func (r *plainReader) feeds() int {
	feeds, start := 0, 0
	for ; r.is(' ') || r.is('\t') || r.is('\n'); r.at++ {
		if r.is('\n') {
			feeds, start = feeds+1, r.at+1
		}
	}
	r.must(r.at > start || !r.isMarker())
	r.at--
	return feeds
}

// escape appends the character of an escape sequence and moves to its last byte.
func (r *plainReader) escape(out []byte) []byte {
	const meanings = "0\x00a\ab\bt\tn\nv\vf\fr\re\x1b  \"\"''\\\\//"
	r.at++
	c := r.text[r.at]
	if c == '\n' {
		return appendFeeds(out, r.feeds()-1)
	}
	for i := 0; i < len(meanings); i += 2 {
		if c == meanings[i] {
			return append(out, meanings[i+1])
		}
	}
	digits := strings.IndexByte("  x u   U", c) // the index of c is the number of digits
	r.must(digits > 0)
	code, err := strconv.ParseUint(r.text[r.at+1:r.at+1+digits], 16, 32)
	r.must(err == nil && utf8.ValidRune(rune(code))) //nolint:gosec // a number too large becomes negative
	r.at += digits
	return utf8.AppendRune(out, rune(code)) //nolint:gosec // as above
}

// blockText reads a literal or folded scalar and moves to the start of the line after it. parent is the column of the
// enclosing collection.
func (r *plainReader) blockText(parent int) string {
	b := blockText{plainReader: r, folded: r.is('>'), out: r.buffer[:0]}
	r.at++
	chomping := r.text[r.at]
	if chomping == '-' || chomping == '+' {
		r.at++
	}
	r.spaces()
	if r.isBlank(r.at - 1) {
		r.comment()
	}
	r.must(r.is('\n'))
	r.at++
	b.begin(parent)
	for more := true; more; {
		more = b.line()
	}
	r.must(!r.is('\t'))
	r.at = b.start
	if chomping != '-' && b.ended {
		b.out = append(b.out, '\n')
	}
	if chomping == '+' {
		b.out = appendFeeds(b.out, b.empty)
	}
	r.buffer = b.out
	return string(b.out)
}

// blockText is the state of reading a literal or folded scalar.
type blockText struct {
	*plainReader

	folded bool
	indent int    // of the scalar's lines
	start  int    // offset of the current line
	empty  int    // empty lines before the current one
	ended  bool   // a line with text has been read, including its line feed
	spaced bool   // that line begins with a blank
	out    []byte // the text so far
}

// begin moves to the text of the first non-empty line. It declines if the library might determine another indentation
// or if there is no text.
func (b *blockText) begin(parent int) {
	widest := 0
	for {
		b.start = b.at
		b.spaces()
		b.indent = b.at - b.start
		if !b.is('\n') {
			break
		}
		widest = max(widest, b.indent)
		b.at++
		b.empty++
	}
	b.must(b.at < len(b.text) && !b.is('\t') && b.indent > max(parent, 0) && b.indent >= widest)
}

// line reads the text of a line and moves to the text of the next one. It returns false at the end of the scalar.
func (b *blockText) line() bool {
	spaced := b.is(' ') || b.is('\t')
	switch {
	case !b.ended: // the first line
	case !b.folded, spaced, b.spaced:
		b.out = append(b.out, '\n')
	case b.empty == 0:
		b.out = append(b.out, ' ')
	}
	b.out = appendFeeds(b.out, b.empty)
	b.empty, b.spaced = 0, spaced
	end := b.lineEnd()
	b.out = append(b.out, b.text[b.at:end]...)
	b.at = end
	for b.ended = b.is('\n'); b.is('\n'); b.empty++ {
		b.at++
		b.start = b.at
		for b.at < b.start+b.indent && b.is(' ') {
			b.at++
		}
		if !b.is('\n') {
			return b.at == b.start+b.indent && b.at < len(b.text)
		}
	}
	b.start = b.at
	return false
}
