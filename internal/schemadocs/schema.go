package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

type mapping = document.Mapping

// keywords are those of draft 4 and of property groups that restrict values: the only type of the values that they
// restrict, if there is one, and what they must hold.
var keywords = map[string]struct{ concerns, holds string }{
	"type":  {"", "a name or a list of names"},
	"enum":  {"", "a list"},
	"allOf": {"", "a list"}, "anyOf": {"", "a list"}, "oneOf": {"", "a list"},
	"not":                      {"", "a mapping"},
	"dependencies":             {"", "a mapping"},
	"property_groups":          {"", ""},
	"properties_groups_schema": {"", ""},
	"properties":               {"object", "a mapping"},
	"patternProperties":        {"object", "a mapping"},
	"additionalProperties":     {"object", ""},
	"required":                 {"object", "a list of names"},
	"minProperties":            {"object", "a number"}, "maxProperties": {"object", "a number"},
	"items":    {"array", "a schema"},
	"minItems": {"array", "a number"}, "maxItems": {"array", "a number"},
	"uniqueItems": {"array", ""}, "additionalItems": {"array", ""},
	"pattern":   {"string", "a string"},
	"minLength": {"string", "a number"}, "maxLength": {"string", "a number"},
	"minimum": {"number", "a number"}, "maximum": {"number", "a number"},
	"multipleOf": {"number", "a number"},
}

// holds reports whether a keyword's value is what it must be.
func holds(value any, what string) bool {
	list, _ := value.([]any)
	kind := typeOf(value)
	switch what {
	case "a mapping":
		return kind == "object"
	case "a schema":
		return kind == "object" || kind == "array"
	case "a string":
		return kind == "string"
	case "a number":
		return kind == "number" || kind == "integer"
	case "a list":
		return len(list) > 0
	case "a list of names":
		return kind == "array" && len(names(list)) == len(list)
	case "a name or a list of names":
		return kind == "string" || len(names(list)) > 0
	}
	return true
}

// schemaOf returns a value as a schema. A $ref other than null hides the keywords beside it.
func schemaOf(value any) (m mapping, ok bool) {
	m, ok = value.(mapping)
	for i, member := range m {
		if member.Key == "$ref" && member.Value != nil {
			return m[i : i+1], true
		}
	}
	return m, ok
}

// at returns what a keyword holds, the zero value if that has another type.
func at[T any](m mapping, keyword string) T {
	value, _ := m.At(keyword).(T)
	return value
}

// hasMembers reports whether a schema declares properties.
func hasMembers(m mapping) bool {
	return len(at[mapping](m, "properties")) > 0 || len(at[mapping](m, "patternProperties")) > 0
}

// names returns the strings of a list.
func names(list []any) []string {
	var found []string
	for _, item := range list {
		if name, ok := item.(string); ok {
			found = append(found, name)
		}
	}
	return found
}

// types returns the types that a schema names.
func types(m mapping) []string {
	if name, ok := m.At("type").(string); ok {
		return []string{name}
	}
	return slices.Compact(names(at[[]any](m, "type")))
}

// typesOf returns the types that a schema names, else those of its enumeration, else the only one that its keywords
// concern. In the last case isImplied is true: values of other types pass.
func typesOf(m mapping) (found []string, isImplied bool) {
	if found = types(m); len(found) > 0 {
		return found, false
	}
	for _, value := range at[[]any](m, "enum") {
		if kind := typeOf(value); !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	if found != nil {
		return found, false
	}
	only := ""
	for _, member := range m {
		concerns := keywords[member.Key].concerns
		if concerns != "" && only != "" && concerns != only {
			return nil, false
		}
		only = max(only, concerns)
	}
	if only == "" {
		return nil, false
	}
	return []string{only}, true
}

// typeOf returns the name of a value's type.
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
