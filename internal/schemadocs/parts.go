package schemadocs

import (
	"cmp"
	"strconv"
	"strings"

	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
)

// part is a schema within another one: of a property or of items, or one that a keyword applies to the value itself.
type part struct {
	keyword   string // that holds it
	name      string // the beginning of its row
	path      string // from the other schema, for parts within it
	schema    schema
	isMissing bool // the other schema mentions a property that it does not declare
	isSame    bool // it applies to the value itself
	isTyped   bool // the type of that is known from elsewhere
	presence  string
	crossed   []propertygroups.CrossLines // with paths from the property
	depth     int                         // of parts that have no section
}

// applicator is a keyword that holds schemas, with the name and the path of each part. There % is a name or a number.
type applicator struct {
	keyword, name, path string
	isSame              bool // the schemas apply to the value itself
}

// applicators are in the order of their rows.
var applicators = []applicator{
	{"patternProperties", "names matching %", "./%/", false},
	{"additionalProperties", "each value", ".*", false},
	{"propertyNames", "each name", " (propertyNames)", false},
	{"unevaluatedProperties", "each other property", " (unevaluatedProperties)", false},
	{"prefixItems", "`[%]`", "[%]", false},
	{"items", "each item", "[]", false},
	{"unevaluatedItems", "each other item", " (unevaluatedItems)", false},
	{"contains", "", " (contains)", false},
	{"allOf", "all of (%)", " (allOf %)", true},
	{"anyOf", "at least one of (%)", " (anyOf %)", true},
	{"oneOf", "exactly one of (%)", " (oneOf %)", true},
	{"not", "not", " (not)", true},
	{"if", "if", " (if)", true},
	{"then", "then", " (then)", true},
	{"else", "otherwise", " (else)", true},
	{"dependencies", "if % is given", " (with %)", true},
	{"dependentRequired", "if % is given", " (with %)", true},
	{"dependentSchemas", "if % is given", " (with %)", true},
}

// beside returns an applicator with the names that it has beside the other keywords of a schema.
func (a applicator) beside(s schema) applicator {
	switch {
	case a.keyword == "contains":
		a.name = s.contained()
	case a.keyword == "additionalProperties" && s.hasMembers():
		a.name = "any other name"
	case a.keyword == "items" && s.has("prefixItems"):
		a.name = "each further item"
	}
	return a
}

// parts returns the schemas within another one.
func (t *table) parts(s schema) []part {
	all := t.properties(s)
	for _, a := range applicators {
		value, isGiven := s.Lookup(a.keyword)
		_, isBool := value.(bool)
		if !isGiven || isBool && keywords[a.keyword].says != "" { // then nothing is left to tell
			continue
		}
		a = a.beside(s)
		list, isList := value.([]any)
		members, isMapping := value.(mapping)
		t.spend(200*(len(list)+len(members)), 200*(len(list)+len(members)))
		switch {
		case isList:
			for i, item := range list {
				number := strconv.Itoa(i + 1)
				if a.keyword == "prefixItems" {
					number = strconv.Itoa(i) // as in paths
				}
				all = append(all, t.part(s, a, number, number, item))
			}
		case isMapping && strings.Contains(a.path, "%"):
			for _, m := range members {
				all = append(all, t.part(s, a, visible(m.Key), code(m.Key), m.Value))
			}
		default:
			all = append(all, t.part(s, a, "", "", value))
		}
	}
	return all
}

// part returns the part of an applicator with a name or a number, and that as Markdown.
func (t *table) part(of schema, a applicator, name, shown string, value any) part {
	p := part{
		keyword: a.keyword, isSame: a.isSame, name: strings.Replace(a.name, "%", shown, 1),
		path: strings.Replace(a.path, "%", tail(name), 1), schema: t.read(value, of),
	}
	p.isTyped = a.keyword == "propertyNames" // which are texts
	if _, isList := value.([]any); isList && strings.HasPrefix(a.keyword, "depend") {
		p.schema, p.isTyped = schema{mapping: mapping{{Key: "required", Value: value}}}, true
	}
	return p
}

// properties returns the properties of a schema, then those that it requires or has property groups about without
// declaring them.
func (t *table) properties(s schema) (all []part) {
	if !s.hasSection() {
		return nil
	}
	required, declared := jsonschema.Texts(s.At("required")), make(map[string]any)
	var mentioned []string
	for _, m := range at[mapping](s, "properties") {
		declared[m.Key] = m.Value
		mentioned = append(mentioned, m.Key)
	}
	mentioned = append(mentioned, required...)
	crossed := make(map[string][]propertygroups.CrossLines)
	for _, c := range t.crossed[&s.raw[0]] {
		name := c.Path[0]
		mentioned = append(mentioned, name)
		crossed[name] = append(crossed[name], propertygroups.CrossLines{Path: c.Path[1:], Lines: c.Lines})
	}
	t.spend(len(mentioned)*300, len(mentioned)*300)
	presence, isListed := make(map[string]string), make(map[string]bool)
	for _, name := range required {
		presence[name] = "Required"
	}
	for _, name := range mentioned {
		if isListed[name] {
			continue
		}
		isListed[name] = true
		value, isDeclared := declared[name]
		all = append(all, part{
			keyword: "properties", name: code(name), path: "." + tail(name), schema: t.read(value, s),
			isMissing: !isDeclared, presence: cmp.Or(presence[name], "Optional"), crossed: crossed[name],
		})
	}
	return all
}
