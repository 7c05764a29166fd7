package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

const (
	malformed = "malformed (not a schema)"
	various   = "various" // a list of conditions follows
)

// words names the type that a schema demands: "string", "array of object", a link to a definition.
func (t *table) words(schema any, depth int) inline {
	m, ok := schemaOf(schema)
	if ref := m.At("$ref"); ref != nil {
		return t.reference(ref)
	}
	t.spend(1000+len(m)*100, 0)
	if !ok {
		return plain(malformed)
	}
	if depth > maxNesting {
		return plain("…")
	}
	var said []inline
	if separator, branches := combination(m); branches != nil {
		for _, branch := range branches {
			said = append(said, t.words(branch, depth+1))
		}
		return join(separator, said...)
	}
	named, _ := typesOf(m)
	for _, name := range named[:min(len(named), maxNesting)] {
		said = append(said, t.typeWords(name, m, depth))
	}
	switch {
	case said != nil:
		return join(" or ", said...)
	case slices.ContainsFunc(m, func(member document.Member) bool { return combinators[member.Key] != "" }):
		return plain(various)
	}
	return plain("any")
}

// typeWords names one type, and for a list or a map the type of what it holds.
func (t *table) typeWords(name string, m mapping, depth int) inline {
	var of string
	var held mapping
	switch name {
	case "array":
		of, held = "array of ", at[mapping](m, "items")
	case "object":
		if len(at[mapping](m, "properties")) == 0 {
			of, held = "map of ", at[mapping](m, "additionalProperties")
		}
	case "null", "boolean", "string", "number", "integer":
	default:
		return join("", code(name), plain(" (not a type)"))
	}
	if len(held) == 0 {
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
func combination(m mapping) (separator string, branches []any) {
	keyword := ""
	for _, member := range m {
		if _, judges := keywords[member.Key]; !judges {
			continue
		}
		if keyword != "" || combinators[member.Key] == "" {
			return "", nil
		}
		keyword = member.Key
		branches, _ = member.Value.([]any)
	}
	if len(branches) > maxNesting || slices.ContainsFunc(branches, func(branch any) bool { return !isBare(branch, 0) }) {
		return "", nil
	}
	switch {
	case len(branches) == 0:
		return "", nil
	case keyword == "allOf":
		return " and ", branches
	case keyword == "oneOf" && !isDisjoint(branches):
		return "", nil
	}
	return " or ", branches
}

// isBare reports whether a schema names a type or a definition and nothing else.
func isBare(schema any, depth int) bool {
	m, _ := schemaOf(schema)
	if m.At("$ref") != nil {
		return true
	}
	for _, member := range m {
		switch _, judges := keywords[member.Key]; {
		case member.Key == "items" && depth < maxNesting && isBare(member.Value, depth+1), member.Key == "type":
		case judges, member.Key == "description", member.Key == "title", member.Key == "default":
			return false
		}
	}
	return len(types(m)) > 0
}

// isDisjoint reports whether no value can be of two of the types.
func isDisjoint(branches []any) bool {
	seen := make(map[string]bool)
	for _, branch := range branches {
		m, _ := schemaOf(branch)
		if m.At("$ref") != nil {
			return false
		}
		for _, name := range types(m) {
			name = strings.Replace(name, "integer", "number", 1)
			if seen[name] {
				return false
			}
			seen[name] = true
		}
	}
	return true
}
