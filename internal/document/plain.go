package document

import (
	"errors"
	"strings"
)

// errDeclined is returned for a text that may be outside the plain subset of YAML.
var errDeclined = errors.New("not in the plain part of YAML")

// Bounds that are lower than those of the library.
const (
	maxKey    = 1000 // bytes from the start of a key to its colon; the library allows 1024 characters
	maxLevels = 1000 // of nesting; the library allows 10,000
)

// plainByteSteps is the measured cost of reading a byte of plain YAML, in the budget's steps.
const plainByteSteps = 10

// plain decodes a segment in the plain subset of YAML, several times as fast as the YAML library. Nearly all documents
// are written in this subset: block mappings and sequences, plain, quoted, literal and folded scalars, flow collections
// on one line, and comments. Strings are parts of one copy of the text where possible.
//
// It returns errDeclined if it finds anything outside the subset, or that the library may read differently or refuse,
// or if a limit is exceeded. The library must then read the whole text. So this reader reports no faults, and reads the
// text that it accepts exactly as yaml does. Other errors come from the budget.
func (d *decoder) plain() (root any, err error) {
	size := len(d.segment.Text)
	if err := d.spend(size*plainByteSteps, size); err != nil {
		return nil, err
	}
	memory := collections.Get().(*[]collection) //nolint:forcetypeassert // the pool holds no other type
	r := &plainReader{decoder: d, text: string(d.segment.Text), open: (*memory)[:0]}
	defer func() {
		if p := recover(); p != nil { // also if an index is out of range
			if root, err = nil, errDeclined; r.err != nil {
				err = r.err
			}
		}
		*memory = cleared(r.open)
		collections.Put(memory)
	}()
	r.must(isReadable(r.text))
	r.document()
	return r.root, nil
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

// plainReader reads a text in one pass. It panics to decline the text.
type plainReader struct {
	*decoder

	text   string
	at     int          // current offset
	column int          // of the line's first token, or of a collection that begins after it; -1 at the end of the text
	root   any          // the document's value
	open   []collection // mappings and lists that have not ended yet; the innermost is last
	buffer []byte       // for scalars that are not substrings of the text
	err    error        // of the budget
}

// must declines the text unless ok.
func (r *plainReader) must(ok bool) {
	if !ok {
		panic(errDeclined)
	}
}

// charge stops reading if err is not nil, which is one of the budget.
func (r *plainReader) charge(err error) {
	if err != nil {
		r.err = err
		panic(err)
	}
}

// is reports whether c is the next byte.
func (r *plainReader) is(c byte) bool { return r.at < len(r.text) && r.text[r.at] == c }

// isBlank reports whether a space, a line feed or the end of the text is at an offset. A tab is not a blank here.
func (r *plainReader) isBlank(at int) bool {
	return at >= len(r.text) || r.text[at] == ' ' || r.text[at] == '\n'
}

// isMarker reports whether a document marker is next.
func (r *plainReader) isMarker() bool {
	return strings.HasPrefix(r.text[r.at:], "---") || strings.HasPrefix(r.text[r.at:], "...")
}

// isEntry reports whether an item of a block sequence is next.
func (r *plainReader) isEntry() bool { return r.is('-') && r.isBlank(r.at+1) }

func (r *plainReader) spaces() {
	for r.is(' ') {
		r.at++
	}
}

// comment skips a comment, up to the end of the line.
func (r *plainReader) comment() {
	if r.is('#') {
		r.at = r.lineEnd()
	}
}

// lineEnd returns the offset of the next line feed, or of the end of the text.
func (r *plainReader) lineEnd() int {
	if i := strings.IndexByte(r.text[r.at:], '\n'); i >= 0 {
		return r.at + i
	}
	return len(r.text)
}

// endLine moves from the end of a token to the next line that has one. Only a comment may remain on the line.
func (r *plainReader) endLine() {
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
func (r *plainReader) nextToken() {
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
func (r *plainReader) skip() (below bool) {
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

func (r *plainReader) document() {
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
func (r *plainReader) node(parent int, block bool) {
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

// sequence reads the block sequence in the current column. An indentless one may be followed by a key in its column.
func (r *plainReader) sequence(indentless bool) {
	r.begin(true)
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
func (r *plainReader) mapping(start int, text string, quoted bool) {
	r.begin(false)
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

// key reads a key that begins at start and ends here.
func (r *plainReader) key(start int, text string, quoted bool) {
	written := r.text[start:r.at]
	r.must(r.is(':') && len(written) <= maxKey && !strings.Contains(written, "\n"))
	r.setKey(text, quoted, start)
}

// member reads the value of a key in a block mapping. column is that of the mapping.
func (r *plainReader) member(column int) {
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
func (r *plainReader) flow() {
	if r.is('[') {
		r.begin(true)
		r.items(']', r.flowNode)
	} else {
		r.begin(false)
		r.items('}', r.flowMember)
	}
	r.end()
}

// items reads the items of a flow collection, between commas.
func (r *plainReader) items(end byte, read func()) {
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

func (r *plainReader) flowMember() {
	start := r.at
	text, quoted := r.flowWord()
	r.key(start, text, quoted)
	r.at++
	r.spaces()
	r.flowNode()
}

func (r *plainReader) flowNode() {
	if r.is('[') || r.is('{') {
		r.flow()
		return
	}
	r.scalar(r.flowWord())
}
