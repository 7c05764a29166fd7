package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

const (
	malformed = "malformed (not a schema)"
	various   = "various"  // a list of conditions follows
	noValue   = "no value" // is valid: the boolean false
)

// words names the type that a schema demands: "string", "array of object", a link to a definition.
func (t *table) words(s schema, depth int) inline {
	var referred, said []inline
	for _, member := range s.mapping {
		if isReference(member.Key) {
			referred = append(referred, t.reference(s, member))
		}
	}
	if s.isAlias {
		return join(" and ", referred...)
	}
	t.spend(1000+len(s.mapping)*100, 0)
	switch {
	case s.isNone:
		return plain(malformed)
	case s.isNever:
		return plain(noValue)
	case depth > maxNesting:
		return plain("…")
	}
	if separator, branches := t.combination(s); branches != nil {
		for _, branch := range branches {
			said = append(said, t.words(t.read(branch, s), depth+1))
		}
		return join(separator, said...)
	}
	named, _ := s.typesOf()
	for _, name := range named[:min(len(named), maxNesting)] {
		said = append(said, t.typeWords(name, s, depth))
	}
	switch {
	case said != nil || referred != nil:
		return join(" and ", append(referred, join(" or ", said...))...)
	case slices.ContainsFunc(s.mapping, func(member document.Member) bool { return applied[member.Key].list != "" }):
		return plain(various)
	}
	return plain("any")
}

// typeWords names one type, and for a list or a map the type of its items or values.
func (t *table) typeWords(name string, s schema, depth int) inline {
	var of string
	var held schema
	switch name {
	case "array":
		if first, rest := s.tuple(); first == nil {
			of, held = "array of ", t.held(s, rest)
		}
	case "object":
		if len(at[mapping](s, "properties")) == 0 {
			of, held = "map of ", t.held(s, "additionalProperties")
		}
	case "null", "boolean", "string", "number", "integer":
	default:
		return join("", code(name), plain(" (not a type)"))
	}
	if len(held.raw) == 0 {
		return plain(name)
	}
	said := t.words(held, depth+1)
	if s := said.String(); strings.Contains(s, " or ") || strings.Contains(s, " and ") {
		return join("", plain(of+"("), said, plain(")"))
	}
	return join("", plain(of), said)
}

// combination returns the branches of a schema that does nothing but combine a few types or definitions, and the word
// between them. It returns no branches for any other schema.
func (t *table) combination(s schema) (separator string, branches []any) {
	keyword := ""
	for _, member := range s.mapping {
		if !s.judges(member.Key) {
			continue
		}
		if keyword != "" || !isCombinator(member.Key) {
			return "", nil
		}
		keyword = member.Key
		branches, _ = member.Value.([]any)
	}
	isOther := func(branch any) bool { return !t.isBare(t.read(branch, s), 0) }
	if len(branches) == 0 || len(branches) > maxNesting || slices.ContainsFunc(branches, isOther) ||
		keyword == "oneOf" && !t.isDisjoint(s, branches) {
		return "", nil
	}
	return applied[keyword].row, branches
}

// isCombinator reports whether a keyword applies several schemas to the value itself.
func isCombinator(keyword string) bool {
	return keyword == "allOf" || keyword == "anyOf" || keyword == "oneOf"
}

// isBare reports whether a schema names a type or a definition and nothing else.
func (t *table) isBare(s schema, depth int) bool {
	if s.isAlias {
		return true
	}
	for _, member := range s.mapping {
		switch {
		case member.Key == "type":
		case member.Key == "items" && depth < maxNesting && t.isBare(t.read(member.Value, s), depth+1):
		case s.judges(member.Key) || describes(member.Key):
			return false
		}
	}
	return len(s.types()) > 0
}

// isDisjoint reports whether no value can be of two of the types.
func (t *table) isDisjoint(s schema, branches []any) bool {
	seen := make(map[string]bool)
	for _, branch := range branches {
		b := t.read(branch, s)
		if b.refers {
			return false
		}
		for _, name := range b.types() {
			name = strings.Replace(name, "integer", "number", 1)
			if seen[name] {
				return false
			}
			seen[name] = true
		}
	}
	return true
}
