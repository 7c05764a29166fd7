package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"purser/internal/budget"
)

// Costs of JSON in the budget's steps, besides its bytes.
const (
	itemSteps  = 1500 // of an item of an array of documents
	tokenSteps = 300
)

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
		segments = append(segments, Segment{Text: body[end-len(item) : end : end], Line: at.line, indent: at.column - 1})
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

// json decodes an item of a JSON array. splitJSON has checked its syntax.
func (d *decoder) json() (any, error) {
	return d.jsonValue(jsonTokens(d.segment.Text), 1)
}

func (d *decoder) jsonValue(tokens *jsontext.Decoder, depth int) (any, error) {
	before := int(tokens.InputOffset())
	token, err := tokens.ReadToken()
	if err != nil {
		return nil, d.segment.malformedAt(positionIn(d.segment.Text, before), notJSON)
	}
	bytes := int(tokens.InputOffset()) - before
	if err := d.count(bytes, depth); err != nil {
		return nil, err
	}
	if err := d.spend(tokenSteps+bytes*byteSteps, bytes); err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '[':
		return d.jsonList(tokens, depth)
	case '{':
		return d.jsonMapping(tokens, depth)
	case '"':
		return token.String(), nil
	case '0':
		number, wrong := jsonNumber(token.String())
		if wrong != "" {
			return nil, d.segment.malformedAt(d.jsonPosition(before), wrong)
		}
		return number, nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func jsonNumber(text string) (any, rule) {
	if !strings.ContainsAny(text, ".eE") {
		return integer(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0) {
		return nil, floatTooBig
	}
	return FormatFloat(f), ""
}

func (d *decoder) jsonList(tokens *jsontext.Decoder, depth int) (any, error) {
	list := []any{}
	for tokens.PeekKind() != ']' {
		item, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, _ = tokens.ReadToken() // the bracket that PeekKind found
	return list, nil
}

func (d *decoder) jsonMapping(tokens *jsontext.Decoder, depth int) (any, error) {
	b := newMappingBuilder(nil, 0)
	for tokens.PeekKind() != '}' {
		before := int(tokens.InputOffset())
		key, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		value, err := d.jsonValue(tokens, depth+1)
		if err != nil {
			return nil, err
		}
		if first := b.set(key.(string), value, before); first != 0 { //nolint:forcetypeassert // JSON has no other keys
			positions := func() (Position, Position) { return d.jsonPosition(first), d.jsonPosition(before) }
			d.noteDuplicate(key.(string), depth, positions) //nolint:forcetypeassert // as above
		}
	}
	_, _ = tokens.ReadToken() // the bracket that PeekKind found
	return b.members, nil
}

// jsonPosition returns the position of the token after an offset.
func (d *decoder) jsonPosition(after int) Position {
	return positionIn(d.segment.Text, nextToken(d.segment.Text, after))
}

// nextToken returns the offset of the first token of JSON after an offset.
func nextToken(text []byte, after int) int {
	return len(text) - len(bytes.TrimLeft(text[after:], jsonBlanks+",:"))
}

// jsonNode reads a value as nodes with a kind, a value and a position; nil if the text is not valid JSON. The YAML
// library does not read all JSON.
func jsonNode(tokens *jsontext.Decoder, at *cursor) *yaml.Node {
	start := nextToken(at.text, int(tokens.InputOffset()))
	token, err := tokens.ReadToken()
	if err != nil {
		return nil
	}
	at.advance(start)
	node := &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Line: at.line, Column: at.column}
	end := jsontext.Kind('}')
	switch token.Kind() {
	case '"':
		node.Value = token.String()
		return node
	case '{':
		node.Kind = yaml.MappingNode
	case '[':
		node.Kind, end = yaml.SequenceNode, ']'
	default:
		return node
	}
	for tokens.PeekKind() != end {
		child := jsonNode(tokens, at)
		if child == nil {
			return nil
		}
		node.Content = append(node.Content, child)
	}
	_, _ = tokens.ReadToken() // the bracket that PeekKind found
	return node
}
