package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// reference links the target of a $ref, or of another keyword that refers.
func (t *table) reference(s schema, member document.Member) string {
	ref, isText := member.Value.(string)
	if !isText {
		ref = jsonOf(member.Value)
	}
	remark := ""
	switch to := t.outline.Target(s.raw, member.Key); to.Where {
	case jsonschema.Here:
		return t.linkTo(t.refer(to.Path, to.Schema, ref))
	case jsonschema.Nowhere:
		remark = " (which does not exist)"
	case jsonschema.Unread:
		remark = " (not looked up: this schema is too large)"
	case jsonschema.Outside:
		remark = " (outside this schema: not allowed)"
	case jsonschema.Known:
	}
	return code(ref) + remark
}

// linkTo names the schema of a section, with a link to it.
func (t *table) linkTo(s *section) string {
	if s.level == 1 {
		return t.link("this schema", s)
	}
	said := t.link(code(s.name), s)
	if named, ok := s.schema.At("type").(string); ok && named != "object" && named != "array" {
		return prose(named) + " (" + said + ")"
	}
	return said
}

// refer returns the section of a schema that a reference leads to. Those that no other section needs are placed at the
// end of the page.
func (t *table) refer(path []string, value any, ref string) *section {
	s := t.sectionOf(t.read(value, t.root), strings.Join(path, "\x00"))
	if s.name != "" {
		return s
	}
	s.name = ref
	steps, _ := document.PointerSteps(strings.TrimLeft(ref, "#/"))
	if strings.HasPrefix(ref, "#/") && !slices.Equal(steps, path) { // from the root of an embedded resource
		s.name = "#/" + strings.Join(path, "/")
	}
	if len(path) == 2 && (path[0] == "definitions" || path[0] == "$defs") {
		s.name = path[1]
	}
	t.spend(1000, len(s.name)+len(path)*20+400)
	t.queue = append(t.queue, s)
	return s
}

// sectionOf returns the section of a schema, which may not be on the page yet. Schemas without members are identified
// by their path.
func (t *table) sectionOf(of schema, path string) *section {
	key := any(path)
	if len(of.raw) > 0 {
		key = &of.raw[0]
	}
	s, isKnown := t.known[key]
	if !isKnown {
		s = &section{schema: of}
		t.known[key] = s
	}
	return s
}

// define refers to the definitions, so that all of them have a section, and in their order.
func (t *table) define() {
	definitions, _ := t.root.raw.At("definitions").(mapping) // a $ref hides none of them
	for _, m := range definitions {
		t.refer([]string{"definitions", m.Key}, m.Value, "")
	}
	for _, m := range at[mapping](t.root, "$defs") {
		t.refer([]string{"$defs", m.Key}, m.Value, "")
	}
}

// placeReferred places the sections that references lead to, unless other sections needed them.
func (t *table) placeReferred() {
	isFirst := true
	for i := 0; i < len(t.queue); i++ { //nolint:intrange // a section can refer to more
		s := t.queue[i]
		if s.isPlaced {
			continue
		}
		if isFirst {
			isFirst = false
			t.add(&section{level: 2, title: "Definitions"})
		}
		s.path = tail(visible(s.name))
		s.level, s.title, s.isCode = 3, s.path, true
		t.place(s)
	}
}
