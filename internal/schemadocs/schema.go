package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

type mapping = document.Mapping

// schema is a schema as checks read it: a mapping of the keywords that count in its draft, or a boolean.
type schema struct {
	mapping

	raw      mapping // as written
	isDraft4 bool
	isNever  bool // the boolean false
	isNone   bool // not a schema at all
	refers   bool // it has a $ref or another reference
	isAlias  bool // and says nothing else
}

// read returns a value as a schema within another one.
func (t *table) read(value any, within schema) schema {
	switch v := value.(type) {
	case mapping:
		return t.keywords(v)
	case bool:
		return schema{isDraft4: within.isDraft4, isNone: within.isDraft4, isNever: !within.isDraft4 && !v}
	}
	return schema{isDraft4: within.isDraft4, isNone: true}
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
	s := schema{mapping: t.outline.Keywords(raw), raw: raw, isDraft4: t.outline.IsDraft4(raw), isAlias: true}
	if !s.has("if") || !s.has("then") && !s.has("else") { // then they mean nothing
		s.mapping = slices.DeleteFunc(s.mapping, func(m document.Member) bool {
			return m.Key == "if" || m.Key == "then" || m.Key == "else"
		})
	}
	for _, member := range s.mapping {
		isReference := isReference(member.Key)
		s.refers = s.refers || isReference
		s.isAlias = s.isAlias && (isReference || !s.judges(member.Key) && !describes(member.Key))
	}
	s.isAlias = s.isAlias && s.refers
	t.schemas[&raw[0]] = s
	return s
}

// held returns the schema of a keyword, or one that accepts everything if the keyword is absent.
func (t *table) held(s schema, keyword string) schema {
	value, ok := s.Lookup(keyword)
	if isOthers := keyword == "additionalProperties" || keyword == "additionalItems"; !ok || isOthers && value == true {
		return schema{}
	} else if isOthers && value == false { // which is not a schema in Draft 4, but works as one
		return schema{isNever: true}
	}
	return t.read(value, s)
}

// keywords restrict values: each with the only type of the values that it restricts, if any, and its
// they must hold.
var keywords = map[string]struct{ concerns, holds string }{
	"$ref": {}, "$dynamicRef": {}, "$recursiveRef": {}, "const": {}, "property_groups": {}, "properties_groups_schema": {},
	"type": {"", "a name or a list of names"}, "enum": {"", "a list"},
	"allOf": {"", "a list"}, "anyOf": {"", "a list"}, "oneOf": {"", "a list"}, "not": {"", "a schema"},
	"if": {"", "a schema"}, "then": {"", "a schema"}, "else": {"", "a schema"},
	"dependencies": {"", "a mapping"}, "dependentRequired": {"", "a mapping"}, "dependentSchemas": {"", "a mapping"},

	"properties": {"object", "a mapping"}, "patternProperties": {"object", "a mapping"},
	"additionalProperties": {"object", ""}, "unevaluatedProperties": {"object", "a schema"},
	"propertyNames": {"object", "a schema"}, "required": {"object", "a list of names"},
	"minProperties": {"object", "a number"}, "maxProperties": {"object", "a number"},

	"items": {"array", "a schema or a list"}, "prefixItems": {"array", "a list"},
	"additionalItems": {"array", ""}, "unevaluatedItems": {"array", "a schema"},
	"contains": {"array", "a schema"}, "minContains": {"array", "a number"}, "maxContains": {"array", "a number"},
	"minItems": {"array", "a number"}, "maxItems": {"array", "a number"}, "uniqueItems": {"array", ""},

	"pattern": {"string", "a string"}, "minLength": {"string", "a number"}, "maxLength": {"string", "a number"},
	"minimum": {"number", "a number"}, "maximum": {"number", "a number"}, "multipleOf": {"number", "a number"},
	"exclusiveMinimum": {"number", "a number"}, "exclusiveMaximum": {"number", "a number"},
}

// applied has phrases for keywords with schemas.
var applied = map[string]struct {
	row   string // before the schema in a row, if it fits there; between several schemas
	never string // instead of the boolean false
	list  string // before a list, where rows and sections do not show the schema
}{
	"allOf":                {" and ", "", "All of these must hold:"},
	"anyOf":                {" or ", "", "At least one of these must hold:"},
	"oneOf":                {" or ", "", "Exactly one of these must hold:"},
	"not":                  {list: "This must not hold:"},
	"if":                   {list: "If this holds:"},
	"then":                 {list: "Then this must hold as well:"},
	"else":                 {list: "Otherwise this must hold as well:"},
	"items":                {"each item: ", "no items", ""},
	"additionalProperties": {"each value: ", "no properties", ""},
	"propertyNames":        {"each name: ", "no properties", "Each name must be as follows:"},
	"contains":             {"%s: ", "", "This must match %s:"}, // see contained
	"unevaluatedItems":     {"each other item: ", "no items but those described", "Each other item must be as follows:"},
	"unevaluatedProperties": {
		"each other property: ", "no properties but those described", "Each other property must be as follows:",
	},
}

// has reports whether a schema has a keyword, whatever that holds.
func (s schema) has(keyword string) bool {
	_, ok := s.Lookup(keyword)
	return ok
}

// judges reports whether a keyword restricts values. In Draft 4 the exclusive bounds are flags beside the others.
func (s schema) judges(keyword string) bool {
	_, ok := keywords[keyword]
	return ok && (!s.isDraft4 || !strings.HasPrefix(keyword, "exclusive"))
}

// holds reports whether a keyword's value is valid.
func (s schema) holds(value any, what string) bool {
	list, _ := value.([]any)
	kind := typeOf(value)
	switch what {
	case "a mapping":
		return kind == "object"
	case "a schema":
		return kind == "object" || kind == "boolean" && !s.isDraft4
	case "a schema or a list":
		return kind == "array" || s.holds(value, "a schema")
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

// at returns the value of a keyword, or the zero value if it has another type.
func at[T any](s schema, keyword string) T {
	value, _ := s.At(keyword).(T)
	return value
}

// isReference reports whether a keyword leads to another schema.
func isReference(keyword string) bool {
	return keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef"
}

// describes reports whether a keyword is shown although it judges nothing.
func describes(keyword string) bool {
	return keyword == "title" || keyword == "description" || keyword == "default"
}

// hasMembers reports whether a schema declares properties.
func (s schema) hasMembers() bool {
	return len(at[mapping](s, "properties")) > 0 || len(at[mapping](s, "patternProperties")) > 0
}

// tuple returns the schemas of the first items of a list, and the keyword for the items that follow.
func (s schema) tuple() (first []any, rest string) {
	if first = at[[]any](s, "prefixItems"); first != nil {
		return first, "items"
	}
	if first = at[[]any](s, "items"); first != nil {
		return first, "additionalItems"
	}
	return nil, "items"
}

// constant returns the value of const in a list, nil if there is none.
func (s schema) constant() []any {
	if value, ok := s.Lookup("const"); ok {
		return []any{value}
	}
	return nil
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
func (s schema) types() []string {
	if name, ok := s.At("type").(string); ok {
		return []string{name}
	}
	return slices.Compact(names(at[[]any](s, "type")))
}

// typesOf returns the types that a schema names, else those of its values, else the only one that its keywords concern
// if it refers to no other schema. In the last case isImplied is true: values of other types pass.
func (s schema) typesOf() (found []string, isImplied bool) {
	if found = s.types(); len(found) > 0 {
		return found, false
	}
	values := s.constant()
	if values == nil {
		values = at[[]any](s, "enum")
	}
	for _, value := range values {
		if kind := typeOf(value); !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	if found != nil || s.refers {
		return found, false
	}
	for _, member := range s.mapping {
		of := keywords[member.Key].concerns
		if of != "" && s.judges(member.Key) && !slices.Contains(found, of) {
			found = append(found, of)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found, true
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
