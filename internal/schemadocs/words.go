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

func hasConditions(m document.Mapping) bool {
	return slices.ContainsFunc(m, func(member document.Member) bool { return combinators[member.Key] != "" })
}

// words says which type a schema wants: "string", "array of object", a link to a definition.
func (w *writer) words(schema any, depth int) string {
	m, ok := schema.(document.Mapping)
	switch {
	case !ok:
		return malformed
	case depth > maxNesting:
		return "…"
	}
	if ref, isRef := reference(m); isRef {
		return w.reference(ref)
	}
	if isCombination(m) {
		return w.combination(m, depth)
	}
	var said []string
	for _, t := range typesOf(m) {
		said = append(said, w.typeWords(t, m, depth))
		if len(said) == maxNesting {
			break
		}
	}
	switch {
	case said != nil:
		return strings.Join(said, " or ")
	case hasConditions(m):
		return various
	}
	return "any"
}

func (w *writer) typeWords(name string, m document.Mapping, depth int) string {
	switch name {
	case "array":
		if items := mapping(m, "items"); len(items) > 0 {
			return "array of " + w.inner(items, depth)
		}
	case "object":
		if values := mapping(m, "additionalProperties"); len(values) > 0 && len(mapping(m, "properties")) == 0 {
			return "map of " + w.inner(values, depth)
		}
	case "null", "boolean", "string", "number", "integer":
	default:
		return w.code(name) + " (not a type)"
	}
	return name
}

// inner is what a list or a map is of.
func (w *writer) inner(m document.Mapping, depth int) string {
	said := w.words(m, depth+1)
	if strings.Contains(said, " or ") || strings.Contains(said, " and ") {
		return "(" + said + ")"
	}
	return said
}

// typesOf returns the types that a schema names or, if it names none, those that its other keywords speak of.
func typesOf(m document.Mapping) []string {
	if named := types(m); len(named) > 0 {
		return slices.Compact(named)
	}
	if values := list(m, "enum"); len(values) > 0 {
		return typesOfValues(values)
	}
	return implied(m)
}

func typesOfValues(values []any) []string {
	var found []string
	for _, value := range values {
		if t := typeOf(value); !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	return found
}

func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case document.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "object"
}

// implied returns the only type that the keywords of a schema concern, where there is one.
func implied(m document.Mapping) []string {
	found := make(map[string]bool)
	for _, member := range m {
		switch member.Key {
		case "properties", "patternProperties", "additionalProperties", "required", "minProperties", "maxProperties":
			found["object"] = true
		case "items", "additionalItems", "minItems", "maxItems", "uniqueItems":
			found["array"] = true
		case "pattern", "minLength", "maxLength":
			found["string"] = true
		case "minimum", "maximum", "multipleOf":
			found["number"] = true
		}
	}
	if len(found) != 1 {
		return nil
	}
	for t := range found {
		return []string{t}
	}
	return nil
}

// isImplied tells whether values of other types pass although a type is shown.
func isImplied(m document.Mapping) bool {
	_, isRef := reference(m)
	return !isRef && len(types(m)) == 0 && len(list(m, "enum")) == 0 && implied(m) != nil
}

// reference links what a $ref points to.
func (w *writer) reference(ref string) string {
	fragment, isLocal := strings.CutPrefix(ref, "#")
	t := w.plan.targets[fragment]
	switch {
	case !isLocal && ref != "":
		return w.code(ref) + " (outside this schema: not allowed)"
	case !t.isFound:
		return w.code(ref) + " (which does not exist)"
	case t.section != nil && t.section.position == 0:
		return w.link("this schema", t.section)
	}
	said := w.link(w.code(t.name), t.section)
	if t.scalar != "" {
		return t.scalar + " (" + said + ")"
	}
	return said
}

func isScalar(t string) bool {
	switch t {
	case "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

// isCombination tells whether a schema only says that one or all of several types or definitions hold, so that a few
// words do for it.
func isCombination(m document.Mapping) bool {
	keyword, branches := combined(m)
	if len(branches) == 0 || len(branches) > maxNesting {
		return false
	}
	if keyword == "oneOf" && !isDisjoint(branches) {
		return false
	}
	return !slices.ContainsFunc(branches, func(branch any) bool { return !isBare(branch, 0) })
}

// combined returns the only keyword of a schema that judges anything, if it is one that combines others.
func combined(m document.Mapping) (keyword string, branches []any) {
	for _, member := range m {
		switch member.Key {
		case "allOf", "anyOf", "oneOf":
			if keyword != "" {
				return "", nil
			}
			keyword = member.Key
			branches, _ = member.Value.([]any)
		default:
			if judges(member.Key) {
				return "", nil
			}
		}
	}
	return keyword, branches
}

func (w *writer) combination(m document.Mapping, depth int) string {
	keyword, branches := combined(m)
	said := make([]string, len(branches))
	for i, branch := range branches {
		said[i] = w.words(branch, depth+1)
	}
	if keyword == "allOf" {
		return strings.Join(said, " and ")
	}
	return strings.Join(said, " or ")
}

// isBare tells whether a schema names a type or a definition and nothing else.
func isBare(schema any, depth int) bool {
	m, ok := schema.(document.Mapping)
	if !ok || len(m) == 0 || depth > maxNesting {
		return false
	}
	if _, isRef := reference(m); isRef {
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

// isDisjoint tells whether no value can be of two of the types.
func isDisjoint(branches []any) bool {
	seen := make(map[string]bool)
	for _, branch := range branches {
		m, _ := branch.(document.Mapping)
		if _, isRef := reference(m); isRef {
			return false
		}
		for _, t := range types(m) {
			if t == "integer" {
				t = "number"
			}
			if seen[t] {
				return false
			}
			seen[t] = true
		}
	}
	return true
}

// judges tells whether a keyword of a schema has a say in what is valid.
func judges(keyword string) bool {
	switch keyword {
	case "type", "enum", "allOf", "anyOf", "oneOf", "not", "properties", "patternProperties", "additionalProperties",
		"required", "minProperties", "maxProperties", "dependencies", "items", "additionalItems", "minItems", "maxItems",
		"uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "multipleOf",
		"property_groups", "properties_groups_schema":
		return true
	}
	return false
}
