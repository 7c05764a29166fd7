package jsonschema

import (
	"slices"
	"strconv"
	"strings"
)

// held is what the violated keyword holds in the schema.
func (v *violation) held() *value {
	if held := v.node.raw.member(v.keyword); held != nil {
		return held
	}
	return &value{kind: null}
}

// words returns what python-jsonschema 4.10 says of the violation: one message, but for required, which has one for
// each key, of which only the first are returned.
func (v *violation) words(w work, most int) []string {
	if v.keyword != "required" {
		return []string{v.message(w).String()} // which may move v
	}
	var said []string
	for _, key := range v.held().items {
		w.spend(lookupSteps + len(key.text)/keyBytes)
		if v.value.member(key.text) != nil {
			continue
		}
		if said = append(said, new(message).repr(key).add(" is a required property").String()); len(said) == most {
			break
		}
	}
	return said
}

// ends are the messages that are the value and these words.
var ends = map[string]string{
	"anyOf":         " is not valid under any of the given schemas",
	"maxItems":      " is too long",
	"maxLength":     " is too long",
	"maxProperties": " has too many properties",
	"minItems":      " is too short",
	"minLength":     " is too short",
	"minProperties": " does not have enough properties",
	"uniqueItems":   " has non-unique elements",
}

// middles are the messages that are the value, these words, and what the keyword holds.
var middles = map[string]string{
	"enum":       " is not one of ",
	"maximum":    " is greater than the maximum of ",
	"minimum":    " is less than the minimum of ",
	"multipleOf": " is not a multiple of ",
	"not":        " should not be valid under ",
	"pattern":    " does not match ",
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
	case "type":
		return v.types(m)
	case "exclusiveMinimum":
		return v.exclusive(m, " is less than or equal to the minimum of ", "minimum")
	case "exclusiveMaximum":
		return v.exclusive(m, " is greater than or equal to the maximum of ", "maximum")
	case "oneOf":
		return v.oneOf(m)
	case "additionalProperties":
		return v.additionalProperties(w, m)
	case "additionalItems":
		return v.additionalItems(m)
	case "dependencies":
		return v.dependency(m)
	case own:
		if said, ok := v.addedTo(); ok {
			return m.add(said.Message)
		}
	case "$ref":
		return m.add("Unresolvable JSON pointer: ").quote(v.node.ref.fragment)
	}
	return m.add(v.note)
}

func (v *violation) types(m *message) *message {
	m.repr(v.value).add(" is not of type ")
	if held := v.held(); held.kind == array {
		return m.series(held.items)
	}
	return m.repr(v.held())
}

// exclusive words a limit that is exclusive; Draft 4 says so in a second keyword, and Python shows the first.
func (v *violation) exclusive(m *message, middle, keyword string) *message {
	v.keyword = keyword
	v.schema[len(v.schema)-1] = keyword
	return m.repr(v.value).add(middle).repr(v.held())
}

// oneOf words a value that none or several of the schemas take. Python names the first of several last.
func (v *violation) oneOf(m *message) *message {
	_, indexes, _ := strings.Cut(v.note, " ")
	if indexes == "" {
		return m.repr(v.value).add(ends["anyOf"])
	}
	var valid []*value
	for index := range strings.SplitSeq(indexes, " ") {
		i, _ := strconv.Atoi(index)
		valid = append(valid, v.held().items[i])
	}
	return m.repr(v.value).add(" is valid under each of ").series(append(valid[1:], valid[0]))
}

func (v *violation) additionalProperties(w work, m *message) *message {
	extras := v.extras(w)
	patterns := v.node.raw.member("patternProperties")
	if patterns == nil {
		return unexpected(m.add("Additional properties are not allowed ("), extras)
	}
	verb := " do"
	if len(extras) == 1 {
		verb = " does"
	}
	w.spend((len(extras) + len(patterns.keys)) * compareSteps * 10)
	slices.SortFunc(extras, func(a, b *value) int { return strings.Compare(a.text, b.text) })
	var known []*value
	for _, key := range slices.Sorted(slices.Values(patterns.keys)) {
		known = append(known, &value{kind: text, text: key})
	}
	return m.series(extras).add(verb, " not match any of the regexes: ").series(known)
}

// extras returns the keys that neither properties nor patternProperties know, in the order written.
func (v *violation) extras(w work) []*value {
	var extras []*value
	for _, key := range v.value.keys {
		if !v.node.asserts.closed.knows(w, key) {
			extras = append(extras, &value{kind: text, text: key})
		}
	}
	return extras
}

func (v *violation) additionalItems(m *message) *message {
	return unexpected(m.add("Additional items are not allowed ("), v.value.items[v.node.asserts.tuple:])
}

func unexpected(m *message, extras []*value) *message {
	verb := " were"
	if len(extras) == 1 {
		verb = " was"
	}
	return m.series(extras).add(verb, " unexpected)")
}

// dependency words a key that another one wants. Python's path ends at the keyword.
func (v *violation) dependency(m *message) *message {
	if len(v.names) != 2 {
		return m.add(v.note)
	}
	i, _ := strconv.Atoi(v.names[1])
	wanted := v.held().member(v.names[0]).items[i]
	return m.repr(wanted).add(" is a dependency of ").quote(v.names[0])
}
