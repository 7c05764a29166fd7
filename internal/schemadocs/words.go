package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

const (
	malformed = "malformed (not a schema)"
	various   = "various" // which a list of conditions says
)

// words says which type a schema wants: "string", "array of object", a link to a definition.
func (t *table) words(schema any, depth int) inline {
	m, ok := schema.(document.Mapping)
	if ref, isRef := reference(m); isRef {
		return t.reference(ref)
	}
	t.spend(1000+len(m)*100, 0)
	switch {
	case !ok:
		return plain(malformed)
	case depth > maxNesting:
		return plain("…")
	case isCombination(m):
		return t.combination(m, depth)
	}
	var said []inline
	for _, name := range typesOf(m) {
		said = append(said, t.typeWords(name, m, depth))
		if len(said) == maxNesting {
			break
		}
	}
	switch {
	case said != nil:
		return join(" or ", said...)
	case slices.ContainsFunc(m, func(member document.Member) bool { return combinators[member.Key] != "" }):
		return plain(various)
	}
	return plain("any")
}

func (t *table) typeWords(name string, m document.Mapping, depth int) inline {
	switch name {
	case "array":
		if items := mapping(m, "items"); len(items) > 0 {
			return t.inner("array of ", items, depth)
		}
	case "object":
		if values := mapping(m, "additionalProperties"); len(values) > 0 && len(mapping(m, "properties")) == 0 {
			return t.inner("map of ", values, depth)
		}
	case "null", "boolean", "string", "number", "integer":
	default:
		return join("", code(name), plain(" (not a type)"))
	}
	return plain(name)
}

// inner says what a list or a map is of.
func (t *table) inner(of string, m document.Mapping, depth int) inline {
	said := t.words(m, depth+1)
	if s := said.String(); strings.Contains(s, " or ") || strings.Contains(s, " and ") {
		return join("", plain(of+"("), said, plain(")"))
	}
	return join("", plain(of), said)
}

// reference links the target of a $ref.
func (t *table) reference(ref string) inline {
	fragment, isLocal := strings.CutPrefix(ref, "#")
	if !isLocal && ref != "" {
		return join("", code(ref), plain(" (outside this schema: not allowed)"))
	}
	to := t.target(fragment)
	if !to.isFound {
		return join("", code(ref), plain(" (which does not exist)"))
	}
	if to == t.targets[""] {
		return inline{{Text: "this schema", anchor: &to.anchor}}
	}
	said := code(to.name)
	said[0].anchor = &to.anchor
	if to.scalar != "" {
		return join("", plain(to.scalar+" ("), said, plain(")"))
	}
	return said
}

// isCombination reports whether a schema only says that one or all of several types or definitions hold, so that a few
// words do for it.
func isCombination(m document.Mapping) bool {
	keyword, branches := combined(m)
	if len(branches) == 0 || len(branches) > maxNesting || keyword == "oneOf" && !isDisjoint(branches) {
		return false
	}
	return !slices.ContainsFunc(branches, func(branch any) bool { return !isBare(branch, 0) })
}

// combined returns the only keyword of a schema that judges anything, if it is one that combines others.
func combined(m document.Mapping) (keyword string, branches []any) {
	for _, member := range m {
		if !judges(member.Key) {
			continue
		}
		if keyword != "" || combinators[member.Key] == "" {
			return "", nil
		}
		keyword = member.Key
		branches, _ = member.Value.([]any)
	}
	return keyword, branches
}

func (t *table) combination(m document.Mapping, depth int) inline {
	keyword, branches := combined(m)
	said := make([]inline, len(branches))
	for i, branch := range branches {
		said[i] = t.words(branch, depth+1)
	}
	if keyword == "allOf" {
		return join(" and ", said...)
	}
	return join(" or ", said...)
}

// isBare reports whether a schema names a type or a definition and nothing else.
func isBare(schema any, depth int) bool {
	m, ok := schema.(document.Mapping)
	if !ok || len(m) == 0 || depth > maxNesting {
		return false
	}
	if isReference(m) {
		return true
	}
	for _, member := range m {
		switch {
		case member.Key == "items" && isBare(member.Value, depth+1), member.Key == "type":
		case judges(member.Key), member.Key == "description", member.Key == "title", member.Key == "default":
			return false
		}
	}
	return len(types(m)) > 0
}

// isDisjoint reports whether no value can be of two of the types.
func isDisjoint(branches []any) bool {
	seen := make(map[string]bool)
	for _, branch := range branches {
		m, _ := branch.(document.Mapping)
		if isReference(m) {
			return false
		}
		for _, t := range types(m) {
			t = strings.Replace(t, "integer", "number", 1)
			if seen[t] {
				return false
			}
			seen[t] = true
		}
	}
	return true
}
