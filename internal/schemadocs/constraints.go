package schemadocs

import (
	"cmp"
	"fmt"
	"strings"

	"purser/internal/document"
)

// limits returns the constraints of a schema, and its default.
func (t *table) limits(s schema) inline {
	limits := join("; ", t.constraints(s, true, 0)...)
	if value, ok := s.Lookup("default"); ok {
		return join("; ", limits, join("", plain("default "), code(yamlOf(value))))
	}
	return limits
}

// constraints returns phrases for the requirements of a schema besides type, members and items. If
// warns is set, the last one says that other types than the implied one pass.
func (t *table) constraints(s schema, warns bool, depth int) (said []inline) {
	if depth <= maxNesting {
		unchecked := " (not checked)"
		if t.outline.Asserts(s.raw, at[string](s, "format")) {
			unchecked = ""
		}
		said = append([]inline{
			enumeration(at[[]any](s, "enum")),
			enumeration(s.constant()),
			interval(s),
			number(s, "multipleOf", "a multiple of "),
			prose(counted(s, "Length", "character", "characters")),
			quoted(s, "pattern", "matches ", ""),
			quoted(s, "format", "format ", unchecked),
			prose(counted(s, "Items", "item", "items")),
			when(s.At("uniqueItems") == true, plain("no item twice")),
			prose(counted(s, "Properties", "property", "properties")),
			when(s.At("additionalProperties") == false && !s.hasMembers(), plain("no properties")),
			when(s.At("prefixItems") == nil, t.nested(s, "items", depth)),
			when(!s.hasMembers() && s.At("additionalProperties") != false, t.nested(s, "additionalProperties", depth)),
			t.nested(s, "propertyNames", depth),
			t.nested(s, "contains", depth),
			t.nested(s, "unevaluatedItems", depth),
			t.nested(s, "unevaluatedProperties", depth),
		}, s.misused()...)
	}
	if _, isImplied := s.typesOf(); isImplied && warns {
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

// nested returns the requirements of a keyword on items, values or names without a section of their own. Types are left
// out: those of items and values are shown with the list or map, and names are always strings.
func (t *table) nested(s schema, keyword string, depth int) inline {
	of, held := applied[keyword], t.held(s, keyword)
	switch {
	case !s.has(keyword) || held.isNone || !t.isPlain(held, "", 0):
		return nil
	case held.isNever && of.never != "":
		return plain(of.never)
	}
	said, words := t.constraints(held, keyword != "propertyNames", depth+1), t.words(held, depth+1)
	if of.list != "" && keyword != "propertyNames" && words.String() != "any" {
		said = append([]inline{words}, said...)
	}
	if limits := join(", ", said...); len(limits) > 0 {
		return join("", plain(strings.Replace(of.row, "%s", s.contained(), 1)), limits)
	}
	return when(keyword == "contains", plain(s.contained()))
}

// contained returns how many items contains is about.
func (s schema) contained() string {
	if !s.has("minContains") {
		s.mapping = s.With("minContains", document.Number("1"))
	}
	return cmp.Or(counted(s, "Contains", "item", "items"), "any number of items")
}

// enumeration returns a list of values as a phrase.
func enumeration(values []any) inline {
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

// interval returns the bounds of a number as a phrase. In Draft 4, the exclusive ones are flags.
func interval(s schema) inline {
	least, greatest := "at least ", "at most "
	if s.isDraft4 && s.At("exclusiveMinimum") == true {
		least = "more than "
	}
	if s.isDraft4 && s.At("exclusiveMaximum") == true {
		greatest = "less than "
	}
	return join(" and ",
		number(s, "minimum", least), when(!s.isDraft4, number(s, "exclusiveMinimum", "more than ")),
		number(s, "maximum", greatest), when(!s.isDraft4, number(s, "exclusiveMaximum", "less than ")))
}

// number returns a prefix and the number that a keyword holds.
func number(s schema, keyword, prefix string) inline {
	n, ok := s.At(keyword).(document.Number)
	return when(ok, prose(prefix+string(n)))
}

// quoted returns the string that a keyword holds in code font, with text around it.
func quoted(s schema, keyword, before, after string) inline {
	text, ok := s.At(keyword).(string)
	return when(ok, join("", plain(before), code(text), plain(after)))
}

// counted returns the bounds of a number of characters, items or properties as a phrase.
func counted(s schema, of, one, many string) string {
	low, high := at[document.Number](s, "min"+of), at[document.Number](s, "max"+of)
	if low == "0" {
		low = ""
	}
	unit := many
	if high == "1" || high == "" && low == "1" {
		unit = one
	}
	switch {
	case low == "" && high == "":
		return ""
	case low == "":
		return fmt.Sprintf("at most %s %s", high, unit)
	case high == "":
		return fmt.Sprintf("at least %s %s", low, unit)
	case low == high:
		return fmt.Sprintf("exactly %s %s", low, unit)
	}
	return fmt.Sprintf("%s to %s %s", low, high, unit)
}

// misused returns phrases for the keywords that hold something else than they should.
func (s schema) misused() []inline {
	var said []inline
	for _, member := range s.mapping {
		should := keywords[member.Key].holds
		switch {
		case member.Key == "definitions" || member.Key == "$defs":
			should = "a mapping"
		case !s.judges(member.Key):
			continue
		}
		if s.holds(member.Value, should) || len(said) >= maxNesting {
			continue
		}
		if should == "a schema" && s.isDraft4 {
			should = "a mapping"
		}
		should = strings.TrimSuffix(should, " or a list") // of schemas
		said = append(said, join("", plain("malformed: "), code(member.Key), plain(" should be "+should)))
	}
	return said
}
