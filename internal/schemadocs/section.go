package schemadocs

import "slices"

// section is a part of the page with a heading: the whole schema, a schema about named parts, or a definition.
type section struct {
	Level   int // 1 for the whole schema, 2 or more for others
	Heading inline
	Anchor  string // empty if it is not on the page
	Before  []block
	Columns []int
	Rows    []row
	After   []block

	schema   schema
	path     string // of the properties in it; empty for the whole schema
	parent   *section
	depth    int    // of sections within one another
	omitted  int    // rows
	isPlaced bool   // on the page, or left out
	name     string // in references
}

// block is a paragraph or a list.
type block struct {
	Text inline
	List []inline
}

// below returns the section of a schema within the one that is described, nil if it needs none. The first time, it
// puts the section on the page.
func (t *table) below(of schema, in place) *section {
	if !of.hasSection() {
		return nil
	}
	s := t.sectionOf(of, "")
	if s == in.section {
		return nil
	}
	if !s.isPlaced {
		s.Level, s.Heading, s.path = max(2, in.section.Level), code(in.path), in.path
		s.parent, s.depth = in.section, in.section.depth+1
		t.place(s)
	}
	return s
}

// place puts a section on the page, with those of the schemas in it, if there is room for it.
func (t *table) place(s *section) {
	s.isPlaced = true
	if !t.add(s) {
		return
	}
	if s.parent != nil && s.parent.path != "" {
		t.say(&s.Before, join("", plain("In "), code(s.parent.path).linked(s.parent), plain(".")))
	}
	of := s.schema
	t.say(&s.Before, strong(at[string](of, "title")))
	t.say(&s.Before, paragraphs(at[string](of, "description"))...)
	t.groups(s)
	kind, told := t.words(of, place{section: s, path: s.path})
	t.rows(s, part{schema: of, path: s.path}, told)
	s.Columns = s.shown()
	limits := t.limits(of, false)
	isTold := slices.Contains([]string{"object", anyType, various}, kind.String()) && len(s.Rows) > 0 && len(limits) == 0
	if !isTold {
		t.say(&s.Before, join("", plain("Type: "), join("; ", kind, limits), plain(".")))
	}
	others, isNamed := of.At("additionalProperties"), of.hasMembers() || len(at[[]any](of, "required")) > 0
	isOpen := others == true || others == nil && isNamed && of.At("unevaluatedProperties") == nil
	t.say(&s.After,
		when(others == false && isNamed, plain("No other properties.")),
		when(isOpen, plain("Other properties are allowed.")),
		leftOut(s.omitted, "row"))
}
