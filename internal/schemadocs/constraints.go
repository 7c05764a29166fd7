package schemadocs

import (
	"fmt"
	"strings"

	"purser/internal/document"
)

// constraints says in phrases what a schema wants of a value besides its type, its members and its items.
func (w *writer) constraints(schema any, depth int) []string {
	m, ok := schema.(document.Mapping)
	if _, isRef := reference(m); !ok || isRef || depth > maxNesting {
		return nil
	}
	var said []string
	add := func(phrase string) {
		if phrase != "" {
			said = append(said, phrase)
		}
	}
	add(w.enumeration(m))
	add(interval(m))
	add(number(m, "multipleOf", "a multiple of "))
	add(counted(m, "minLength", "maxLength", "character", "characters"))
	if pattern, isText := m.At("pattern").(string); isText {
		add("matches " + w.code(pattern))
	}
	if format, isText := m.At("format").(string); isText {
		add("format " + w.code(format) + " (not checked)")
	}
	add(counted(m, "minItems", "maxItems", "item", "items"))
	if m.At("uniqueItems") == true {
		add("no item twice")
	}
	add(counted(m, "minProperties", "maxProperties", "property", "properties"))
	if m.At("additionalProperties") == false && !hasMembers(m) {
		add("no properties")
	}
	return append(append(said, w.nested(m, depth)...), misused(m)...)
}

// unchecked warns where the type that is shown is not the only one that passes.
func unchecked(m document.Mapping) []string {
	if isImplied(m) {
		return []string{"other types pass unchecked"}
	}
	return nil
}

// limits are the constraints of a schema, and its default.
func (w *writer) limits(schema any) []string {
	m, _ := schema.(document.Mapping)
	said := append(w.constraints(schema, 0), unchecked(m)...)
	if _, isRef := reference(m); isRef {
		return said
	}
	if value, ok := m.Lookup("default"); ok {
		said = append(said, "default "+w.code(plain(value)))
	}
	return said
}

func hasMembers(m document.Mapping) bool {
	return len(mapping(m, "properties")) > 0 || len(mapping(m, "patternProperties")) > 0
}

// nested says what is wanted of items and values that have no section of their own.
func (w *writer) nested(m document.Mapping, depth int) []string {
	var said []string
	for _, inner := range []struct{ keyword, each string }{
		{"items", "each item"}, {"additionalProperties", "each value"},
	} {
		held := mapping(m, inner.keyword)
		if len(held) == 0 || !isPlain(held, 0) || inner.each == "each value" && hasMembers(m) {
			continue
		}
		phrases := append(w.constraints(held, depth+1), unchecked(held)...)
		if len(phrases) > 0 {
			said = append(said, inner.each+": "+strings.Join(phrases, ", "))
		}
	}
	return said
}

func (w *writer) enumeration(m document.Mapping) string {
	values := list(m, "enum")
	if len(values) == 0 {
		return ""
	}
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = plain(value)
	}
	if len(values) == 1 {
		return "only " + w.code(shown[0])
	}
	return "one of " + w.codes(shown, " or ")
}

// codes lists texts in code font, up to so many bytes.
func (w *writer) codes(texts []string, last string) string {
	var b strings.Builder
	for i, s := range texts {
		switch {
		case b.Len() > maxValues:
			return fmt.Sprintf("%s and %d more", b.String(), len(texts)-i)
		case i > 0 && i == len(texts)-1:
			b.WriteString(last)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(w.code(s))
	}
	return b.String()
}

// interval says between which numbers a value is.
func interval(m document.Mapping) string {
	least, greatest := "at least ", "at most "
	if m.At("exclusiveMinimum") == true {
		least = "more than "
	}
	if m.At("exclusiveMaximum") == true {
		greatest = "less than "
	}
	low, high := number(m, "minimum", least), number(m, "maximum", greatest)
	if low != "" && high != "" {
		return low + " and " + high
	}
	return low + high
}

func number(m document.Mapping, keyword, prefix string) string {
	if n, ok := m.At(keyword).(document.Number); ok {
		return prefix + figure(n)
	}
	return ""
}

// figure writes a number as it is.
func figure(n document.Number) string {
	if s := string(n); len(s) <= maxCode && strings.Trim(s, "0123456789+-.eE") == "" {
		return s
	}
	return text(string(n))
}

// counted says how many characters, items or properties there can be.
func counted(m document.Mapping, least, most, one, many string) string {
	low, hasLow := m.At(least).(document.Number)
	high, hasHigh := m.At(most).(document.Number)
	unit := func(n document.Number) string {
		if n == "1" {
			return " " + one
		}
		return " " + many
	}
	hasLow = hasLow && low != "0"
	switch {
	case hasLow && hasHigh && low == high:
		return "exactly " + figure(low) + unit(low)
	case hasLow && hasHigh:
		return figure(low) + " to " + figure(high) + unit(high)
	case hasLow:
		return "at least " + figure(low) + unit(low)
	case hasHigh:
		return "at most " + figure(high) + unit(high)
	}
	return ""
}

// misused names the keywords that hold something else than they should.
func misused(m document.Mapping) []string {
	var said []string
	for _, member := range m {
		if should := shouldBe(member); should != "" && len(said) < maxNesting {
			said = append(said, "malformed: "+code(member.Key)+" should be "+should)
		}
	}
	return said
}

func shouldBe(m document.Member) string {
	switch m.Key {
	case "properties", "patternProperties", "definitions", "dependencies":
		return unless[document.Mapping](m.Value, "a mapping")
	case "pattern":
		return unless[string](m.Value, "a string")
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties":
		return unless[document.Number](m.Value, "a number")
	case "allOf", "anyOf", "oneOf", "enum":
		if held, ok := m.Value.([]any); !ok || len(held) == 0 {
			return "a list"
		}
	case "required":
		if held, ok := m.Value.([]any); !ok || len(names(held)) < len(held) {
			return "a list of names"
		}
	case "not", "items":
		_, isTuple := m.Value.([]any)
		if _, ok := m.Value.(document.Mapping); !ok && (m.Key == "not" || !isTuple) {
			return "a schema"
		}
	case "type":
		if _, isText := m.Value.(string); !isText && len(types(document.Mapping{m})) == 0 {
			return "a name or a list of names"
		}
	}
	return ""
}

// unless says what a value should be that is not of a type.
func unless[T any](value any, should string) string {
	if _, ok := value.(T); ok {
		return ""
	}
	return should
}
