package schemadocs

import (
	"cmp"

	"purser/internal/document"
)

// section adds the section of a schema, then those of nested schemas. It returns nil if there is no room.
func (t *table) section(of schema, s *section) *section {
	if !t.add(s) {
		return nil
	}
	if len(of.raw) > 0 {
		t.described[&of.raw[0]] = s
	}
	if s.parent != nil && s.parent.path != "" {
		s.Before = say(s.Before, join("", plain("In "), code(s.parent.path).linked(&s.parent.Anchor), plain(".")))
	}
	switch {
	case of.isNone:
		s.Before = say(s.Before, plain("This is "+malformed+"."))
	case of.isAlias:
		s.Before = say(s.Before, join("", plain("The same as "), t.words(of, 0), plain(".")))
	default:
		t.fill(s, of)
	}
	return s
}

// fill describes a schema in its section.
func (t *table) fill(s *section, of schema) {
	s.Before = say(s.Before, t.count(strong(at[string](of, "title"))))
	for _, paragraph := range paragraphs(at[string](of, "description")) {
		s.Before = say(s.Before, t.count(paragraph))
	}
	kind, limits := t.words(of, 0), t.limits(of)
	t.rows(s, of, t.groups(s, of))
	if len(limits) > 0 || kind.String() != various && (kind.String() != "object" || len(s.Rows) == 0) {
		s.Before = say(s.Before, t.count(join("", plain("Type: "), join("; ", kind, limits), plain("."))))
	}
	others, isNamed := of.At("additionalProperties"), of.hasMembers() || len(at[[]any](of, "required")) > 0
	first, rest := of.tuple()
	s.After = say(s.After,
		when(others == false && isNamed, plain("No other properties.")),
		when(others == true || others == nil && isNamed && of.At("unevaluatedProperties") == nil,
			plain("Other properties are allowed.")),
		when(t.held(of, rest).isNever && len(first) > 0, plain("No further items.")))
	if _, branches := t.combination(of); branches == nil {
		s.After = append(s.After, t.conditions(of, place{section: s, path: cmp.Or(s.path, "data")})...)
	}
}

// below adds the section that a schema within another one needs, if any, and returns it.
func (t *table) below(of schema, parent *section, path string, depth int) *section {
	if t.isPlain(of, "", 0) {
		return nil
	}
	for _, through := range [...]struct{ keyword, step string }{{"items", "[]"}, {"additionalProperties", ".*"}} {
		inner := t.held(of, through.keyword)
		if depth <= maxDepth && !t.isPlain(inner, "", 0) && t.isPlain(of, through.keyword, 0) {
			return t.below(inner, parent, path+through.step, depth+1)
		}
	}
	path = tail(path)
	return t.section(of, &section{
		Level: max(2, parent.Level), Heading: code(path), path: path, parent: parent, depth: depth,
	})
}

// isPlain reports whether a row can describe all of a schema, except for the value of one keyword.
func (t *table) isPlain(s schema, apart string, depth int) bool {
	t.spend(len(s.mapping)*50, 0)
	if len(s.mapping) == 0 || s.isAlias {
		return true
	}
	if depth > maxNesting {
		return false
	}
	for _, member := range s.mapping {
		if member.Key != apart && !t.isPlainMember(s, member, depth) {
			return false
		}
	}
	return true
}

func (t *table) isPlainMember(s schema, member document.Member, depth int) bool {
	several, isList := member.Value.([]any)
	switch member.Key {
	case "properties", "patternProperties", "dependencies", "dependentRequired", "dependentSchemas":
		return len(at[mapping](s, member.Key)) == 0
	case "required", "allOf", "anyOf", "oneOf":
		_, branches := t.combination(s)
		return len(several) == 0 || branches != nil
	case "prefixItems":
		return len(several) == 0
	case "not", "if", "then", "else", "property_groups", "properties_groups_schema":
		return false
	case "items":
		if isList {
			return false
		}
	}
	if applied[member.Key].row == "" {
		return true
	}
	held := t.held(s, member.Key)
	return t.isPlain(held, "", depth+1) && (applied[member.Key].list == "" || !held.has("description"))
}
