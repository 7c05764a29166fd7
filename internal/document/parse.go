package document

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Measured costs of parsing YAML, in the budget's units.
const (
	textSteps = 12_000 // per text
	byteSteps = 40     // per byte
	markSteps = 800    // per separator
	nodeBytes = 256    // of memory per separator, besides the text
)

// parser parses texts with the YAML library and charges the costs to the budget while the library reads.
type parser struct {
	meter *budget.Meter
	held  int // bytes of nodes held in the budget
}

// release releases the memory of all nodes in the budget.
func (p *parser) release() {
	p.meter.Release(p.held)
	p.held = 0
}

// hold adds the memory of nodes to the budget.
func (p *parser) hold(bytes int) error {
	p.held += bytes
	return p.meter.Hold(bytes)
}

// parse returns the values of the first documents of a text, at most a number of them. With an error, it returns those
// before it. The error is a *syntaxError if the text is invalid or the library panics. Others come from the budget.
func (p *parser) parse(text []byte, most int) (documents []*yaml.Node, err error) {
	text, wrong := readable(text)
	if wrong != nil {
		return nil, wrong
	}
	if err := p.tags(text); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &syntaxError{rule: unknownRule}
		}
	}()
	p.meter.Charge(textSteps)
	text, mender := withStandIns(text)
	reader := &reader{parser: p, text: text}
	decoder := yaml.NewDecoder(reader)
	for len(documents) < most {
		node := new(yaml.Node)
		switch err := decoder.Decode(node); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case reader.err != nil:
			return documents, reader.err
		case err != nil:
			return documents, syntaxErrorOf(err)
		}
		if !mender.nothing() {
			if wrong := mender.mend(node); wrong != nil {
				return documents, wrong
			}
		}
		documents = append(documents, node.Content...)
	}
	return documents, nil
}

// Parse returns the values of the documents in a text as nodes of the YAML library, with aliases unexpanded. The budget
// holds their memory until release. The error is a *Mistake, with a line at most, if the text is invalid. Other errors
// come from the budget.
func Parse(meter *budget.Meter, text []byte) (documents []*yaml.Node, release func(), err error) {
	p := &parser{meter: meter}
	documents, err = p.parse(text, math.MaxInt)
	if wrong, ok := errors.AsType[*syntaxError](err); ok {
		return nil, p.release, &Mistake{At: Position{Line: wrong.line}, Rule: string(wrong.rule)}
	}
	return documents, p.release, err
}

// reader passes a text to the YAML library and charges the cost of reading it.
type reader struct {
	parser *parser
	text   []byte
	err    error // of the budget
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (n int, err error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n = copy(p, r.text)
	marks := marksOf(r.text[:n])
	r.text = r.text[n:]
	r.parser.meter.Charge(n*byteSteps + marks*markSteps)
	r.err = r.parser.hold(n + marks*nodeBytes)
	return n, r.err
}

// Bounds and costs of %TAG directives. The library copies the prefix for every tag that uses it and compares each tag
// with every directive.
const (
	maxTagPrefix   = 1000 // bytes, as in longPrefix
	directiveSteps = 5    // to compare a tag with one directive
	prefixCopies   = 3    // memory for copies of the prefix, per tag
)

// tags charges the costs of a text's %TAG directives to the budget.
func (p *parser) tags(text []byte) error {
	directives, longest := 0, 0
	for at := 0; ; at += len("%TAG") {
		i := bytes.Index(text[at:], []byte("%TAG"))
		if i < 0 {
			break
		}
		if at += i; at > 0 && strings.IndexByte(lineEnds, text[at-1]) < 0 {
			continue
		}
		directives++
		longest = max(longest, prefixLength(text[at:]))
		if longest > maxTagPrefix {
			return &syntaxError{line: lineOf(text, at), rule: longPrefix, own: true}
		}
	}
	if directives == 0 {
		return nil
	}
	uses := bytes.Count(text, []byte("!"))
	p.meter.Charge((uses+directives)*directives*directiveSteps + uses*longest)
	return p.hold(uses * longest * prefixCopies)
}

// lineEnds are the last bytes of YAML's line breaks (LF, CR, NEL, LS and PS) and of a byte order mark.
const lineEnds = "\n\r\x85\xa8\xa9\xbf"

// prefixLength returns the length of a directive's prefix.
func prefixLength(directive []byte) int {
	isOver := func(r rune) bool { return r == '\n' || r == '\r' || r >= utf8.RuneSelf }
	if end := bytes.IndexFunc(directive, isOver); end >= 0 {
		directive = directive[:end]
	}
	words := bytes.Fields(directive)
	if len(words) < 3 { // %TAG, the handle and the prefix
		return 0
	}
	return len(words[2])
}
