package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// jsonError returns the fault of a body that is not JSON, which a json.Decoder has refused: its errors have no offsets
// in the body.
func jsonError(body []byte, refused error) error {
	if err := JSONSyntax(body); err != nil {
		refused = err
	}
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if r, _ := utf8.DecodeRune(trimmed); !strings.ContainsRune("[{\"", r) {
		return malformedJSON("%s: no array or object begins with %q; send YAML with Content-Type: application/x-yaml",
			placeIn(body, len(body)-len(trimmed)), r)
	}
	return malformedJSON("%w", refused)
}

// JSONSyntax returns an error that says where a text is not valid JSON and why, such as "line 2, column 14: the text
// ends early: a bracket or a quote is not closed"; nil if it is valid.
func JSONSyntax(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	err := json.Unmarshal(text, &json.RawMessage{})
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := max(int(syntax.Offset)-1, 0)
		return fmt.Errorf("%s: %s", placeIn(text, at), jsonReason(text, at, syntax.Error()))
	}
	return err //nolint:wrapcheck // all errors of invalid JSON are syntax errors
}

// jsonReason explains an error of encoding/json at an offset of a text.
func jsonReason(text []byte, at int, message string) string {
	_, context, found := strings.Cut(message, "' ") // invalid character 'x' CONTEXT
	if !found {
		if strings.HasPrefix(message, "unexpected end") {
			return "the text ends early: a bracket or a quote is not closed"
		}
		return message
	}
	r, _ := utf8.DecodeRune(text[min(at, len(text)):])
	switch {
	case context == "looking for beginning of value" && strings.ContainsRune("]}", r):
		return fmt.Sprintf("a value is missing before %q; remove the comma before it", r)
	case context == "looking for beginning of value" && r == '\'':
		return "a string is in double quotes, not in single ones"
	case context == "looking for beginning of value":
		return fmt.Sprintf("no value begins with %q; write a text in double quotes", r)
	case context == "looking for beginning of object key string" && r == '}':
		return "a key is missing before '}'; remove the comma before it"
	case context == "looking for beginning of object key string":
		return fmt.Sprintf("a key cannot begin with %q; write it in double quotes", r)
	}
	for _, known := range jsonReasons() {
		if strings.HasPrefix(context, known.context) {
			return fmt.Sprintf(known.reason, r)
		}
	}
	return message
}

// jsonContext is what encoding/json says about a character, without the end, and the reason to give for it.
type jsonContext struct{ context, reason string }

func jsonReasons() []jsonContext {
	return []jsonContext{
		{"after object key:value", "a comma or '}' must follow the value, not %q"},
		{"after object key", "a colon must follow the key, not %q"},
		{"after array element", "a comma or ']' must follow the item, not %q"},
		{"after top-level value", "the value has ended before %q; send several documents as one array"},
		{"in string literal", "the character %q cannot stand in a string; write it as an escape"},
		{"in string escape code", `no escape has %q after the backslash; write a backslash as \\`},
		{`in \u`, `%q is not a hexadecimal digit; the escape \u has four of them`},
		{"in literal", "the only words are true, false and null, and none has %q here; write a text in double quotes"},
		{"in numeric literal", "a number cannot have %q here; write a text in double quotes"},
		{"after decimal point", "a number cannot have %q after its point; write a text in double quotes"},
		{"in exponent", "a number cannot have %q in its exponent; write a text in double quotes"},
		{"exceeded max depth", "the brackets are nested beyond the depth that is read, at %q"},
	}
}
