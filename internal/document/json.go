package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Costs of JSON in the budget's steps, besides its bytes.
const (
	itemSteps     = 1500 // of an item of an array of documents
	jsonMarkSteps = 400  // of a separator
)

// nodesOfBlock is how many nodes are allocated together.
const nodesOfBlock = 64

// jsonTokens returns a reader of JSON text, which does not copy it.
func jsonTokens(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
}

// splitJSON splits an array of documents into its items. A single object counts as an array of one.
func splitJSON(meter *budget.Meter, body []byte, limit int) (segments []Segment, err error) {
	if len(bytes.TrimLeft(body, jsonBlanks)) == 0 {
		return nil, nil
	}
	tokens := jsonTokens(body)
	isList := tokens.PeekKind() == '['
	if isList {
		_, _ = tokens.ReadToken()
	}
	at := cursor{text: body, line: 1, column: 1}
	for isList && tokens.PeekKind() != ']' || !isList && len(segments) == 0 {
		item, err := tokens.ReadValue()
		if err != nil {
			return nil, jsonFault(body, jsonError(body, err))
		}
		end := int(tokens.InputOffset())
		at.advance(end - len(item))
		segments = append(segments, Segment{
			Text: body[end-len(item) : end : end], Line: at.line, indent: at.column - 1, offset: end - len(item),
		})
		if err := meter.Spend(itemSteps); err != nil {
			return nil, err
		}
		if len(segments) == limit {
			return segments, nil
		}
	}
	if isList {
		_, _ = tokens.ReadToken() // the bracket that PeekKind found
	}
	if wrong := jsonEnd(body, int(tokens.InputOffset())); wrong != nil {
		return nil, jsonFault(body, wrong)
	}
	return segments, nil
}

// jsonFault returns the fault of a body with a syntax error.
func jsonFault(body []byte, wrong *syntaxError) error {
	trimmed := bytes.TrimLeft(body, jsonBlanks)
	if len(trimmed) > 0 && strings.IndexByte("[{\"", trimmed[0]) < 0 {
		wrong = syntaxErrorAt(body, len(body)-len(trimmed),
			"an array or an object must begin here; send YAML with Content-Type: application/x-yaml")
	}
	return malformed(JSON, Mistake{At: Position{wrong.line, wrong.column}, Rule: string(wrong.rule)})
}

// JSONSyntax returns an error that says where a text is not valid JSON and why, such as "line 2, column 14: the text
// ends early: a bracket or a quote is not closed"; nil if it is valid. It quotes no part of the text.
func JSONSyntax(text []byte) error {
	tokens := jsonTokens(text)
	_, err := tokens.ReadValue()
	wrong := jsonEnd(text, int(tokens.InputOffset()))
	if err != nil {
		wrong = jsonError(text, err)
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("line %d, column %d: %w", wrong.line, wrong.column, wrong)
}

const (
	jsonBlanks = " \t\r\n"

	notJSON       rule = "this is not valid JSON"
	halfCharacter rule = `an escape stands for half of a character, as \ud800 does; write the character itself`
)

// jsonEnd returns the error of a text that does not end after the value that ends at an offset; nil if it does.
func jsonEnd(text []byte, offset int) *syntaxError {
	rest := bytes.TrimLeft(text[offset:], jsonBlanks)
	if len(rest) == 0 {
		return nil
	}
	return syntaxErrorAt(text, len(text)-len(rest),
		"the value has ended before this character; send several documents as one array")
}

// jsonError converts an error of jsontext.
func jsonError(text []byte, refused error) *syntaxError {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](refused)
	switch {
	case errors.Is(refused, io.ErrUnexpectedEOF), errors.Is(refused, io.EOF):
		return syntaxErrorAt(text, max(0, len(text)-1), "the text ends early: a bracket or a quote is not closed")
	case !ok:
		return syntaxErrorAt(text, 0, notJSON)
	}
	at := min(int(syntax.ByteOffset), len(text))
	if end := nextToken(text, at); closes(text[end:]) && !strings.Contains(syntax.Err.Error(), " in string ") {
		// jsontext refuses the comma before it
		at = end
	}
	return syntaxErrorAt(text, at, jsonRule(text[at:], syntax.Err))
}

func closes(text []byte) bool { return len(text) > 0 && (text[0] == ']' || text[0] == '}') }

// jsonRule returns the rule that an error of jsontext at the beginning of rest is about. Most of these errors have no
// type, so it looks for parts of their texts; for others it returns notJSON.
func jsonRule(rest []byte, refused error) rule {
	message := refused.Error()
	isIn := func(context string) bool { return strings.Contains(message, context) }
	isName := errors.Is(refused, jsontext.ErrNonStringName) || isIn(" at start of string ")
	switch {
	case isIn("exceeded max depth"):
		return "the depth exceeds 10,000 levels; make it flatter"
	case isName && closes(rest):
		return "a key is missing before the bracket; remove the comma before it"
	case isName:
		return "a key cannot begin with this character; write it in double quotes"
	case isIn(" at start of value") && closes(rest):
		return "a value is missing before the bracket; remove the comma before it"
	case isIn(" at start of value") && bytes.HasPrefix(rest, []byte("'")):
		return "a string is in double quotes, not in single ones"
	case isIn(" at start of value"):
		return "no value begins with this character; write a text in double quotes"
	case isIn(" after object value "):
		return "a comma or '}' must follow the value"
	case isIn(" after object name "):
		return "a colon must follow the key"
	case isIn(" after array element "):
		return "a comma or ']' must follow the item"
	case utf16.IsSurrogate(escapedUnit(rest)):
		return halfCharacter
	case bytes.HasPrefix(rest, []byte(`\`)):
		return `this is not an escape; write a backslash as \\`
	case isIn(" in string "):
		return "this character cannot stand in a string; write it as an escape"
	case isIn(" in literal "):
		return "the only words are true, false and null; write a text in double quotes"
	case isIn(" in number "):
		return "a number cannot have this character; write a text in double quotes"
	}
	return notJSON
}

// escapedUnit returns the code unit of the \u escape at the beginning of text, 0 if there is none.
func escapedUnit(text []byte) rune {
	if len(text) < len(`\ud800`) || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}

// json decodes an item of a JSON array.
func (d *decoder) json() (any, error) {
	p := &parser{meter: d.meter}
	defer p.release()
	root, err := p.json(d.segment.Text)
	if err != nil {
		return nil, err
	}
	return d.value(root, 1)
}

// json parses a value, whose syntax splitJSON has checked, as nodes, as parse does for YAML.
func (p *parser) json(text []byte) (*yaml.Node, error) {
	marks := marksOf(text)
	p.meter.Charge(len(text)*byteSteps + marks*jsonMarkSteps)
	if err := p.hold(len(text) + marks*nodeBytes); err != nil {
		return nil, err
	}
	r := nodeReader{scanner{in: string(text)}, cursor{text: text, line: 1, column: 1}, nil}
	return r.node(), nil
}

// nodeReader reads JSON text as nodes.
type nodeReader struct {
	scanner

	position cursor
	block    []yaml.Node // memory for the next nodes
}

func (r *nodeReader) node() *yaml.Node {
	r.space()
	r.position.advance(r.at)
	if len(r.block) == 0 {
		r.block = make([]yaml.Node, nodesOfBlock)
	}
	n := &r.block[0]
	r.block = r.block[1:]
	n.Kind, n.Line, n.Column = yaml.ScalarNode, r.position.line, r.position.column
	switch start := r.at; r.in[start] {
	case '{':
		n.Kind = yaml.MappingNode
		for first := true; r.more(first, '}'); first = false {
			key := r.node()
			r.space()
			r.word(":")
			n.Content = append(n.Content, key, r.node())
		}
	case '[':
		n.Kind = yaml.SequenceNode
		for first := true; r.more(first, ']'); first = false {
			n.Content = append(n.Content, r.node())
		}
	case '"':
		n.Style, n.Value = yaml.DoubleQuotedStyle, r.str()
	default:
		if number, isNumber := r.value().(Number); isNumber && number.IsFloat() {
			n.Style, n.Tag = yaml.TaggedStyle, "!!float" // 1e5 is a string in YAML
		}
		n.Value = r.in[start:r.at]
	}
	return n
}

// nextToken returns the offset of the first token of JSON after an offset.
func nextToken(text []byte, after int) int {
	return len(text) - len(bytes.TrimLeft(text[after:], jsonBlanks+",:"))
}
