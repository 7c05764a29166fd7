package jsonschema

import (
	"slices"
	"strconv"
	"strings"
)

// held returns the value of the violated keyword.
func (v *violation) held() any { return v.node.members.At(v.shownKeyword()) }

// words returns the messages of python-jsonschema 4.10 about the violation: one message, or for required the first
// ones, one per missing key.
func (v *violation) words(w work, most int) []string {
	w.spend(shownSize(v.value) / copyBytes) // the search for quotes may read a whole string
	if v.keyword != "required" {
		return []string{v.message(w).String()}
	}
	keys, _ := v.value.(mapping)
	index := make(map[string]struct{}, len(keys))
	w.spend(len(keys) * lookupSteps)
	for _, member := range keys {
		index[member.Key] = struct{}{}
	}
	var said []string
	for _, key := range texts(v.held()) {
		w.spend(lookupSteps + len(key)/keyBytes)
		if _, ok := index[key]; ok {
			continue
		}
		if said = append(said, new(message).repr(key).add(" is a required property").String()); len(said) == most {
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

func (v *violation) message(w work) *message {
	m := new(message)
	if end, ok := ends[v.keyword]; ok {
		return m.repr(v.value).add(end)
	}
	if middle, ok := middles[v.keyword]; ok {
		return m.repr(v.value).add(middle).repr(v.held())
	}
	switch v.keyword {
	case "":
		if v.added != nil {
			return m.add(v.added.Message)
		}
		return m.add("False schema does not allow ").repr(v.value)
	case "type":
		return v.types(m)
	case "const":
		return m.repr(v.held()).add(" was expected")
	case "oneOf":
		return v.oneOf(m)
	case "additionalProperties":
		return v.additionalProperties(w, m)
	case "dependencies", "dependentRequired":
		return m.repr(v.extras[0]).add(" is a dependency of ").repr(v.extras[1])
	case "unevaluatedProperties":
		return unexpected(m.add("Unevaluated properties are not allowed ("), v.extras)
	case "unevaluatedItems":
		return unexpected(m.add("Unevaluated items are not allowed ("), v.extras)
	case "items", "additionalItems":
		return v.closedItems(m)
	case "minContains":
		return m.add("Too few items match the given schema (expected at least ").repr(v.held()).
			add(" but only ", v.note, " matched)")
	case "maxContains":
		return m.add("Too many items match the given schema (expected at most ").repr(v.held()).add(")")
	}
	return v.unresolved(m)
}

// unresolved writes the message for a reference without a target, or with an endless cycle of references.
func (v *violation) unresolved(m *message) *message {
	r := v.node.ref
	if v.keyword != "$ref" {
		r = v.node.dynamic
	}
	if r != nil && r.other != "" {
		return m.add("the DataSchema ", r.other, " is not registered, or cannot be used")
	}
	if r == nil || r.to != nil {
		return m.add("the schema is a loop: it leads back to itself at the same place of the data")
	}
	return m.add("Unresolvable JSON pointer: ").quote(r.fragment)
}

func (v *violation) types(m *message) *message {
	m.repr(v.value).add(" is not of type ")
	if held, ok := v.held().([]any); ok {
		return m.series(held)
	}
	return m.repr(v.held())
}

// oneOf writes the message for a value that is valid against none or several of the schemas. Like Python, it names the
// first of several last.
func (v *violation) oneOf(m *message) *message {
	if v.note == "" {
		return m.repr(v.value).add(ends["anyOf"])
	}
	schemas, _ := v.held().([]any)
	var valid []any
	for index := range strings.SplitSeq(v.note, " ") {
		i, _ := strconv.Atoi(index)
		valid = append(valid, schemas[i])
	}
	return m.repr(v.value).add(" is valid under each of ").series(append(valid[1:], valid[0]))
}

func (v *violation) additionalProperties(w work, m *message) *message {
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
	slices.SortFunc(extras, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	known := make([]any, len(patterns))
	for i, p := range patterns {
		known[i] = p.Key
	}
	slices.SortFunc(known, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	return m.series(extras).add(verb, " not match any of the regexes: ").series(known)
}

// additional returns the keys that neither properties nor patternProperties describe, in written order.
func (v *violation) additional(w work) (extras []any) {
	m, _ := v.value.(mapping)
	rules := v.node.objects
	for _, member := range m {
		w.spend(lookupSteps + len(member.Key)/keyBytes)
		if rules.properties.find(member.Key) == nil &&
			!slices.ContainsFunc(rules.patterns, func(p patternRule) bool { return w.matches(p.pattern, member.Key) }) {
			extras = append(extras, member.Key)
		}
	}
	return extras
}

func (v *violation) closedItems(m *message) *message {
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
