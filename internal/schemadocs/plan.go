package schemadocs

import (
	"strconv"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// section is a part of the page with a heading: a schema that does not fit into a row or a list's item.
type section struct {
	position int
	path     string // as the heading shows it: a.b[].c; empty for the whole schema
	anchor   string
	heading  int // 1 for the whole schema, 2 or 3 for others
	parent   *section
	schema   document.Mapping
	rows     []row
	groups   *groups
	omitted  int // rows that are not planned

	isMalformed bool // it is no schema
}

// groups are the property groups of a section's schema.
type groups struct {
	anchor string
	said   propertygroups.Description
	fault  *propertygroups.Malformed
}

// plan is what is said where.
type plan struct {
	page        Page
	anchors     anchors
	finder      finder
	sections    []*section // in the order of the page
	definitions int        // the position of the first definition; its heading has the anchor
	anchor      string
	exact       map[*document.Member]*section // by a schema's first member: where it is described
	more        map[*document.Member]*section // the same, or where its items are, if there is no more to it
	targets     map[string]target             // by fragment
	byPointer   map[string]*section           // of definitions, by their target's key
	lines       map[*document.Member][]string // that groups say, by member of a properties keyword
	rows        int
	described   int // bytes of what groups say
	omitted     int // sections
}

func newPlan(page Page) *plan {
	p := &plan{
		page: page, finder: make(finder), exact: make(map[*document.Member]*section),
		more: make(map[*document.Member]*section), targets: make(map[string]target),
		byPointer: make(map[string]*section),
		lines:     make(map[*document.Member][]string),
	}
	p.section(page.Schema, &section{heading: 1, anchor: p.anchors.of(oneLine(page.Name))}, 0)
	p.define()
	return p
}

// section adds a section, and those for what is nested in it.
func (p *plan) section(schema document.Mapping, s *section, depth int) *section {
	if len(p.sections) >= maxSections || depth > maxDepth {
		p.omitted++
		return nil
	}
	s.position, s.schema = len(p.sections), schema
	p.sections = append(p.sections, s)
	if s.anchor == "" {
		s.anchor = p.anchors.of(s.path)
	}
	if len(schema) > 0 {
		p.exact[&schema[0]], p.more[&schema[0]] = s, s
	}
	if _, isRef := reference(schema); isRef {
		return s
	}
	p.group(s)
	p.fill(s)
	for _, r := range s.rows {
		p.below(r.schema, s, s.path+r.step, depth+1)
	}
	p.branches(schema, s, depth)
	return s
}

// below adds the section that a schema within another one needs, if any.
func (p *plan) below(schema any, parent *section, path string, depth int) {
	m, ok := schema.(document.Mapping)
	if !ok || len(m) == 0 || isPlain(m, 0) {
		return
	}
	if inner, step := wrapped(m); inner != nil && depth <= maxDepth {
		p.below(inner, parent, path+step, depth+1)
		p.more[&m[0]] = p.more[&inner[0]]
		return
	}
	p.section(m, &section{path: tail(path), heading: max(2, parent.heading), parent: parent}, depth)
}

// branches adds the sections that alternatives and other conditions need.
func (p *plan) branches(schema document.Mapping, parent *section, depth int) {
	if depth > maxDepth || isCombination(schema) {
		return
	}
	n := 0
	for _, m := range schema {
		held, _ := m.Value.(document.Mapping)
		switch m.Key {
		case "allOf", "anyOf", "oneOf":
			for _, branch := range list(schema, m.Key) {
				n++
				p.branch(branch, parent, " (option "+strconv.Itoa(n)+")", depth)
			}
		case "not":
			p.branch(held, parent, " (not)", depth)
		case "dependencies":
			for _, dependency := range held {
				p.branch(dependency.Value, parent, " (with "+dependency.Key+")", depth)
			}
		}
	}
}

func (p *plan) branch(schema any, parent *section, suffix string, depth int) {
	m, ok := schema.(document.Mapping)
	if _, isRef := reference(m); !ok || isRef {
		return
	}
	path := parent.path
	if path == "" {
		path = "data"
	}
	if isNested(m) {
		p.below(m, parent, path+suffix, depth+1)
		return
	}
	inner := *parent // whose path is used, and nothing else
	inner.path = tail(path + suffix)
	p.branches(m, &inner, depth+1)
}

// isNested tells whether a schema has schemas of its own members or items that need a section.
func isNested(m document.Mapping) bool {
	return len(mapping(m, "properties")) > 0 || len(mapping(m, "patternProperties")) > 0 || len(list(m, "items")) > 0 ||
		!isPlain(mapping(m, "items"), 1) || !isPlain(mapping(m, "additionalProperties"), 1)
}

// isPlain tells whether a row can say all of a schema.
func isPlain(m document.Mapping, depth int) bool {
	if _, isRef := reference(m); isRef || len(m) == 0 {
		return true
	}
	if depth > maxNesting {
		return false
	}
	for _, member := range m {
		switch member.Key {
		case "properties", "patternProperties", "dependencies":
			if held, ok := member.Value.(document.Mapping); ok && len(held) > 0 {
				return false
			}
		case "required", "allOf", "anyOf", "oneOf":
			if held, ok := member.Value.([]any); ok && len(held) > 0 && !isCombination(m) {
				return false
			}
		case "not", "property_groups", "properties_groups_schema":
			return false
		case "items":
			if _, isTuple := member.Value.([]any); isTuple {
				return false
			}
		}
	}
	return isPlain(mapping(m, "items"), depth+1) && isPlain(mapping(m, "additionalProperties"), depth+1)
}

// wrapped returns the schema of a list's items or a map's values, if a row can say all else.
func wrapped(m document.Mapping) (inner document.Mapping, step string) {
	for _, keyword := range []string{"items", "additionalProperties"} {
		rest := make(document.Mapping, 0, len(m))
		for _, member := range m {
			if member.Key != keyword {
				rest = append(rest, member)
			}
		}
		if held := mapping(m, keyword); !isPlain(held, 0) && isPlain(rest, 0) {
			return held, steps[keyword]
		}
	}
	return nil, ""
}

// steps are how paths go on below the keywords.
var steps = map[string]string{"items": "[]", "additionalProperties": ".*"}

// maxPath is how many bytes of a path are shown.
const maxPath = 200

// tail shortens a path from the front.
func tail(path string) string {
	if len(path) <= maxPath {
		return path
	}
	return "…" + cutFront(path, maxPath)
}
