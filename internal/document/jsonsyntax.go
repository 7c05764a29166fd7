package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const notJSON rule = "this is not valid JSON"

// jsonError returns the fault of a body that is not JSON, which a json.Decoder has refused: its errors have no offsets
// in the body.
func jsonError(body []byte) error {
	at, wrong, found := jsonMistake(body)
	if !found {
		at, wrong = Position{1, 1}, notJSON
	}
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) > 0 && strings.IndexByte("[{\"", trimmed[0]) < 0 {
		at = positionIn(body, len(body)-len(trimmed))
		wrong = "an array or an object must begin here; send YAML with Content-Type: application/x-yaml"
	}
	return malformed(JSON, wrong, "line %d, column %d: ", at.Line, at.Column)
}

// JSONSyntax returns an error that says where a text is not valid JSON and why, such as "line 2, column 14: the text
// ends early: a bracket or a quote is not closed"; nil if it is valid. It quotes no part of the text.
func JSONSyntax(text []byte) error {
	at, wrong, found := jsonMistake(text)
	if !found {
		return nil
	}
	return fmt.Errorf("line %d, column %d: %s", at.Line, at.Column, wrong)
}

// jsonMistake returns the position of the first error in a text that is not valid JSON; found is false if it is valid.
func jsonMistake(text []byte) (at Position, wrong rule, found bool) {
	if json.Valid(text) {
		return Position{}, "", false
	}
	syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, &json.RawMessage{}))
	if !ok {
		return Position{1, 1}, notJSON, true
	}
	offset := max(int(syntax.Offset)-1, 0)
	return positionIn(text, offset), jsonRule(text[min(offset, len(text)):], syntax.Error()), true
}

// jsonRule returns the rule that an error of encoding/json at the beginning of rest is about.
func jsonRule(rest []byte, message string) rule {
	_, context, ofCharacter := strings.Cut(message, "' ") // invalid character 'x' CONTEXT
	closes := bytes.HasPrefix(rest, []byte("]")) || bytes.HasPrefix(rest, []byte("}"))
	switch {
	case !ofCharacter && strings.HasPrefix(message, "unexpected end"):
		return "the text ends early: a bracket or a quote is not closed"
	case context == "looking for beginning of value" && closes:
		return "a value is missing before the bracket; remove the comma before it"
	case context == "looking for beginning of value" && bytes.HasPrefix(rest, []byte("'")):
		return "a string is in double quotes, not in single ones"
	case context == "looking for beginning of object key string" && closes:
		return "a key is missing before the bracket; remove the comma before it"
	}
	for _, known := range jsonRules() {
		if strings.HasPrefix(context, known.context) {
			return known.rule
		}
	}
	return notJSON
}

// jsonContext is what encoding/json says about a character, without the end, and the rule to give for it.
type jsonContext struct {
	context string
	rule    rule
}

func jsonRules() []jsonContext {
	return []jsonContext{
		{"looking for beginning of value", "no value begins with this character; write a text in double quotes"},
		{"looking for beginning of object key string", "a key cannot begin with this character; write it in double quotes"},
		{"after object key:value", "a comma or '}' must follow the value"},
		{"after object key", "a colon must follow the key"},
		{"after array element", "a comma or ']' must follow the item"},
		{"after top-level value", "the value has ended before this character; send several documents as one array"},
		{"in string literal", "this character cannot stand in a string; write it as an escape"},
		{"in string escape code", `no escape has this character after the backslash; write a backslash as \\`},
		{`in \u`, `this is not a hexadecimal digit; the escape \u has four of them`},
		{"in literal", "the only words are true, false and null; write a text in double quotes"},
		{"in numeric literal", "a number cannot have this character; write a text in double quotes"},
		{"after decimal point", "a number cannot have this character after its point; write a text in double quotes"},
		{"in exponent", "a number cannot have this character in its exponent; write a text in double quotes"},
		{"exceeded max depth", "the brackets are nested beyond the depth that is read"},
	}
}
