package schemadocs

import (
	"cmp"

	"purser/internal/document"
)

// section adds the section of a schema, then those of what is nested in it. It returns nil if there is no room.
func (t *table) section(schema any, s *section) *section {
	if !t.add(s) {
		return nil
	}
	m, ok := schemaOf(schema)
	t.spend(len(m)*100, 0)
	if len(m) > 0 {
		t.described[&m[0]] = s
	}
	if s.parent != nil && s.parent.path != "" {
		s.Before = say(s.Before, join("", plain("In "), code(s.parent.path).linked(&s.parent.Anchor), plain(".")))
	}
	switch {
	case !ok:
		s.Before = say(s.Before, plain("This is "+malformed+"."))
	case m.At("$ref") != nil:
		s.Before = say(s.Before, join("", plain("The same as "), t.words(m, 0), plain(".")))
	default:
		t.fill(s, m)
	}
	return s
}

// fill describes a schema in its section.
func (t *table) fill(s *section, m mapping) {
	s.Before = say(s.Before, t.count(strong(at[string](m, "title"))))
	for _, paragraph := range paragraphs(at[string](m, "description")) {
		s.Before = say(s.Before, t.count(paragraph))
	}
	kind, limits := t.words(m, 0), t.limits(m)
	t.rows(s, m, t.groups(s, m))
	if len(limits) > 0 || kind.String() != various && (kind.String() != "object" || len(s.Rows) == 0) {
		s.Before = say(s.Before, t.count(join("", plain("Type: "), join("; ", kind, limits), plain("."))))
	}
	others, isNamed := m.At("additionalProperties"), hasMembers(m) || len(at[[]any](m, "required")) > 0
	s.After = say(s.After,
		when(others == false && isNamed, plain("No other properties.")),
		when(others == true || others == nil && isNamed, plain("Other properties are allowed.")),
		when(m.At("additionalItems") == false && len(at[[]any](m, "items")) > 0, plain("No further items.")))
	if _, branches := combination(m); branches == nil {
		s.After = append(s.After, t.conditions(m, place{section: s, path: cmp.Or(s.path, "data")})...)
	}
}

// below adds the section that a schema within another one needs, if any, and returns it.
func (t *table) below(schema any, parent *section, path string, depth int) *section {
	if t.isPlain(schema, "", 0) {
		return nil
	}
	m, _ := schemaOf(schema)
	for _, through := range [...]struct{ keyword, step string }{{"items", "[]"}, {"additionalProperties", ".*"}} {
		inner := m.At(through.keyword)
		if depth <= maxDepth && !t.isPlain(inner, "", 0) && t.isPlain(m, through.keyword, 0) {
			return t.below(inner, parent, path+through.step, depth+1)
		}
	}
	path = tail(path)
	return t.section(m, &section{
		Level: max(2, parent.Level), Heading: code(path), path: path, parent: parent, depth: depth,
	})
}

// isPlain reports whether a row can describe all of a schema, apart from what one keyword holds.
func (t *table) isPlain(schema any, apart string, depth int) bool {
	m, _ := schemaOf(schema)
	t.spend(len(m)*50, 0)
	if len(m) == 0 || m.At("$ref") != nil {
		return true
	}
	if depth > maxNesting {
		return false
	}
	for _, member := range m {
		if member.Key != apart && !t.isPlainMember(m, member, depth) {
			return false
		}
	}
	return true
}

func (t *table) isPlainMember(m mapping, member document.Member, depth int) bool {
	held, _ := member.Value.(mapping)
	several, _ := member.Value.([]any)
	switch member.Key {
	case "properties", "patternProperties", "dependencies":
		return len(held) == 0
	case "required", "allOf", "anyOf", "oneOf":
		_, branches := combination(m)
		return len(several) == 0 || branches != nil
	case "not", "property_groups", "properties_groups_schema":
		return false
	case "items", "additionalProperties":
		return (member.Key != "items" || several == nil) && t.isPlain(held, "", depth+1)
	}
	return true
}
