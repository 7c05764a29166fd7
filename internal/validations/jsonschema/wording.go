package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/words"
)

// Costs of messages in steps.
const (
	copyBytes = 8  // bytes that are searched per step
	sortSteps = 30 // comparing two strings
)

// messages returns the messages about a violation, which are those of python-jsonschema 4.10: one, or for required the
// first ones, one per missing key. They are of bounded length, and their cost is bounded with it.
func (v *failure) messages(w counter, most int) []string {
	switch {
	case v.added != nil:
		return []string{new(message).add(v.added.Message).String()}
	case v.keyword == "$ref", v.keyword == "$dynamicRef", v.keyword == "$recursiveRef":
		return []string{v.unresolved()}
	}
	w.spend(shownSize(v.value) / copyBytes) // the search for quotes may read a whole string
	if v.keyword == "required" {
		return v.missing(w, most)
	}
	return []string{v.message(w, new(message), v.held()).String()}
}

// held returns the value of the violated keyword.
func (v *failure) held() any { return v.node.members.At(v.shownKeyword()) }

func (v *failure) missing(w counter, most int) (messages []string) {
	object, _ := v.value.(mapping)
	required := Texts(v.held())
	keys := keysOf(w, object, len(required))
	for _, key := range required {
		if len(messages) == most {
			break
		}
		if w.spend(findSteps(key)); !keys.has(key) {
			messages = append(messages, new(message).quote(key).add(" is a required property").String())
		}
	}
	return messages
}

// shownSize returns the length of the strings in a value, up to what a message can show.
func shownSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		n := 0
		for _, item := range v[:min(len(v), maxMessage)] {
			if n += shownSize(item); n > maxMessage {
				break
			}
		}
		return n
	case mapping:
		n := 0
		for _, member := range v[:min(len(v), maxMessage)] {
			if n += len(member.Key) + shownSize(member.Value); n > maxMessage {
				break
			}
		}
		return n
	}
	return 0
}

// ends are messages that consist of the value and a text.
var ends = map[string]string{
	"anyOf":         " is not valid under any of the given schemas",
	"contains":      " does not contain items matching the given schema",
	"maxItems":      " is too long",
	"maxLength":     " is too long",
	"maxProperties": " has too many properties",
	"minItems":      " is too short",
	"minLength":     " is too short",
	"minProperties": " does not have enough properties",
	"uniqueItems":   " has non-unique elements",
}

// middles are messages that consist of the value, a text, and the keyword's value.
var middles = map[string]string{
	"enum":             " is not one of ",
	"maximum":          " is greater than the maximum of ",
	"minimum":          " is less than the minimum of ",
	"multipleOf":       " is not a multiple of ",
	"not":              " should not be valid under ",
	"format":           " is not a ",
	"exclusiveMaximum": " is greater than or equal to the maximum of ",
	"exclusiveMinimum": " is less than or equal to the minimum of ",
	"pattern":          " does not match ",
}

// message writes the message about a violation of a keyword that holds a value.
func (v *failure) message(w counter, m *message, held any) *message {
	if end, ok := ends[v.keyword]; ok {
		return m.repr(v.value).add(end)
	}
	if middle, ok := middles[v.keyword]; ok {
		return m.repr(v.value).add(middle).repr(held)
	}
	switch v.keyword {
	case "":
		return m.add("False schema does not allow ").repr(v.value)
	case "type":
		m.repr(v.value).add(" is not of type ")
		if names, ok := held.([]any); ok {
			return m.series(names)
		}
		return m.repr(held)
	case "const":
		return m.repr(held).add(" was expected")
	case "oneOf":
		return v.oneOf(m, held)
	case "additionalProperties":
		return v.additionalProperties(w, m)
	case "dependencies", "dependentRequired":
		return m.repr(v.extras[0]).add(" is a dependency of ").repr(v.extras[1])
	case "unevaluatedProperties":
		return unexpected(m.add("Unevaluated properties are not allowed ("), v.extras)
	case "unevaluatedItems":
		return unexpected(m.add("Unevaluated items are not allowed ("), v.extras)
	case "additionalItems", "items":
		return v.closedItems(m)
	case "minContains":
		return m.add("Too few items match the given schema (expected at least ").repr(held).
			add(" but only ", v.note, " matched)")
	case "maxContains":
		return m.add("Too many items match the given schema (expected at most ").repr(held).add(")")
	}
	return m
}

// oneOf writes the message for a value that is valid against none or several of the schemas. Like Python, it names the
// first of several last.
func (v *failure) oneOf(m *message, held any) *message {
	if v.note == "" {
		return m.repr(v.value).add(ends["anyOf"])
	}
	schemas, _ := held.([]any)
	var valid []any
	for index := range strings.SplitSeq(v.note, " ") {
		i, _ := strconv.Atoi(index)
		valid = append(valid, schemas[i])
	}
	return m.repr(v.value).add(" is valid under each of ").series(append(valid[1:], valid[0]))
}

func (v *failure) additionalProperties(w counter, m *message) *message {
	extras := v.additional(w)
	patterns, ok := v.node.members.At("patternProperties").(mapping)
	if !ok {
		return unexpected(m.add("Additional properties are not allowed ("), extras)
	}
	verb := " do"
	if len(extras) == 1 {
		verb = " does"
	}
	w.spend((len(extras) + len(patterns)) * sortSteps * 10)
	known := make([]any, len(patterns))
	for i, p := range patterns {
		known[i] = p.Key
	}
	return m.series(sorted(extras)).add(verb, " not match any of the regexes: ").series(sorted(known))
}

func sorted(names []any) []any {
	slices.SortFunc(names, func(a, b any) int { return strings.Compare(Text(a), Text(b)) })
	return names
}

// closedItems writes the message about items after the prefix, which are not allowed.
func (v *failure) closedItems(m *message) *message {
	items, _ := v.value.([]any)
	known := len(v.node.arrays.prefix)
	if v.keyword == "additionalItems" {
		return unexpected(m.add("Additional items are not allowed ("), items[known:])
	}
	return m.add("Expected at most ", strconv.Itoa(known), " items, but found ", strconv.Itoa(len(items)))
}

func unexpected(m *message, extras []any) *message {
	verb := " were"
	if len(extras) == 1 {
		verb = " was"
	}
	return m.series(extras).add(verb, " unexpected)")
}

// maxMessage bounds a message, in bytes.
const maxMessage = 4 << 10

// message collects text up to maxMessage bytes and drops the rest.
type message struct{ text []byte }

func (m *message) isFull() bool { return len(m.text) > maxMessage }

// String returns the text. If it was too long, it is cut at a character and ends with "…".
func (m *message) String() string { return words.FirstBytes(string(m.text), maxMessage-len("…")) }

// add writes plain text.
func (m *message) add(parts ...string) *message {
	for _, part := range parts {
		if !m.isFull() {
			m.text = append(m.text, part...)
		}
	}
	return m
}

// repr writes a value as Python's repr() writes it.
func (m *message) repr(v any) *message {
	if !m.isFull() {
		m.text = document.AppendRepr(m.text, v, maxMessage)
	}
	return m
}

// quote writes a string as Python's repr() writes it.
func (m *message) quote(s string) *message {
	m.text = document.AppendQuoted(m.text, s, maxMessage)
	return m
}

// series writes the reprs of items, separated by commas.
func (m *message) series(items []any) *message {
	m.text = document.AppendReprs(m.text, items, maxMessage)
	return m
}
