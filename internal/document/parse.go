package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// What a YAML text costs to parse: the steps of a byte and of a separator, as measured, and the bytes of memory that
// the nodes take for each separator besides their text.
const (
	byteSteps = 30
	markSteps = 500
	nodeBytes = 256
)

// parser hands texts to the YAML library and pays for them while they are read.
type parser struct {
	meter *budget.Meter
	held  int // bytes of the nodes
}

// release gives back the memory of all nodes.
func (p *parser) release() {
	p.meter.Release(p.held)
	p.held = 0
}

// hold takes memory for nodes.
func (p *parser) hold(bytes int) error {
	p.held += bytes
	return p.meter.Hold(bytes)
}

// syntaxError is what is wrong with a text, in the words of the YAML library.
type syntaxError struct{ text string }

func (e *syntaxError) Error() string { return e.text }

// maxSyntaxError is how much of the library's message is shown: it quotes names from the text.
const maxSyntaxError = 300

// parse hands every document of a text to found, until that wants no more. It returns a *syntaxError where the text is
// wrong, also where the library panics; other errors are those of the budget.
func (p *parser) parse(text []byte, found func(*yaml.Node) bool) (err error) {
	if err := p.tags(text); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = &syntaxError{first(maxSyntaxError, fmt.Sprintf("the YAML parser cannot read it: %v", r))}
		}
	}()
	reader := &reader{parser: p, text: text}
	decoder := yaml.NewDecoder(reader)
	for {
		node := new(yaml.Node)
		switch err := decoder.Decode(node); {
		case errors.Is(err, io.EOF):
			return nil
		case reader.err != nil:
			return reader.err
		case err != nil:
			return &syntaxError{first(maxSyntaxError, err.Error())}
		}
		if !found(node) {
			return nil
		}
	}
}

// reader gives a text to the YAML library piece by piece and pays for each.
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

// Bounds of %TAG directives. The library writes the prefix out for every tag that uses it, and compares each tag with
// every directive.
const (
	maxTagPrefix   = 1000 // bytes
	directiveSteps = 5    // to compare a handle with that of one directive
	prefixCopies   = 3    // made of a prefix for a tag
)

// tags pays for the %TAG directives of a text.
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
			return &syntaxError{fmt.Sprintf("yaml: line %d: the prefix of a %%TAG directive has more than %d bytes",
				lineOf(text, at), maxTagPrefix)}
		}
	}
	if directives == 0 {
		return nil
	}
	uses := bytes.Count(text, []byte("!"))
	p.meter.Charge((uses+directives)*directives*directiveSteps + uses*longest)
	return p.hold(uses * longest * prefixCopies)
}

// lineEnds are the last bytes of what YAML takes for the end of a line: LF, CR, NEL, LS and PS; and of a byte order
// mark.
const lineEnds = "\n\r\x85\xa8\xa9\xbf"

// prefixLength returns how long the prefix is that a directive gives to a handle.
func prefixLength(directive []byte) int {
	isOver := func(r rune) bool { return r == '\n' || r == '\r' || r >= utf8.RuneSelf }
	if end := bytes.IndexFunc(directive, isOver); end >= 0 {
		directive = directive[:end]
	}
	words := bytes.Fields(directive)
	if len(words) < 3 { // %TAG, the handle, the prefix
		return 0
	}
	return len(words[2])
}
