package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

// keywords are those of draft 4 and of property groups that judge values: the type of the values that they concern, if
// it is only one, and what they should hold.
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

func judges(keyword string) bool {
	_, ok := keywords[keyword]
	return ok
}

// holds reports whether a keyword's value is what it should be.
func holds(value any, what string) bool {
	list, isList := value.([]any)
	_, isMapping := value.(document.Mapping)
	_, isText := value.(string)
	_, isNumber := value.(document.Number)
	switch what {
	case "a mapping":
		return isMapping
	case "a schema":
		return isMapping || isList
	case "a string":
		return isText
	case "a number":
		return isNumber
	case "a list":
		return len(list) > 0
	case "a list of names":
		return isList && len(names(list)) == len(list)
	case "a name or a list of names":
		return isText || len(names(list)) > 0
	}
	return true
}

// mapping returns what a keyword holds if that is a mapping, else nothing.
func mapping(schema document.Mapping, keyword string) document.Mapping {
	m, _ := schema.At(keyword).(document.Mapping)
	return m
}

func list(schema document.Mapping, keyword string) []any {
	l, _ := schema.At(keyword).([]any)
	return l
}

func text(schema document.Mapping, keyword string) string {
	s, _ := schema.At(keyword).(string)
	return s
}

// reference returns a schema's $ref; a null is none.
func reference(schema document.Mapping) (ref string, ok bool) {
	switch ref := schema.At("$ref").(type) {
	case nil:
		return "", false
	case string:
		return ref, true
	default:
		return string(document.AppendJSON(nil, ref)), true
	}
}

func isReference(schema document.Mapping) bool {
	_, ok := reference(schema)
	return ok
}

func hasMembers(m document.Mapping) bool {
	return len(mapping(m, "properties")) > 0 || len(mapping(m, "patternProperties")) > 0
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

// types returns what a schema's type names.
func types(schema document.Mapping) []string {
	if name, ok := schema.At("type").(string); ok {
		return []string{name}
	}
	return slices.Compact(names(list(schema, "type")))
}

// typesOf returns the types that a schema names or, if it names none, those that its other keywords concern.
func typesOf(m document.Mapping) []string {
	if named := types(m); len(named) > 0 {
		return named
	}
	var found []string
	for _, value := range list(m, "enum") {
		if t := typeOf(value); !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	if found == nil {
		return implied(m)
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
	var found string
	for _, member := range m {
		concerns := keywords[member.Key].concerns
		if concerns != "" && found != "" && concerns != found {
			return nil
		}
		found = max(found, concerns)
	}
	if found == "" {
		return nil
	}
	return []string{found}
}

// isImplied reports whether values of other types pass although a type is shown.
func isImplied(m document.Mapping) bool {
	return !isReference(m) && len(types(m)) == 0 && len(list(m, "enum")) == 0 && implied(m) != nil
}

// member finds a member by name, with an index of its mapping.
func (t *table) member(m document.Mapping, name string) *document.Member {
	if len(m) == 0 {
		return nil
	}
	index, ok := t.finder[&m[0]]
	if !ok {
		t.spend(len(m)*100, len(m)*100)
		index = make(map[string]*document.Member, len(m))
		for i := range m {
			index[m[i].Key] = &m[i]
		}
		t.finder[&m[0]] = index
	}
	return index[name]
}

// pointed returns what is at the end of a pointer.
func (t *table) pointed(steps []string) (at any, ok bool) {
	at = t.root
	for _, step := range steps {
		m, isMapping := at.(document.Mapping)
		of := t.member(m, step)
		switch {
		case of != nil:
			at = of.Value
		case isMapping:
			return nil, false
		default:
			if at = document.Locate(at, []string{step}); at == nil {
				return nil, false
			}
		}
	}
	return at, true
}
