package schemadocs

import (
	"fmt"
	"slices"

	"purser/internal/document"
)

// constraints says in phrases what a schema wants of a value besides its type, its members and its items.
func (t *table) constraints(m document.Mapping, depth int) []inline {
	if isReference(m) || depth > maxNesting {
		return nil
	}
	said := []inline{
		enumeration(m), interval(m), number(m, "multipleOf", "a multiple of "),
		counted(m, "Length", "character", "characters"),
	}
	if pattern, ok := m.At("pattern").(string); ok {
		said = append(said, join("", plain("matches "), code(pattern)))
	}
	if format, ok := m.At("format").(string); ok {
		said = append(said, join("", plain("format "), code(format), plain(" (not checked)")))
	}
	said = append(said, counted(m, "Items", "item", "items"))
	if m.At("uniqueItems") == true {
		said = append(said, plain("no item twice"))
	}
	said = append(said, counted(m, "Properties", "property", "properties"))
	if m.At("additionalProperties") == false && !hasMembers(m) {
		said = append(said, plain("no properties"))
	}
	said = append(said, t.nested(m, "items", "each item: ", depth))
	if !hasMembers(m) {
		said = append(said, t.nested(m, "additionalProperties", "each value: ", depth))
	}
	return present(append(said, misused(m)...))
}

// present drops the texts that are empty.
func present(texts []inline) []inline {
	return slices.DeleteFunc(texts, func(text inline) bool { return len(text) == 0 })
}

// limits are the constraints of a schema, and its default.
func (t *table) limits(m document.Mapping) []inline {
	said := append(t.constraints(m, 0), unchecked(m))
	if value, ok := m.Lookup("default"); ok && !isReference(m) {
		said = append(said, join("", plain("default "), code(yamlOf(value))))
	}
	return present(said)
}

// unchecked warns where the type that is shown is not the only one that passes.
func unchecked(m document.Mapping) inline {
	if isImplied(m) {
		return plain("other types pass unchecked")
	}
	return nil
}

// nested says what is wanted of items and values that have no section of their own.
func (t *table) nested(m document.Mapping, keyword, each string, depth int) inline {
	held := mapping(m, keyword)
	if len(held) == 0 || !t.isPlain(held, "", 0) {
		return nil
	}
	said := present(append(t.constraints(held, depth+1), unchecked(held)))
	if len(said) == 0 {
		return nil
	}
	return join("", plain(each), join(", ", said...))
}

func enumeration(m document.Mapping) inline {
	values := list(m, "enum")
	if len(values) == 1 {
		return join("", plain("only "), code(yamlOf(values[0])))
	}
	if len(values) == 0 {
		return nil
	}
	return join("", plain("one of "), codes(values, " or "))
}

// codes lists values in code font, up to so many bytes.
func codes[T any](values []T, last string) inline {
	var said inline
	size := 0
	for i, value := range values {
		switch {
		case size > maxValues:
			return append(said, plain(fmt.Sprintf(" and %d more", len(values)-i))...)
		case i > 0 && i == len(values)-1:
			said = append(said, plain(last)...)
		case i > 0:
			said = append(said, plain(", ")...)
		}
		said = append(said, code(yamlOf(value))...)
		size += len(said[len(said)-1].Text) + len("``, ")
	}
	return said
}

// interval says between which numbers a value is.
func interval(m document.Mapping) inline {
	least, greatest := "at least ", "at most "
	if m.At("exclusiveMinimum") == true {
		least = "more than "
	}
	if m.At("exclusiveMaximum") == true {
		greatest = "less than "
	}
	return join(" and ", number(m, "minimum", least), number(m, "maximum", greatest))
}

func number(m document.Mapping, keyword, prefix string) inline {
	if n, ok := m.At(keyword).(document.Number); ok {
		return prose(prefix + string(n))
	}
	return nil
}

// counted says how many characters, items or properties there can be.
func counted(m document.Mapping, of, one, many string) inline {
	low, hasLow := m.At("min" + of).(document.Number)
	high, hasHigh := m.At("max" + of).(document.Number)
	hasLow = hasLow && low != "0"
	unit := many
	if hasHigh && high == "1" || !hasHigh && low == "1" {
		unit = one
	}
	switch {
	case hasLow && hasHigh && low == high:
		return prose(fmt.Sprintf("exactly %s %s", low, unit))
	case hasLow && hasHigh:
		return prose(fmt.Sprintf("%s to %s %s", low, high, unit))
	case hasLow:
		return prose(fmt.Sprintf("at least %s %s", low, unit))
	case hasHigh:
		return prose(fmt.Sprintf("at most %s %s", high, unit))
	}
	return nil
}

// misused names the keywords that hold something else than they should.
func misused(m document.Mapping) []inline {
	var said []inline
	for _, member := range m {
		should := keywords[member.Key].holds
		if member.Key == "definitions" {
			should = "a mapping"
		}
		if !holds(member.Value, should) && len(said) < maxNesting {
			said = append(said, join("", plain("malformed: "), code(member.Key), plain(" should be "+should)))
		}
	}
	return said
}
