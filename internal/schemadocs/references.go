package schemadocs

import (
	"slices"
	"strings"

	"purser/internal/document"
)

// target is what references within the schema point to.
type target struct {
	name    string
	schema  any
	isFound bool
	scalar  string   // its type, if it names one that has no parts
	section *section // nil if there is none, or not yet
	anchor  string   // of the section, once the table is complete
}

var scalars = []string{"string", "number", "integer", "boolean", "null"}

// reference links the target of a $ref.
func (t *table) reference(value any) inline {
	ref, isText := value.(string)
	if !isText {
		ref = string(document.AppendJSON(nil, value))
	}
	fragment, isLocal := strings.CutPrefix(ref, "#")
	if !isLocal && ref != "" {
		return join("", code(ref), plain(" (outside this schema: not allowed)"))
	}
	to := t.target(fragment)
	if !to.isFound {
		return join("", code(ref), plain(" (which does not exist)"))
	}
	if to == t.targets[""] {
		return plain("this schema").linked(&to.anchor)
	}
	said := code(to.name).linked(&to.anchor)
	if to.scalar != "" {
		return join("", plain(to.scalar+" ("), said, plain(")"))
	}
	return said
}

// target returns the target of a reference. Those without a section get one at the end of the page.
func (t *table) target(fragment string) *target {
	steps, ok := document.PointerSteps(strings.TrimLeft(fragment, "/"))
	if !ok {
		return new(target)
	}
	name := "#" + fragment
	if len(steps) == 2 && steps[0] == "definitions" {
		name = steps[1]
	}
	return t.targetAt(steps, name)
}

func (t *table) targetAt(steps []string, name string) *target {
	key := strings.Join(steps, "\x00")
	to, isKnown := t.targets[key]
	if !isKnown {
		to = &target{name: name}
		to.schema, to.isFound = t.pointed(steps)
		m, _ := to.schema.(mapping)
		if named := types(m); len(named) == 1 && slices.Contains(scalars, named[0]) {
			to.scalar = named[0]
		}
		t.spend(1000, len(key)+len(name)+200)
		t.targets[key] = to
		t.queue = append(t.queue, to)
	}
	return to
}

// pointed returns what is at the end of a pointer.
func (t *table) pointed(steps []string) (found any, ok bool) {
	found = t.root
	for _, step := range steps {
		m, isMapping := found.(mapping)
		member := t.member(m, step)
		switch {
		case member != nil:
			found = member.Value
		case isMapping:
			return nil, false
		default:
			if found = document.Locate(found, []string{step}); found == nil {
				return nil, false
			}
		}
	}
	return found, true
}

// define adds sections for the definitions, and for the other targets that have none.
func (t *table) define() {
	for _, m := range at[mapping](t.root, "definitions") {
		t.definition(t.targetAt([]string{"definitions", m.Key}, m.Key))
	}
	for i := 0; i < len(t.queue); i++ { //nolint:intrange // a target can refer to more
		to := t.queue[i]
		if m, _ := schemaOf(to.schema); len(m) > 0 && to.section == nil {
			to.section = t.described[&m[0]]
		}
		if to.isFound && to.section == nil {
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
