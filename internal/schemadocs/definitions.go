package schemadocs

import (
	"strings"

	"purser/internal/document"
)

// target is what a reference within the schema points to.
type target struct {
	key     string // the same for all ways to write the pointer
	name    string
	section *section // nil if it is not planned
	schema  any
	isFound bool
	scalar  string // its type, if it names one that has no parts
}

// define adds sections for the definitions, and for what else is referred to and has none.
func (p *plan) define() {
	c := &collector{seen: make(map[string]bool)}
	c.schema(p.page.Schema)
	definitions := mapping(p.page.Schema, "definitions")
	if len(definitions) > 0 || p.needsTargets(c) {
		p.definitions, p.anchor = len(p.sections), p.anchors.of("Definitions")
	}
	for _, m := range definitions {
		p.definition(keyOf([]string{"definitions", m.Key}), m.Key, m.Value)
		c.schema(m.Value)
	}
	for i := 0; i < len(c.fragments); i++ { //nolint:intrange // a target can bring more
		fragment := c.fragments[i]
		t := p.target(fragment)
		if _, isKnown := p.byPointer[t.key]; t.isFound && t.section == nil && !isKnown {
			t.section = p.definition(t.key, t.name, t.schema)
			c.schema(t.schema)
		}
		m, _ := t.schema.(document.Mapping)
		if named := types(m); len(named) == 1 && isScalar(named[0]) {
			t.scalar = named[0]
		}
		p.targets[fragment] = t
	}
}

// needsTargets tells whether something is referred to that has no section.
func (p *plan) needsTargets(c *collector) bool {
	for _, fragment := range c.fragments {
		if t := p.target(fragment); t.isFound && t.section == nil {
			return true
		}
	}
	return false
}

// definition adds the section of a definition, which may be no schema.
func (p *plan) definition(key, name string, value any) *section {
	s := &section{path: tail(visible(name)), heading: 3}
	m, ok := value.(document.Mapping)
	s.isMalformed = !ok
	s = p.section(m, s, 0)
	p.byPointer[key] = s
	return s
}

// keyOf is the same for all ways to write a pointer.
func keyOf(steps []string) string { return strings.Join(steps, "\x00") }

func (p *plan) target(fragment string) target {
	steps, ok := pointerSteps(fragment)
	if !ok {
		return target{}
	}
	t := target{key: keyOf(steps), name: "#" + fragment}
	if len(steps) == 2 && steps[0] == "definitions" {
		t.name = steps[1]
	}
	if t.schema, t.isFound = p.finder.pointed(p.page.Schema, steps); !t.isFound {
		return t
	}
	t.section = p.byPointer[t.key]
	if m, isMapping := t.schema.(document.Mapping); t.section == nil && isMapping && len(m) > 0 {
		t.section = p.exact[&m[0]]
	}
	return t
}

// collector finds the references of schemas, in the order in which they are written.
type collector struct {
	seen      map[string]bool
	fragments []string
	depth     int
}

func (c *collector) schema(value any) {
	m, ok := value.(document.Mapping)
	if !ok || c.depth > 10*maxDepth {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	if ref, isRef := reference(m); isRef {
		c.reference(ref)
		return
	}
	for _, member := range m {
		c.keyword(member)
	}
}

func (c *collector) reference(ref string) {
	fragment, isLocal := strings.CutPrefix(ref, "#")
	if (isLocal || ref == "") && !c.seen[fragment] {
		c.seen[fragment] = true
		c.fragments = append(c.fragments, fragment)
	}
}

func (c *collector) keyword(m document.Member) {
	switch m.Key {
	case "additionalItems", "additionalProperties", "not":
		c.schema(m.Value)
	case "allOf", "anyOf", "oneOf", "items":
		c.schema(m.Value)
		c.list(m.Value)
	case "properties", "patternProperties", "dependencies":
		named, _ := m.Value.(document.Mapping)
		for _, schema := range named {
			c.schema(schema.Value)
		}
	}
}

func (c *collector) list(value any) {
	schemas, _ := value.([]any)
	for _, schema := range schemas {
		c.schema(schema)
	}
}
