// Package plain reads a subset of YAML several times as fast as the YAML library. Nearly all documents are written in
// this subset: block mappings and sequences, plain, quoted, literal and folded scalars, flow collections on one line,
// and comments.
//
// Read declines a text if it finds anything outside the subset, or that the library may read differently or refuse. The
// caller must then let the library read the whole text. Package plain therefore reports no syntax errors, and reads the
// text that it accepts exactly as package document does with the library, whose deviations from the specification it
// has unless that package mends them.
package plain

import (
	"errors"
	"strings"
)

// ErrDeclined is returned for a text that may be outside the subset.
var ErrDeclined = errors.New("not in the plain part of YAML")

// Handler receives the nodes of a document in written order. An error stops the reader.
type Handler interface {
	// Mapping and Sequence begin a collection, End ends it.
	Mapping() error
	Sequence() error
	End() error
	// Key receives a key of the innermost mapping and its offset. The key's value is the next node.
	Key(text string, quoted bool, offset int) error
	// Scalar receives a scalar that is not a key. quoted is false if the text determines the scalar's type. A node without
	// text is an empty unquoted scalar.
	Scalar(text string, quoted bool) error
}

// Bounds that are lower than those of the library.
const (
	maxKey   = 1000 // bytes from the start of a key to its colon; the library allows 1024 characters
	maxDepth = 1000 // levels of nesting; the library allows 10,000
)

// Read reads a document, which may begin with the marker ---, from UTF-8 text. Where possible, the handler receives
// substrings of text. It returns ErrDeclined or the handler's error.
func Read(text string, handler Handler) (err error) {
	r := reader{text: text, handler: handler}
	defer func() {
		if p := recover(); p != nil { // also if an index is out of range
			if err = ErrDeclined; r.err != nil {
				err = r.err
			}
		}
	}()
	r.must(isReadable(text))
	r.document()
	return nil
}

// isReadable reports whether the library accepts all characters and all line breaks are line feeds.
func isReadable(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= ' ' && c <= '~', c == '\n', c == '\t':
		case c < 0x80: // a control character or CR
			return false
		case c == 0xc2 && text[i+1] < 0xa0: // a control character or NEL
			return false
		case c == 0xe2 && text[i+1] == 0x80 && text[i+2]|1 == 0xa9: // LS or PS
			return false
		case c == 0xef && text[i+1] == 0xbb && text[i+2] == 0xbf: // a byte order mark
			return false
		case c == 0xef && text[i+1] == 0xbf && text[i+2] >= 0xbe: // not a character
			return false
		}
	}
	return true
}

// reader reads a text in one pass. It panics to decline the text.
type reader struct {
	handler Handler
	text    string
	at      int    // current offset
	column  int    // column of the line's first token, or of a collection that begins after it; -1 at the end of the text
	depth   int    // number of open collections
	buffer  []byte // for scalars that are not substrings of the text
	err     error  // of the handler
}

// must declines the text unless ok.
func (r *reader) must(ok bool) {
	if !ok {
		panic(ErrDeclined)
	}
}

// pass stops the reader if the handler returned an error.
func (r *reader) pass(err error) {
	if err != nil {
		r.err = err
		panic(err)
	}
}

// is reports whether c is the next byte.
func (r *reader) is(c byte) bool { return r.at < len(r.text) && r.text[r.at] == c }

// isBlank reports whether a space, a line feed or the end of the text is at an offset. A tab is not a blank here.
func (r *reader) isBlank(at int) bool {
	return at >= len(r.text) || r.text[at] == ' ' || r.text[at] == '\n'
}

// isMarker reports whether a document marker is next.
func (r *reader) isMarker() bool {
	return strings.HasPrefix(r.text[r.at:], "---") || strings.HasPrefix(r.text[r.at:], "...")
}

// isEntry reports whether an item of a block sequence is next.
func (r *reader) isEntry() bool { return r.is('-') && r.isBlank(r.at+1) }

func (r *reader) spaces() {
	for r.is(' ') {
		r.at++
	}
}

// comment skips a comment, up to the end of the line.
func (r *reader) comment() {
	if r.is('#') {
		r.at = r.lineEnd()
	}
}

// lineEnd returns the offset of the next line feed, or of the end of the text.
func (r *reader) lineEnd() int {
	if i := strings.IndexByte(r.text[r.at:], '\n'); i >= 0 {
		return r.at + i
	}
	return len(r.text)
}

// endLine moves from the end of a token to the next line that has one. Only a comment may remain on the line.
func (r *reader) endLine() {
	if r.is(' ') {
		r.spaces()
		r.comment()
	}
	if r.at < len(r.text) {
		r.must(r.is('\n'))
		r.at++
	}
	r.nextToken()
}

// nextToken moves from the start of a line to the next token, and sets its column.
func (r *reader) nextToken() {
	for {
		start := r.at
		r.spaces()
		r.column = r.at - start
		r.comment()
		switch {
		case r.at == len(r.text):
			r.column = -1
			return
		case !r.is('\n'):
			r.must(!r.is('\t') && (r.column > 0 || !r.isMarker()))
			return
		}
		r.at++
	}
}

// skip moves from a key's colon or an item's dash to the next token, and reports whether that is on a later line.
func (r *reader) skip() (below bool) {
	r.at++
	start := r.at
	r.spaces()
	if r.at < len(r.text) && !r.is('\n') && !r.is('#') {
		return false
	}
	r.at = start
	r.endLine()
	return true
}

func (r *reader) document() {
	if strings.HasPrefix(r.text, "---") {
		r.at = len("---")
		r.endLine()
	} else {
		r.nextToken()
	}
	r.must(r.column >= 0)
	r.node(-1, true)
	r.must(r.column < 0)
}

// node reads a node and moves to the next token after its last line. parent is the column of the enclosing collection,
// -1 if there is none. If block is false, the node must not be a block collection.
func (r *reader) node(parent int, block bool) {
	switch {
	case r.isEntry():
		r.must(block)
		r.sequence(false)
		return
	case r.is('|'), r.is('>'):
		r.scalar(r.blockText(parent), true)
		r.nextToken()
		return
	case r.is('['), r.is('{'):
		r.flow()
	default:
		start := r.at
		text, quoted := r.word()
		if r.is(':') {
			r.must(block)
			r.mapping(start, text, quoted)
			return
		}
		if !quoted {
			text = r.continuation(text, parent)
		}
		r.scalar(text, quoted)
	}
	r.endLine()
}

func (r *reader) scalar(text string, quoted bool) { r.pass(r.handler.Scalar(text, quoted)) }

// begin begins a collection.
func (r *reader) begin(handle func() error) {
	r.depth++
	r.must(r.depth <= maxDepth)
	r.pass(handle())
}

func (r *reader) end() {
	r.depth--
	r.pass(r.handler.End())
}

// sequence reads the block sequence in the current column. An indentless one may be followed by a key in its column.
func (r *reader) sequence(indentless bool) {
	r.begin(r.handler.Sequence)
	column := r.column
	for r.column == column && r.isEntry() {
		dash := r.at
		if !r.skip() {
			r.column += r.at - dash
		}
		if r.column > column {
			r.node(column, true)
		} else {
			r.scalar("", false)
		}
	}
	r.must(r.column < column || r.column == column && indentless)
	r.end()
}

// mapping reads the block mapping in the current column, from the colon of its first key on.
func (r *reader) mapping(start int, text string, quoted bool) {
	r.begin(r.handler.Mapping)
	for column := r.column; ; {
		r.key(start, text, quoted)
		r.member(column)
		if r.column != column {
			r.must(r.column < column)
			break
		}
		start = r.at
		text, quoted = r.word()
	}
	r.end()
}

// key reports a key that begins at start and ends here.
func (r *reader) key(start int, text string, quoted bool) {
	written := r.text[start:r.at]
	r.must(r.is(':') && len(written) <= maxKey && !strings.Contains(written, "\n"))
	r.pass(r.handler.Key(text, quoted, start))
}

// member reads the value of a key in a block mapping. column is that of the mapping.
func (r *reader) member(column int) {
	switch below := r.skip(); {
	case !below:
		r.node(column, false)
	case r.column > column:
		r.node(column, true)
	case r.column == column && r.isEntry():
		r.sequence(true)
	default:
		r.scalar("", false)
	}
}

// flow reads a flow collection.
func (r *reader) flow() {
	if r.is('[') {
		r.begin(r.handler.Sequence)
		r.items(']', r.flowNode)
	} else {
		r.begin(r.handler.Mapping)
		r.items('}', r.flowMember)
	}
	r.end()
}

// items reads the items of a flow collection, between commas.
func (r *reader) items(end byte, read func()) {
	r.at++
	for r.spaces(); !r.is(end); r.spaces() {
		read()
		r.spaces()
		if !r.is(',') {
			r.must(r.is(end))
			break
		}
		r.at++
	}
	r.at++
}

func (r *reader) flowMember() {
	start := r.at
	text, quoted := r.flowWord()
	r.key(start, text, quoted)
	r.at++
	r.spaces()
	r.flowNode()
}

func (r *reader) flowNode() {
	if r.is('[') || r.is('{') {
		r.flow()
		return
	}
	r.scalar(r.flowWord())
}
