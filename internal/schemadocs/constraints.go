package schemadocs

import (
	"fmt"

	"purser/internal/document"
)

// limits returns the constraints of a schema, and its default.
func (t *table) limits(m mapping) inline {
	limits := join("; ", t.constraints(m, true, 0)...)
	if value, ok := m.Lookup("default"); ok {
		return join("; ", limits, join("", plain("default "), code(yamlOf(value))))
	}
	return limits
}

// constraints returns phrases for what a schema demands of a value besides its type, its members and its items. If
// warns is set, the last one says that other types than the implied one pass.
func (t *table) constraints(m mapping, warns bool, depth int) (said []inline) {
	if depth <= maxNesting {
		said = append([]inline{
			enumeration(m),
			interval(m),
			number(m, "multipleOf", "a multiple of "),
			counted(m, "Length", "character", "characters"),
			quoted(m, "pattern", "matches ", ""),
			quoted(m, "format", "format ", " (not checked)"),
			counted(m, "Items", "item", "items"),
			when(m.At("uniqueItems") == true, plain("no item twice")),
			counted(m, "Properties", "property", "properties"),
			when(m.At("additionalProperties") == false && !hasMembers(m), plain("no properties")),
			t.nested(m, "items", "each item: ", depth),
			when(!hasMembers(m), t.nested(m, "additionalProperties", "each value: ", depth)),
		}, misused(m)...)
	}
	if _, isImplied := typesOf(m); isImplied && warns {
		said = append(said, plain("other types pass unchecked"))
	}
	return said
}

// when returns a text if a condition holds.
func when(holds bool, text inline) inline {
	if holds {
		return text
	}
	return nil
}

// nested returns the constraints of items or values that have no section of their own.
func (t *table) nested(m mapping, keyword, each string, depth int) inline {
	held, _ := schemaOf(m.At(keyword))
	if len(held) == 0 || !t.isPlain(held, "", 0) {
		return nil
	}
	said := join(", ", t.constraints(held, true, depth+1)...)
	return when(len(said) > 0, join("", plain(each), said))
}

// enumeration returns the values of an enum as a phrase.
func enumeration(m mapping) inline {
	values := at[[]any](m, "enum")
	prefix := "one of "
	if len(values) == 1 {
		prefix = "only "
	}
	return when(len(values) > 0, join("", plain(prefix), codes(values, " or ")))
}

// codes lists values in code font, with last before the last one. It stops after maxValues bytes.
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

// interval returns the bounds of a number as a phrase.
func interval(m mapping) inline {
	least, greatest := "at least ", "at most "
	if m.At("exclusiveMinimum") == true {
		least = "more than "
	}
	if m.At("exclusiveMaximum") == true {
		greatest = "less than "
	}
	return join(" and ", number(m, "minimum", least), number(m, "maximum", greatest))
}

// number returns a prefix and the number that a keyword holds.
func number(m mapping, keyword, prefix string) inline {
	n, ok := m.At(keyword).(document.Number)
	return when(ok, prose(prefix+string(n)))
}

// quoted returns the string that a keyword holds in code font, with text around it.
func quoted(m mapping, keyword, before, after string) inline {
	s, ok := m.At(keyword).(string)
	return when(ok, join("", plain(before), code(s), plain(after)))
}

// counted returns the bounds of a number of characters, items or properties as a phrase.
func counted(m mapping, of, one, many string) inline {
	low, high := at[document.Number](m, "min"+of), at[document.Number](m, "max"+of)
	if low == "0" {
		low = ""
	}
	unit := many
	if high == "1" || high == "" && low == "1" {
		unit = one
	}
	switch {
	case low == "" && high == "":
		return nil
	case low == "":
		return prose(fmt.Sprintf("at most %s %s", high, unit))
	case high == "":
		return prose(fmt.Sprintf("at least %s %s", low, unit))
	case low == high:
		return prose(fmt.Sprintf("exactly %s %s", low, unit))
	}
	return prose(fmt.Sprintf("%s to %s %s", low, high, unit))
}

// misused returns phrases for the keywords that hold something else than they should.
func misused(m mapping) []inline {
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
