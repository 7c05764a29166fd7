package schemadocs

import (
	"slices"
	"strings"
)

// keyword is a keyword that pages show.
type keyword struct {
	holds string // what it must hold, see holders
	says  string // before a number or a string, instead of a schema that is false, or one/many units of a bound
	about string // the only type of the values that it restricts, if any
}

var keywords = map[string]keyword{
	"title": {}, "description": {}, "default": {}, "const": {}, "enum": {holds: "a list"},
	"format": {"a string", "format ", ""}, "type": {holds: "a name or a list of names"},
	"$ref": {}, "$dynamicRef": {}, "$recursiveRef": {}, "definitions": {holds: "a mapping"}, "$defs": {holds: "a mapping"},
	"property_groups": {}, "properties_groups_schema": {},

	"allOf": {holds: "a list"}, "anyOf": {holds: "a list"}, "oneOf": {holds: "a list"}, "not": {holds: "a schema"},
	"if": {holds: "a schema"}, "then": {holds: "a schema"}, "else": {holds: "a schema"},
	"dependencies": {holds: "a mapping"}, "dependentRequired": {holds: "a mapping"},
	"dependentSchemas": {holds: "a mapping"},

	"properties": {"a mapping", "", "object"}, "patternProperties": {"a mapping", "", "object"},
	"required": {"a list of names", "", "object"}, "propertyNames": {"a schema", "no properties", "object"},
	"additionalProperties":  {"", "no properties", "object"},
	"unevaluatedProperties": {"a schema", "no properties but those described", "object"},
	"minProperties":         {"a number", "property/properties", "object"},
	"maxProperties":         {"a number", "property/properties", "object"},

	"prefixItems": {"a list", "", "array"}, "contains": {"a schema", "", "array"}, "uniqueItems": {"", "", "array"},
	"items": {"a schema or a list", "no items", "array"}, "additionalItems": {"", "no further items", "array"},
	"unevaluatedItems": {"a schema", "no items but those described", "array"},
	"minItems":         {"a number", "item/items", "array"}, "maxItems": {"a number", "item/items", "array"},
	"minContains": {"a number", "", "array"}, "maxContains": {"a number", "", "array"},

	"pattern":   {"a string", "matches ", "string"},
	"minLength": {"a number", "character/characters", "string"},
	"maxLength": {"a number", "character/characters", "string"},
	"minimum":   {"a number", "/", "number"}, "exclusiveMinimum": {"a number", "more than ", "number"},
	"maximum": {"a number", "/", "number"}, "exclusiveMaximum": {"a number", "less than ", "number"},
	"multipleOf": {"a number", "a multiple of ", "number"},
}

// holders are the types of the values that a keyword may hold.
var holders = map[string]string{
	"a mapping":                 "object",
	"a schema":                  "object boolean",
	"a schema or a list":        "object boolean array",
	"a string":                  "string",
	"a number":                  "number integer",
	"a list":                    "array",
	"a list of names":           "array",
	"a name or a list of names": "string array",
}

// holds reports whether a keyword's value is valid.
func (s schema) holds(value any, what string) bool {
	list, isList := value.([]any)
	_, isBool := value.(bool)
	switch {
	case what == "":
		return true
	case isBool && s.isDraft4, isList && len(list) == 0 && what != "a list of names":
		return false
	case isList && strings.HasSuffix(what, "names"):
		return !slices.ContainsFunc(list, func(item any) bool { return typeOf(item) != "string" })
	}
	return strings.Contains(holders[what], typeOf(value))
}
