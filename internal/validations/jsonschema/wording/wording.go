// Package wording writes the messages of python-jsonschema 4.10.
//
// A Violation has everything that a message shows: it knows neither schemas nor where in the data a value is. Messages
// are of bounded length, and their cost is bounded with it.
package wording

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema/values"
	"purser/internal/validations/jsonschema/work"
)

// Violation is a violation of a keyword by a value.
type Violation struct {
	Keyword string // "" if the schema is false
	Value   any
	Held    any // the value of the keyword
	// Extras are the items or names that are not allowed; of a dependency they are the missing key and the key that
	// requires it.
	Extras []any
	// Patterns are the patternProperties next to additionalProperties, nil if there are none.
	Patterns document.Mapping
	// Note has the indexes of the valid schemas of oneOf, separated by spaces, or the number of items that match
	// contains.
	Note string
}

// Costs in steps.
const (
	copyBytes = 8  // bytes that are searched per step
	sortSteps = 30 // comparing two strings
)

// Messages returns the messages about a violation: one, or for required the first ones, one per missing key.
func (v *Violation) Messages(w work.Counter, most int) []string {
	w.Spend(shownSize(v.Value) / copyBytes) // the search for quotes may read a whole string
	if v.Keyword != "required" {
		return []string{v.message(w).String()}
	}
	object, _ := v.Value.(document.Mapping)
	required := values.Texts(v.Held)
	keys := values.KeysOf(w, object, len(required))
	var said []string
	for _, key := range required {
		if w.Spend(work.Find(key)); keys.Has(key) {
			continue
		}
		if said = append(said, new(Message).Quote(key).Add(" is a required property").String()); len(said) == most {
			break
		}
	}
	return said
}

// shownSize returns the length of the strings in a value, up to what a message can show.
func shownSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		n := 0
		for _, item := range v[:min(len(v), MaxMessage)] {
			if n += shownSize(item); n > MaxMessage {
				break
			}
		}
		return n
	case document.Mapping:
		n := 0
		for _, member := range v[:min(len(v), MaxMessage)] {
			if n += len(member.Key) + shownSize(member.Value); n > MaxMessage {
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

// message writes the message about a violation of any keyword but required. It is empty for a reference, because a
// violation does not know the target.
func (v *Violation) message(w work.Counter) *Message {
	m := new(Message)
	if end, ok := ends[v.Keyword]; ok {
		return m.Repr(v.Value).Add(end)
	}
	if middle, ok := middles[v.Keyword]; ok {
		return m.Repr(v.Value).Add(middle).Repr(v.Held)
	}
	switch v.Keyword {
	case "":
		return m.Add("False schema does not allow ").Repr(v.Value)
	case "type":
		return v.types(m)
	case "const":
		return m.Repr(v.Held).Add(" was expected")
	case "oneOf":
		return v.oneOf(m)
	case "additionalProperties":
		return v.additionalProperties(w, m)
	case "dependencies", "dependentRequired":
		return m.Repr(v.Extras[0]).Add(" is a dependency of ").Repr(v.Extras[1])
	case "unevaluatedProperties":
		return unexpected(m.Add("Unevaluated properties are not allowed ("), v.Extras)
	case "unevaluatedItems":
		return unexpected(m.Add("Unevaluated items are not allowed ("), v.Extras)
	case "additionalItems":
		return unexpected(m.Add("Additional items are not allowed ("), v.Extras)
	case "items":
		return v.closedItems(m)
	case "minContains":
		return m.Add("Too few items match the given schema (expected at least ").Repr(v.Held).
			Add(" but only ", v.Note, " matched)")
	case "maxContains":
		return m.Add("Too many items match the given schema (expected at most ").Repr(v.Held).Add(")")
	}
	return m
}

func (v *Violation) types(m *Message) *Message {
	m.Repr(v.Value).Add(" is not of type ")
	if held, ok := v.Held.([]any); ok {
		return m.series(held)
	}
	return m.Repr(v.Held)
}

// oneOf writes the message for a value that is valid against none or several of the schemas. Like Python, it names the
// first of several last.
func (v *Violation) oneOf(m *Message) *Message {
	if v.Note == "" {
		return m.Repr(v.Value).Add(ends["anyOf"])
	}
	schemas, _ := v.Held.([]any)
	var valid []any
	for index := range strings.SplitSeq(v.Note, " ") {
		i, _ := strconv.Atoi(index)
		valid = append(valid, schemas[i])
	}
	return m.Repr(v.Value).Add(" is valid under each of ").series(append(valid[1:], valid[0]))
}

func (v *Violation) additionalProperties(w work.Counter, m *Message) *Message {
	if v.Patterns == nil {
		return unexpected(m.Add("Additional properties are not allowed ("), v.Extras)
	}
	verb := " do"
	if len(v.Extras) == 1 {
		verb = " does"
	}
	w.Spend((len(v.Extras) + len(v.Patterns)) * sortSteps * 10)
	known := make([]any, len(v.Patterns))
	for i, p := range v.Patterns {
		known[i] = p.Key
	}
	return m.series(sorted(v.Extras)).Add(verb, " not match any of the regexes: ").series(sorted(known))
}

func sorted(names []any) []any {
	return slices.SortedFunc(slices.Values(names), func(a, b any) int {
		return strings.Compare(values.Text(a), values.Text(b))
	})
}

func (v *Violation) closedItems(m *Message) *Message {
	items, _ := v.Value.([]any)
	known := len(items) - len(v.Extras)
	return m.Add("Expected at most ", strconv.Itoa(known), " items, but found ", strconv.Itoa(len(items)))
}

func unexpected(m *Message, extras []any) *Message {
	verb := " were"
	if len(extras) == 1 {
		verb = " was"
	}
	return m.series(extras).Add(verb, " unexpected)")
}
