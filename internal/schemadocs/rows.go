package schemadocs

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// row is one line of a section's table: a property, or others that have a schema in common.
type row struct {
	name     string
	about    string // instead of a name
	pattern  string // after about
	step     string // from the section's path
	schema   any
	isFree   bool // the schema does not declare it
	presence string
	lines    []string
	member   *document.Member // of properties
}

// fill makes the rows of a section.
func (p *plan) fill(s *section) {
	required := make(map[string]bool)
	for _, name := range names(list(s.schema, "required")) {
		required[name] = true
	}
	own := make(map[string][]string) // what groups say of properties that are not declared
	order := names(list(s.schema, "required"))
	if s.groups != nil {
		order = append(order, p.cross(s, own)...)
	}
	properties := mapping(s.schema, "properties")
	for i := range properties {
		m := &properties[i]
		p.row(s, row{name: m.Key, step: step(s, m.Key), schema: m.Value, presence: presence(required[m.Key]), member: m})
	}
	p.undeclared(s, order, required, own)
	p.others(s)
	p.items(s)
}

func presence(isRequired bool) string {
	if isRequired {
		return "Required"
	}
	return "Optional"
}

func step(s *section, name string) string {
	if s.path == "" {
		return name
	}
	return "." + name
}

func (p *plan) row(s *section, r row) {
	if p.rows >= maxRows {
		s.omitted++
		return
	}
	p.rows++
	s.rows = append(s.rows, r)
}

// undeclared adds rows for names that are required or belong to groups, and are no more than that.
func (p *plan) undeclared(s *section, order []string, required map[string]bool, own map[string][]string) {
	said := make(map[string]bool)
	properties := mapping(s.schema, "properties")
	for _, name := range order {
		if said[name] || len(properties) > 0 && p.finder.member(properties, name) != nil {
			continue
		}
		said[name] = true
		p.row(s, row{name: name, isFree: true, presence: presence(required[name]), lines: own[name]})
	}
}

// others adds rows for the properties that have no name.
func (p *plan) others(s *section) {
	for _, m := range mapping(s.schema, "patternProperties") {
		p.row(s, row{
			about: "names matching", pattern: m.Key, step: step(s, "/"+m.Key+"/"), schema: m.Value, presence: presence(false),
		})
	}
	switch held := s.schema.At("additionalProperties").(type) {
	case nil, bool:
	default:
		about := "any name"
		if len(s.rows) > 0 {
			about = "any other name"
		} else if isSaid(held) {
			return
		}
		p.row(s, row{about: about, step: step(s, "*"), schema: held, presence: presence(false)})
	}
}

// items adds rows for the items of lists.
func (p *plan) items(s *section) {
	switch held := s.schema.At("items").(type) {
	case nil:
	case []any:
		for i, item := range held {
			at := "[" + strconv.Itoa(i) + "]"
			p.row(s, row{name: at, step: at, schema: item})
		}
		if further, ok := s.schema.At("additionalItems").(document.Mapping); ok {
			p.row(s, row{about: "each further item", step: "[]", schema: further})
		}
	default:
		if isSaid(held) {
			return
		}
		p.row(s, row{about: "each item", step: "[]", schema: held})
	}
}

// isSaid tells whether the type and the constraints of a list or a map say all of its items or values.
func isSaid(schema any) bool {
	m, ok := schema.(document.Mapping)
	_, isDescribed := m.Lookup("description")
	return ok && isPlain(m, 0) && !isDescribed
}

// group reads the property groups of a section's schema.
func (p *plan) group(s *section) {
	_, nested := s.schema.Lookup("properties_groups_schema")
	_, named := s.schema.Lookup("property_groups")
	if !nested && !named {
		return
	}
	s.groups = &groups{anchor: p.anchors.of("Property groups")}
	read, err := propertygroups.Parse(s.schema)
	if err != nil && !errors.As(err, &s.groups.fault) {
		s.groups.fault = &propertygroups.Malformed{Message: err.Error()}
	}
	if err != nil {
		return
	}
	if p.described > maxMarkdown {
		s.groups.said.Omitted = 1
		return
	}
	s.groups.said = read.Describe()
	p.described += sizeOf(s.groups.said)
}

func sizeOf(d propertygroups.Description) int {
	size := 0
	for _, s := range slices.Concat(d.Rules, d.Terms) {
		size += len(s.Name) + len(s.Text)
	}
	for _, c := range d.Properties {
		for _, line := range c.Lines {
			size += len(line)
		}
	}
	return size
}

// cross gives the lines of a section's groups to the properties, here or in sections below. What is said of properties
// that are not declared goes to own, and their names come back.
func (p *plan) cross(s *section, own map[string][]string) (undeclared []string) {
	for _, c := range s.groups.said.Properties {
		member, rest := p.walk(s.schema, c.Path)
		for _, line := range c.Lines {
			if len(rest) > 0 && member != nil {
				line = strings.Join(rest, ".") + ": " + line
			} else if len(rest) > 1 {
				line = strings.Join(rest[1:], ".") + ": " + line
			}
			if member != nil {
				p.lines[member] = append(p.lines[member], line)
			} else {
				own[c.Path[0]] = append(own[c.Path[0]], line)
			}
		}
		if member == nil {
			undeclared = append(undeclared, c.Path[0])
		}
	}
	return undeclared
}

// walk follows a path through properties, and the items of lists, as far as they have rows.
func (p *plan) walk(at document.Mapping, path []string) (found *document.Member, rest []string) {
	for i, name := range path {
		member := p.finder.member(p.finder.mapping(at, "properties"), name)
		if member == nil {
			return found, path[i:]
		}
		found = member
		at = p.elements(member.Value)
	}
	return found, nil
}

// elements goes through lists to the schema of their items.
func (p *plan) elements(schema any) document.Mapping {
	m, _ := schema.(document.Mapping)
	for range maxDepth {
		if ref := p.finder.member(m, "$ref"); ref != nil && ref.Value != nil {
			return nil
		}
		items := p.finder.mapping(m, "items")
		if items == nil {
			return m
		}
		m = items
	}
	return nil
}

func cutFront(s string, n int) string {
	from := len(s) - n
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}
