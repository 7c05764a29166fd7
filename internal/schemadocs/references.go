package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// target is the target of references within the schema.
type target struct {
	name    string
	schema  schema
	isRoot  bool
	scalar  string   // its type, if it names one that has no parts
	section *section // nil if there is none, or not yet
	anchor  string   // of the section, once the table is complete
}

var scalars = []string{"string", "number", "integer", "boolean", "null"}

// reference links the target of a $ref, or of another keyword that refers.
func (t *table) reference(s schema, member document.Member) inline {
	ref, isText := member.Value.(string)
	if !isText {
		ref = string(document.AppendJSON(nil, member.Value))
	}
	remark := ""
	switch to := t.outline.Target(s.raw, member.Key); to.Where {
	case jsonschema.Here:
		return t.target(to.Path, to.Schema, ref).link()
	case jsonschema.Nowhere:
		remark = " (which does not exist)"
	case jsonschema.Unread:
		remark = " (not looked up: this schema is too large)"
	case jsonschema.Outside:
		remark = " (outside this schema: not allowed)"
	case jsonschema.Known:
	}
	return join("", code(ref), plain(remark))
}

// link names a target, with a link to its section.
func (to *target) link() inline {
	said := code(to.name).linked(&to.anchor)
	switch {
	case to.isRoot:
		return plain("this schema").linked(&to.anchor)
	case to.scalar != "":
		return join("", plain(to.scalar+" ("), said, plain(")"))
	}
	return said
}

// target returns the target of a reference. Those without a section get one at the end of the page.
func (t *table) target(path []string, value any, ref string) *target {
	key := strings.Join(path, "\x00")
	to, isKnown := t.targets[key]
	if !isKnown {
		to = &target{name: ref, schema: t.read(value, t.root), isRoot: len(path) == 0}
		steps, _ := document.PointerSteps(strings.TrimLeft(ref, "#/"))
		if strings.HasPrefix(ref, "#/") && !slices.Equal(steps, path) { // from the root of an embedded resource
			to.name = "#/" + strings.Join(path, "/")
		}
		if len(path) == 2 && (path[0] == "definitions" || path[0] == "$defs") {
			to.name = path[1]
		}
		if named := to.schema.types(); len(named) == 1 && slices.Contains(scalars, named[0]) {
			to.scalar = named[0]
		}
		t.spend(1000, len(key)+len(to.name)+200)
		t.targets[key] = to
		t.queue = append(t.queue, to)
	}
	return to
}

// define adds sections for the definitions, and for the other targets that have none.
func (t *table) define() {
	definitions, _ := t.root.raw.At("definitions").(mapping) // a $ref hides none of them
	for _, m := range definitions {
		t.definition(t.target([]string{"definitions", m.Key}, m.Value, ""))
	}
	for _, m := range at[mapping](t.root, "$defs") {
		t.definition(t.target([]string{"$defs", m.Key}, m.Value, ""))
	}
	for i := 0; i < len(t.queue); i++ { //nolint:intrange // a target can refer to more
		to := t.queue[i]
		if raw := to.schema.raw; len(raw) > 0 && to.section == nil {
			to.section = t.described[&raw[0]]
		}
		if to.section == nil {
			t.definition(to)
		}
	}
	for _, to := range t.queue {
		if to.section != nil {
			to.anchor = to.section.Anchor
		}
	}
}

// definition adds the section of a target.
func (t *table) definition(to *target) {
	if !t.hasDefinitions {
		t.hasDefinitions = true
		t.add(&section{Level: 2, Heading: plain("Definitions")})
	}
	path := tail(visible(to.name))
	to.section = t.section(to.schema, &section{Level: 3, Heading: code(path), path: path})
}
