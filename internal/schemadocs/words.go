package schemadocs

import (
	"cmp"
	"slices"
	"strings"

	"purser/internal/document"
)

// Words for the type of a schema that demands none.
const (
	anyType = "any"
	various = "various" // rows tell it
)

// place is where a schema is described.
type place struct {
	section *section
	path    string // of the schema
	depth   int    // of lists and maps
}

// to returns the place of a part of the schema.
func (p place) to(path string) place {
	return place{p.section, within(p.path, path), p.depth + 1}
}

// within returns the path of a part. What is about the document as a whole begins with data.
func within(path, of string) string {
	if path == "" && strings.HasPrefix(of, " ") {
		path = "data"
	}
	return tail(strings.TrimPrefix(path+of, "."))
}

// words names the type that a schema demands: "string", "array of object", a link to a definition or to its section. It
// returns the keywords that need no other words.
func (t *table) words(s schema, in place) (text string, told []string) {
	t.spend(1000+len(s.mapping)*100, 0)
	switch {
	case s.isNone:
		return "malformed (not a schema)", nil
	case s.isNever:
		return "no value", nil
	}
	var referred, said []string
	for _, m := range s.mapping {
		if isReference(m.Key) {
			referred, told = append(referred, t.reference(s, m)), append(told, m.Key)
		}
	}
	named := s.types()
	for _, name := range named[:min(len(named), maxInRow)] {
		text, keyword := t.typeWords(name, s, in)
		said, told = append(said, text), append(told, "type", keyword)
	}
	text = cmp.Or(join(" or ", said...), s.implied())
	if more := t.below(s, in); more != nil {
		text = t.link(cmp.Or(text, code(more.path)), more)
	}
	none := anyType
	if s.has("allOf") || s.has("anyOf") || s.has("oneOf") {
		none = various
	}
	return cmp.Or(join(" and ", append(referred, text)...), none), told
}

// typeWords names one type, and for a list or a map the type of its items or values if words tell all of their schema,
// which the keyword holds.
func (t *table) typeWords(name string, s schema, in place) (text, keyword string) {
	var of, path string
	switch name {
	case "array":
		keyword, of, path = "items", "array of ", "[]"
	case "object":
		keyword, of, path = "additionalProperties", "map of ", ".*"
	case "null", "boolean", "string", "number", "integer":
		return name, ""
	default:
		return code(name) + " (not a type)", ""
	}
	held := t.read(s.At(keyword), s)
	if s.has("prefixItems") || s.hasMembers() || held.isNone || held.isNever || in.depth >= maxNesting {
		return name, ""
	}
	text, told := t.words(held, in.to(path))
	isOther := func(m document.Member) bool { return !slices.Contains(told, m.Key) }
	switch {
	case !held.hasSection() && (len(held.wrong) > 0 || slices.ContainsFunc(held.mapping, isOther)):
		return name, ""
	case len(held.mapping) == 0:
		return name, keyword
	case strings.Contains(text, " or "), strings.Contains(text, " and "):
		text = "(" + text + ")"
	}
	return of + text, keyword
}
