package document

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"purser/internal/budget"
)

// Media is the format of a body.
type Media uint8

// The formats that Split reads.
const (
	YAML Media = iota
	JSON
)

// Segment is the text of one document of a body.
type Segment struct {
	Text   []byte
	Line   int    // first line in the body; counts from 1
	Index  int    // position among the body's documents; counts from 1
	Digest Digest // of the text; zero if the document depends on more than this text
	// Source and Bucket are set by SplitBody; the digest is then that of the source. Bucket is "" if its file names none.
	Source *Source
	Bucket string

	offset  int  // of the text in its file
	part    int  // position among the documents of the text, if it holds several; counts from 1
	start   int  // first line of the text, if the text holds more than this document; 0 otherwise
	indent  int  // characters before the text on its first line
	isItem  bool // of the list that the text contains
	media   Media
	decoded *decoded // set if the body was parsed as a whole
}

// Media returns the format of the text.
func (s Segment) Media() Media { return s.media }

// Indent returns the number of characters before the text on its first line in the body.
func (s Segment) Indent() int { return s.indent }

// decoded is the result of decoding a segment.
type decoded struct {
	entry Entry
	err   error
}

// ForBucket returns the digest of a text whose document names its bucket. It differs from d, the digest of the same
// text in a request that names the bucket.
func (d Digest) ForBucket() Digest {
	if d.IsZero() {
		return d
	}
	return sha256.Sum256(append([]byte("bucket "), d[:]...))
}

// line converts a line of the text to a line of the body.
func (s Segment) line(of int) int { return cmp.Or(s.start, s.Line) - 1 + of }

// position converts a position in the text to one in the body.
func (s Segment) position(of Position) Position {
	if of.Line == 1 {
		of.Column += s.indent
	}
	return Position{s.line(of.Line), of.Column}
}

// Place returns the segment's position in the body, for messages.
func (s Segment) Place() string { return fmt.Sprintf("document %d (from line %d)", s.Index, s.Line) }

// Costs of a byte in the budget's steps.
const (
	splitSteps    = 20 // to split a body and hash its documents
	readableSteps = 80 // to look for directives and byte order marks in a body that has some
)

// Split splits a body into the segments of its documents. Faults: Invalid if the body is not valid UTF-8 text, TooLarge
// if a limit or the budget is exceeded.
func Split(ctx context.Context, body []byte, media Media, limits Limits) ([]Segment, error) {
	return split(ctx, body, media, limits, Segment{Line: 1, Index: 1})
}

// split is Split for a part of a body. Its first document has the line and the index of from.
func split(ctx context.Context, body []byte, media Media, limits Limits, from Segment) ([]Segment, error) {
	meter := budget.NewMeter(ctx)
	meter.Charge(len(body) * splitSteps)
	if media == YAML && (holdsDirective(body) || bytes.Contains(body, byteOrderMark)) {
		meter.Charge(len(body) * readableSteps)
	}
	if err := meter.Check(); err != nil {
		return nil, budget.About(err, "the body")
	}
	if err := checkEncoding(body, media); err != nil {
		return nil, moved(err, from.Line-1)
	}
	body, err := readableBody(body, media)
	if err != nil {
		return nil, moved(err, from.Line-1)
	}
	segments, err := splitBy(meter, media, body, limits, from)
	if err != nil {
		return nil, budget.About(err, "the body")
	}
	if len(segments) > limits.Documents {
		return nil, tooMany(limits)
	}
	for i := range segments {
		segments[i].Index, segments[i].media = from.Index+i, media
		switch {
		case segments[i].decoded != nil:
		case media == JSON:
			segments[i].Digest = digestOfText(segments[i].Text, true)
		default:
			segments[i].Digest = digestOfText(segments[i].Text, false)
		}
	}
	return segments, nil
}

// readableBody returns a body as the readers take it.
func readableBody(body []byte, media Media) ([]byte, error) {
	if media == JSON {
		return bytes.TrimPrefix(body, byteOrderMark), nil
	}
	body, wrong := readable(body)
	if wrong != nil {
		return nil, malformed(YAML, Mistake{At: Position{wrong.line, 1}, Rule: string(wrong.rule)})
	}
	return body, nil
}

// splitBy splits a body into segments. It stops after one segment more than the limits allow.
func splitBy(meter *budget.Meter, media Media, body []byte, limits Limits, from Segment) ([]Segment, error) {
	var segments []Segment
	if media == JSON {
		var err error
		if segments, err = splitJSON(meter, body, limits.Documents+1); err != nil {
			return nil, moved(err, from.Line-1)
		}
	} else {
		var whole bool
		if segments, whole = splitYAML(body, limits.Documents+1); whole {
			return parseAll(meter, body, limits, from)
		}
	}
	for i := range segments {
		segments[i].Line += from.Line - 1
	}
	return segments, nil
}

func checkEncoding(body []byte, media Media) error {
	refuse := func(at Position, r rule) error { return malformed(media, Mistake{At: at, Rule: string(r)}) }
	switch {
	case bytes.HasPrefix(body, []byte("\xfe\xff")), bytes.HasPrefix(body, []byte("\xff\xfe")):
		return refuse(Position{Line: 1}, "the text is UTF-16; it must be UTF-8: convert it with iconv -f UTF-16 -t UTF-8, "+
			"or in PowerShell write it with Out-File -Encoding utf8")
	case bytes.HasPrefix(body, []byte("\x1f\x8b")):
		return refuse(Position{Line: 1}, "the text is compressed with gzip; send it with Content-Encoding: gzip, or "+
			"uncompressed")
	}
	if i := bytes.IndexByte(body, 0); i >= 0 {
		return refuse(positionIn(body, i), "a NUL byte; the text must be UTF-8")
	}
	if utf8.Valid(body) {
		return nil
	}
	at := 0
	for at < len(body) {
		r, size := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return refuse(positionIn(body, at), rulef("the byte 0x%02x is not UTF-8; save the text as UTF-8", int(body[at])))
}

func lineOf(body []byte, offset int) int { return 1 + bytes.Count(body[:offset], []byte("\n")) }

// splitYAML splits a body at lines that begin with the document markers --- or .... whole is true if the body must be
// parsed as a whole instead, because a line may be a directive, which affects the rest of the body, or because
// something other than a comment follows an end marker.
func splitYAML(body []byte, limit int) (segments []Segment, whole bool) {
	if holdsDirective(body) {
		return nil, true
	}
	start, line := 0, 1
	cut := func(end int) {
		if text := body[start:end]; !isBlank(text) {
			segments = append(segments, Segment{Text: text, Line: line, offset: start})
		}
		line += bytes.Count(body[start:end], []byte("\n"))
		start = end
	}
	begins, ends := newMarkers(body, "---"), newMarkers(body, "...")
	for len(segments) < limit {
		at := min(begins.at, ends.at)
		cut(at)
		switch at {
		case len(body):
			return segments, false
		case ends.at:
			// The next document begins after the marker, which belongs to neither.
			end := len(body)
			if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
				end = at + i
			}
			if !isBlank(body[at+len("...") : end]) {
				return nil, true
			}
			start = end
			ends.next()
		default:
			begins.next()
		}
	}
	return segments, false
}

// markers finds the lines of a body that begin with a document marker.
type markers struct {
	body   []byte
	marker string
	at     int // offset of the current marker; the length of the body if there is none
}

func newMarkers(body []byte, marker string) *markers {
	m := &markers{body: body, marker: marker}
	m.find(0)
	return m
}

func (m *markers) next() { m.find(m.at + len(m.marker)) }

func (m *markers) find(from int) {
	for ; ; from = m.at + 1 {
		i := bytes.Index(m.body[from:], []byte(m.marker))
		if i < 0 {
			m.at = len(m.body)
			return
		}
		m.at = from + i
		after := m.at + len(m.marker)
		ended := after == len(m.body) || strings.IndexByte(" \t\r\n", m.body[after]) >= 0
		if ended && startsLine(m.body, m.at) {
			return
		}
	}
}

func startsLine(body []byte, at int) bool { return at == 0 || body[at-1] == '\n' }

// holdsDirective reports whether a line begins with a percent sign.
func holdsDirective(body []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(body[at:], '%')
		if i < 0 {
			return false
		}
		if at += i; startsLine(body, at) {
			return true
		}
	}
}

// isBlank reports whether a text contains only white space and comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.Trim(line, " \t\r\n")
		if len(line) > 0 && (line[0] != '#' || holdsBreak(line)) {
			return false
		}
	}
	return true
}

// holdsBreak reports whether a text has a line break of YAML 1.1 that is not a line feed. It ends a comment.
func holdsBreak(text []byte) bool {
	for _, lineBreak := range [...]string{"\r", "\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(text, []byte(lineBreak)) {
			return true
		}
	}
	return false
}

// parseAll parses a body as a whole. The limits of one document apply to all of it.
func parseAll(meter *budget.Meter, body []byte, limits Limits, from Segment) ([]Segment, error) {
	if err := limits.checkText(Segment{Text: body, Line: from.Line, Index: from.Index}); err != nil {
		return nil, TooLarge("a body with directives counts as one document; remove the lines that begin with %%: %w", err)
	}
	p := &parser{meter: meter}
	defer p.release()
	documents, err := p.parse(body, limits.Documents+1)
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		return nil, unreadable(meter, Segment{Text: body, Line: from.Line, Index: from.Index + len(documents)}, syntax)
	}
	switch {
	case err != nil:
		return nil, err
	case len(documents) > limits.Documents:
		return nil, tooMany(limits)
	}
	return decodeParts(meter, Segment{Text: body, start: from.Line, Index: from.Index}, documents, limits), nil
}

// positionIn returns the position of an offset in a text.
func positionIn(text []byte, offset int) Position {
	at := cursor{text: text, line: 1, column: 1}
	at.advance(offset)
	return Position{at.line, at.column}
}
