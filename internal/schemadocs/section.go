package schemadocs

import (
	"slices"
	"strings"
)

// section is a part of the page with a heading: the whole schema, a schema about named parts, or a definition. Its
// texts are Markdown.
type section struct {
	level  int    // 1 for the whole schema, 2 or more for others
	title  string // the text of the heading, which is its anchor's, too
	isCode bool   // the heading has code font
	anchor string // empty if it is not on the page
	before []string
	rows   []row
	after  []string

	schema   schema
	path     string // of the properties in it; empty for the whole schema
	parent   *section
	depth    int    // of sections within one another
	omitted  int    // rows
	isPlaced bool   // on the page, or left out
	name     string // in references
}

func (s *section) heading() string {
	if s.isCode {
		return code(s.title)
	}
	return prose(s.title)
}

// write writes the section as Markdown.
func (s *section) write(b *strings.Builder) {
	b.WriteString("####"[:s.level] + " " + s.heading() + "\n")
	for _, text := range s.before {
		b.WriteString("\n" + text + "\n")
	}
	if len(s.rows) > 0 {
		shown := s.shown()
		b.WriteByte('\n')
		s.line(b, columns, shown)
		b.WriteString("|" + strings.Repeat(" --- |", len(shown)) + "\n")
		for _, r := range s.rows {
			s.line(b, r, shown)
		}
	}
	for _, text := range s.after {
		b.WriteString("\n" + text + "\n")
	}
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
		s.level, s.title, s.isCode, s.path = max(2, in.section.level), visible(in.path), true, in.path
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
		t.say(&s.before, "In "+t.link(code(s.parent.path), s.parent)+".")
	}
	of := s.schema
	t.say(&s.before, strong(at[string](of, "title")))
	t.say(&s.before, paragraphs(at[string](of, "description"))...)
	t.groups(s)
	kind, told := t.words(of, place{section: s, path: s.path})
	t.rows(s, part{schema: of, path: s.path}, told)
	limits := t.limits(of, false)
	if !slices.Contains([]string{"object", anyType, various}, kind) || len(s.rows) == 0 || limits != "" {
		t.say(&s.before, "Type: "+join("; ", kind, limits)+".")
	}
	others, isNamed := of.At("additionalProperties"), of.hasMembers() || len(at[[]any](of, "required")) > 0
	isOpen := others == true || others == nil && isNamed && of.At("unevaluatedProperties") == nil
	t.say(&s.after,
		when(others == false && isNamed, "No other properties."),
		when(isOpen, "Other properties are allowed."),
		leftOut(s.omitted, "row"))
}
