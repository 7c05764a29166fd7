package schemadocs

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

type mapping = document.Mapping

// schema is a schema as checks read it: the keywords that count in its draft and that pages show, or a boolean.
type schema struct {
	mapping

	raw      mapping  // as written
	wrong    []string // keywords that hold something else than they should
	isDraft4 bool
	isNever  bool // the boolean false
	isNone   bool // not a schema at all
}

// read returns a value as a schema within another one.
func (t *table) read(value any, within schema) schema {
	if m, ok := value.(mapping); ok {
		return t.keywords(m)
	}
	_, isBool := value.(bool)
	isSchema := isBool && !within.isDraft4
	return schema{isDraft4: within.isDraft4, isNone: !isSchema, isNever: isSchema && value == false}
}

// keywords reads a mapping as a schema, and caches the result.
func (t *table) keywords(raw mapping) schema {
	if len(raw) == 0 {
		return schema{raw: raw}
	}
	if s, ok := t.schemas[&raw[0]]; ok {
		return s
	}
	t.spend(len(raw)*200, 200)
	s := schema{raw: raw, isDraft4: t.outline.IsDraft4(raw)}
	all := t.outline.Keywords(raw)
	for _, written := range all {
		switch m, isShown := shownMember(written, all, s.isDraft4); {
		case !isShown:
		case !s.holds(m.Value, keywords[written.Key].holds):
			s.wrong = append(s.wrong, written.Key)
		default:
			s.mapping = append(s.mapping, m)
		}
	}
	t.schemas[&raw[0]] = s
	return s
}

// shownMember returns a member of a schema as later drafts write it, and whether it means anything that pages show.
func shownMember(m document.Member, among mapping, isDraft4 bool) (document.Member, bool) {
	_, isKnown := keywords[m.Key]
	if !isKnown { // of which there may be many
		return m, false
	}
	has := schema{mapping: among}.has
	_, isTuple := among.At("items").([]any)
	switch m.Key {
	case "if":
		isKnown = has("then") || has("else")
	case "then", "else":
		isKnown = has("if")
	case "const":
		m = document.Member{Key: "enum", Value: []any{m.Value}}
	case "items":
		if isTuple {
			m.Key = "prefixItems"
		}
	case "additionalItems":
		m.Key, isKnown = "items", isTuple
	case "exclusiveMinimum", "exclusiveMaximum":
		isKnown = !isDraft4 // there, they are flags
	case "minimum", "maximum":
		if exclusive := "exclusiveM" + m.Key[1:]; isDraft4 && among.At(exclusive) == true {
			m.Key = exclusive
		}
	}
	return m, isKnown
}

// has reports whether a schema has a keyword, whatever that holds.
func (s schema) has(keyword string) bool {
	_, ok := s.Lookup(keyword)
	return ok
}

// at returns the value of a keyword, or the zero value if it has another type.
func at[T any](s schema, keyword string) T {
	value, _ := s.At(keyword).(T)
	return value
}

// hasMembers reports whether a schema declares properties.
func (s schema) hasMembers() bool {
	return len(at[mapping](s, "properties")) > 0 || len(at[mapping](s, "patternProperties")) > 0
}

// hasSection reports whether a schema has a section of its own, since it is about named parts.
func (s schema) hasSection() bool {
	return len(s.raw) > 0 &&
		(s.hasMembers() || s.hasGroups() || s.has("prefixItems") || len(at[[]any](s, "required")) > maxInRow)
}

// hasGroups reports whether a schema has property groups.
func (s schema) hasGroups() bool {
	return s.has("properties_groups_schema") || s.has("property_groups")
}

// types returns the types that a schema names, else those of its values.
func (s schema) types() (found []string) {
	switch named := s.At("type").(type) {
	case string:
		return []string{named}
	case []any:
		return slices.Compact(jsonschema.Texts(named))
	}
	for _, value := range at[[]any](s, "enum") {
		if kind := typeOf(value); !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	return found
}

// implied returns the only type that the keywords of a schema are about, if it names no type and refers to no other
// schema. Values of other types pass.
func (s schema) implied() (only string) {
	if s.types() != nil {
		return ""
	}
	for _, m := range s.mapping {
		about := keywords[m.Key].about
		if isReference(m.Key) || about != "" && only != "" && about != only {
			return ""
		}
		only = cmp.Or(only, about)
	}
	return only
}

// isReference reports whether a keyword leads to another schema.
func isReference(keyword string) bool {
	return keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef"
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
		if v.IsFloat() {
			return "number"
		}
		return "integer"
	}
	return "object"
}

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
