// Package blockyaml writes JSON text as YAML in block style. Values nested deeper than in documents written by people
// are in flow style, because each line of a thousand levels would be mostly indentation. The YAML has at most about ten
// times as many bytes as the JSON.
package blockyaml

import (
	"bytes"
	"math"
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
	blanks, narrow := smallIndentation+indentationRatio*len(json), shallow
	if len(json) > large {
		blanks, narrow = smallIndentation+max(indentationRatio*large, len(json)), shallowLarge
	}
	w := writer{in: json, out: dst, most: most, flowBeyond: deep, blanks: blanks}
	w.value(0, atLineStart)
	if w.blanks < 0 {
		w = writer{in: json, out: dst, most: most, flowBeyond: narrow, blanks: math.MaxInt, buffer: w.buffer}
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
// the indentation still has too many bytes for the size of the JSON, the limit is shallow instead, or for a large JSON
// text shallowLarge. Its indentation may have 2 MiB, or as many bytes as the JSON.
const (
	deep, shallow, shallowLarge        = 200, 16, 4
	smallIndentation, indentationRatio = 16 << 10, 8
	large                              = 256 << 10
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
