package schemadocs

import (
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
	depth   int    // of lists, maps and combinations
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
func (t *table) words(s schema, in place) (text inline, told []string) {
	t.spend(1000+len(s.mapping)*100, 0)
	switch {
	case s.isNone:
		return plain("malformed (not a schema)"), nil
	case s.isNever:
		return plain("no value"), nil
	}
	var referred, said []inline
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
	if named == nil && referred == nil && !s.hasSection() {
		text, keyword := t.combined(s, in)
		if keyword == "" && (s.has("allOf") || s.has("anyOf") || s.has("oneOf")) {
			text = plain(various)
		}
		said, told = append(said, text), append(told, keyword)
	}
	if text = join(" or ", said...); len(text) == 0 {
		text = plain(s.implied())
	}
	if more := t.below(s, in); more != nil && len(text) == 0 {
		text = code(more.path).linked(more)
	} else if more != nil {
		text = plain(text.String()).linked(more)
	}
	if text = join(" and ", append(referred, text)...); len(text) == 0 {
		text = plain(anyType)
	}
	return text, told
}

// typeWords names one type, and for a list or a map the type of its items or values if words tell all of their schema,
// which the keyword holds.
func (t *table) typeWords(name string, s schema, in place) (text inline, keyword string) {
	var of, path string
	switch name {
	case "array":
		keyword, of, path = "items", "array of ", "[]"
	case "object":
		keyword, of, path = "additionalProperties", "map of ", ".*"
	case "null", "boolean", "string", "number", "integer":
		return plain(name), ""
	default:
		return join("", code(name), plain(" (not a type)")), ""
	}
	held := t.read(s.At(keyword), s)
	if s.has("prefixItems") || s.hasMembers() || held.isNone || held.isNever {
		return plain(name), ""
	}
	text, isAll := t.whole(held, in.to(path))
	switch words := text.String(); {
	case !isAll:
		return plain(name), ""
	case len(held.mapping) == 0:
		return plain(name), keyword
	case strings.Contains(words, " or "), strings.Contains(words, " and "):
		text = join("", plain("("), text, plain(")"))
	}
	return join("", plain(of), text), keyword
}

// separators are those between the types that schemas of combinators demand.
var separators = map[string]string{"allOf": " and ", "anyOf": " or ", "oneOf": " or "}

// combined names the types that the schemas of the only combinator demand, if they are few and words tell all of them.
func (t *table) combined(s schema, in place) (text inline, keyword string) {
	in.depth += maxNesting / 2 // no combinations of combinations: there are too many of them
	var said []inline
	for _, p := range t.parts(s) {
		if separators[p.keyword] == "" {
			continue
		}
		text, isAll := t.whole(p.schema, in.to(p.path))
		if !isAll || keyword != "" && keyword != p.keyword || len(said) == maxInRow {
			return nil, ""
		}
		keyword, said = p.keyword, append(said, text)
	}
	either := when(keyword == "oneOf" && len(said) > 1, plain("either "))
	return join("", either, join(separators[keyword], said...)), keyword
}

// whole is like words, and reports whether they tell all of the schema.
func (t *table) whole(s schema, in place) (text inline, isAll bool) {
	if in.depth > maxNesting {
		return nil, false
	}
	text, told := t.words(s, in)
	isOther := func(m document.Member) bool { return !slices.Contains(told, m.Key) }
	return text, s.hasSection() || len(s.wrong) == 0 && !slices.ContainsFunc(s.mapping, isOther)
}
