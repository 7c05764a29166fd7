package document

import (
	"bytes"
	"regexp"
)

// byteOrderMark is U+FEFF, with which some editors begin a text.
var byteOrderMark = []byte("\ufeff")

// readable returns a stream of YAML as the readers take it: without the byte order marks before its documents, and with
// comments instead of directives that change nothing, %YAML 1.x and unknown ones. Lines keep their numbers.
func readable(text []byte) ([]byte, *syntaxError) {
	text = withoutMarks(text)
	if !holdsDirective(text) {
		return text, nil
	}
	p := prologue{text: text, begins: true}
	for start := 0; start < len(text) && p.wrong == nil; {
		end := len(text)
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		p.line(start, bytes.TrimRight(text[start:end], " \t\r\n"))
		start = end
	}
	if p.wrong == nil && p.begins && len(p.found) > 0 {
		p.refuse(noDocument)
	}
	return p.text, p.wrong
}

// markedLine matches a line that begins or ends a document, after a byte order mark. markedEnd matches a line that ends
// a document, before one.
var (
	markedLine = regexp.MustCompile(`\n\x{feff}(%|(?:---|\.\.\.)(?:[ \t\r\n]|$))`)
	markedEnd  = regexp.MustCompile(`(?m)(^\.\.\.(?:[ \t][^\n]*)?\r?\n)\x{feff}`)
)

// withoutMarks returns a text without the byte order marks at its beginning and those before its other documents.
func withoutMarks(text []byte) []byte {
	text = bytes.TrimPrefix(text, byteOrderMark)
	if !bytes.Contains(text, byteOrderMark) {
		return text
	}
	text = markedLine.ReplaceAll(text, []byte("\n$1"))
	return markedEnd.ReplaceAll(text, []byte("$1"))
}

// prologue is the state of looking for the directives of a stream, line by line.
type prologue struct {
	text   []byte
	copied bool
	begins bool  // no document has begun since the beginning or the last end marker
	number int   // of the line
	found  []int // offsets of directives that become comments once a document begins
	yaml   bool  // one of them is %YAML
	wrong  *syntaxError
}

const (
	noDocument   rule = "a line with --- must follow directives, which begin with '%'; add it, or indent or quote the text"
	otherVersion rule = "the directive %YAML asks for another version than 1.x; write %YAML 1.2, or remove it"
	noVersion    rule = "the directive %YAML needs a version, such as %YAML 1.2, and nothing else; correct or remove it"
	twoVersions  rule = "two directives %YAML precede one document; remove one"
)

var (
	directiveName = regexp.MustCompile(`^%([0-9A-Za-z_-]+)(?:[ \t]|$)`)
	yamlDirective = regexp.MustCompile(`^%YAML[ \t]+([0-9]+)\.[0-9]+(?:[ \t]+#.*)?$`)
)

func (p *prologue) line(start int, line []byte) {
	p.number++
	isMarker := func(marker string) bool {
		rest, found := bytes.CutPrefix(line, []byte(marker))
		return found && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
	}
	content := bytes.TrimLeft(line, " \t")
	switch {
	case len(content) == 0, content[0] == '#':
	case line[0] == '%':
		p.directive(start, line)
	case isMarker("---"):
		p.comment()
		p.begins = false
	case p.begins && len(p.found) > 0:
		p.refuse(noDocument)
	default:
		p.begins, p.found, p.yaml = isMarker("..."), nil, false
	}
}

// directive records a directive that changes nothing. Others are left to the library. A directive %YAML may follow a
// document without an end marker, as in PyYAML.
func (p *prologue) directive(start int, line []byte) {
	name := directiveName.FindSubmatch(line)
	var version [][]byte
	if bytes.HasPrefix(line, []byte("%YAML")) {
		version = yamlDirective.FindSubmatch(line)
	}
	switch isYAML := name != nil && string(name[1]) == "YAML"; {
	case name == nil, string(name[1]) == "TAG", !p.begins && (version == nil || string(version[1]) != "1"):
		return
	case isYAML && version == nil:
		p.refuse(noVersion)
	case isYAML && string(version[1]) != "1":
		p.refuse(otherVersion)
	case isYAML && p.yaml:
		p.refuse(twoVersions)
	default:
		p.yaml = p.yaml || isYAML
		p.found = append(p.found, start)
	}
}

// comment makes comments of the directives that were found.
func (p *prologue) comment() {
	if len(p.found) > 0 && !p.copied {
		p.text, p.copied = bytes.Clone(p.text), true
	}
	for _, start := range p.found {
		p.text[start] = '#'
	}
	p.found, p.yaml = nil, false
}

func (p *prologue) refuse(r rule) { p.wrong = &syntaxError{line: p.number, rule: r, own: true} }
