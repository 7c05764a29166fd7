package schemadocs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// columns are those of a table of properties.
var columns = [...]string{"Property", "Type", "Presence", "Constraints", "Description"}

// row is a line of a section's table.
type row [len(columns)]inline

// column is one that is not empty.
type column struct {
	Index int
	Title string
}

// property is what a row is about.
type property struct {
	name     inline
	step     string // from the section's path
	schema   any
	isFree   bool // the schema does not declare it
	presence string
	lines    []string // of property groups
}

// rows adds the rows of a section, and the sections that they need.
func (t *table) rows(s *section, m mapping, crossed []propertygroups.CrossLines) {
	mentioned, presence := names(at[[]any](m, "required")), make(map[string]string)
	t.spend(len(mentioned)*100, 0)
	for _, name := range mentioned {
		presence[name] = "Required"
	}
	undeclared := t.cross(m, crossed)
	for _, c := range crossed {
		mentioned = append(mentioned, c.Path[0])
	}
	properties := at[mapping](m, "properties")
	for i, of := range properties {
		t.row(s, property{
			name: code(of.Key), step: "." + tail(of.Key), schema: of.Value,
			presence: cmp.Or(presence[of.Key], "Optional"), lines: t.lines[&properties[i]],
		})
	}
	said := make(map[string]bool)
	for _, name := range mentioned {
		if !said[name] && t.member(properties, name) == nil {
			t.row(s, property{
				name: code(name), isFree: true, presence: cmp.Or(presence[name], "Optional"), lines: undeclared[name],
			})
		}
		said[name] = true
	}
	t.others(s, m)
	t.items(s, m)
	s.After = say(s.After, leftOut(s.omitted, "property", "properties"))
	for i, title := range columns {
		if i < 2 || slices.ContainsFunc(s.Rows, func(r row) bool { return len(r[i]) > 0 }) {
			s.Columns = append(s.Columns, column{i, title})
		}
	}
}

// others adds rows for patterns of names and for all other names.
func (t *table) others(s *section, m mapping) {
	for _, of := range at[mapping](m, "patternProperties") {
		t.row(s, property{
			name: join(" ", plain("names matching"), code(of.Key)), step: "./" + tail(of.Key) + "/",
			schema: of.Value, presence: "Optional",
		})
	}
	held := m.At("additionalProperties")
	if _, isBool := held.(bool); isBool || held == nil || len(s.Rows) == 0 && t.isSaid(held) {
		return
	}
	about := "any name"
	if len(s.Rows) > 0 {
		about = "any other name"
	}
	t.row(s, property{name: plain(about), step: ".*", schema: held, presence: "Optional"})
}

// items adds rows for the items of lists.
func (t *table) items(s *section, m mapping) {
	held := m.At("items")
	each, isTuple := held.([]any)
	for i, schema := range each {
		step := "[" + strconv.Itoa(i) + "]"
		t.row(s, property{name: code(step), step: step, schema: schema})
	}
	if further := at[mapping](m, "additionalItems"); isTuple && further != nil {
		t.row(s, property{name: plain("each further item"), step: "[]", schema: further})
	}
	if held != nil && !isTuple && !t.isSaid(held) {
		t.row(s, property{name: plain("each item"), step: "[]", schema: held})
	}
}

// isSaid reports whether the type and the constraints of a list or a map describe all of its items or values.
func (t *table) isSaid(schema any) bool {
	m, ok := schema.(mapping)
	_, isDescribed := m.Lookup("description")
	return ok && !isDescribed && t.isPlain(m, "", 0)
}

// row adds the row of a property, after the section that it needs.
func (t *table) row(s *section, p property) {
	if t.isFull() {
		s.omitted++
		return
	}
	path := s.path + p.step
	if s.path == "" {
		path = strings.TrimPrefix(path, ".")
	}
	more := t.below(p.schema, s, path, s.depth+1)
	if more != nil {
		p.name.linked(&more.Anchor)
	}
	m, _ := schemaOf(p.schema)
	cells := row{p.name, plain("not declared here"), plain(p.presence), nil, description(m, p.lines, more != nil)}
	if !p.isFree {
		cells[1], cells[3] = t.words(p.schema, 0), t.limits(m)
	}
	for _, cell := range cells {
		t.count(cell)
	}
	s.Rows = append(s.Rows, cells)
}

// description joins the title and the description of a property and the lines of property groups.
func description(m mapping, lines []string, hasSection bool) inline {
	described := at[string](m, "description")
	if len(lines) > 0 {
		described = sentence(described)
	}
	said := []inline{strong(sentence(oneLine(at[string](m, "title")))), prose(described)}
	items, _ := schemaOf(m.At("items"))
	if each := prose(at[string](items, "description")); len(each) > 0 && !hasSection {
		said = append(said, join("", plain("Each item: "), each))
	}
	size := 0
	for i, line := range lines {
		if i == maxLines || size > maxText {
			said = append(said, plain(fmt.Sprintf("And %d more.", len(lines)-i)))
			break
		}
		said = append(said, prose(line))
		size += len(line)
	}
	return join(" ", said...)
}

// member finds a member by name, with an index of its mapping.
func (t *table) member(m mapping, name string) *document.Member {
	if len(m) == 0 {
		return nil
	}
	index, ok := t.finder[&m[0]]
	if !ok {
		t.spend(len(m)*100, len(m)*100)
		index = make(map[string]*document.Member, len(m))
		for i := range m {
			index[m[i].Key] = &m[i]
		}
		t.finder[&m[0]] = index
	}
	return index[name]
}
