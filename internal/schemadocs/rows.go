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

// property is the subject of a row.
type property struct {
	name     inline
	step     string // from the section's path
	schema   schema
	isFree   bool // the schema does not declare it
	presence string
	lines    []string // of property groups
}

// rows adds the rows of a section, and the sections that they need.
func (t *table) rows(s *section, of schema, crossed []propertygroups.CrossLines) {
	mentioned, presence := names(at[[]any](of, "required")), make(map[string]string)
	t.spend(len(mentioned)*100, 0)
	for _, name := range mentioned {
		presence[name] = "Required"
	}
	undeclared := t.cross(of, crossed)
	for _, c := range crossed {
		mentioned = append(mentioned, c.Path[0])
	}
	properties := at[mapping](of, "properties")
	for i, m := range properties {
		t.row(s, property{
			name: code(m.Key), step: "." + tail(m.Key), schema: t.read(m.Value, of),
			presence: cmp.Or(presence[m.Key], "Optional"), lines: t.lines[&properties[i]],
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
	t.others(s, of)
	t.items(s, of)
	s.After = say(s.After, leftOut(s.omitted, "property", "properties"))
	for i, title := range columns {
		if i < 2 || slices.ContainsFunc(s.Rows, func(r row) bool { return len(r[i]) > 0 }) {
			s.Columns = append(s.Columns, column{i, title})
		}
	}
}

// others adds rows for patterns of names and for all other names.
func (t *table) others(s *section, of schema) {
	for _, m := range at[mapping](of, "patternProperties") {
		t.row(s, property{
			name: join(" ", plain("names matching"), code(m.Key)), step: "./" + tail(m.Key) + "/",
			schema: t.read(m.Value, of), presence: "Optional",
		})
	}
	held := of.At("additionalProperties")
	if _, isBool := held.(bool); isBool || held == nil || len(s.Rows) == 0 && t.isSaid(t.read(held, of)) {
		return
	}
	about := "any name"
	if len(s.Rows) > 0 {
		about = "any other name"
	}
	t.row(s, property{name: plain(about), step: ".*", schema: t.read(held, of), presence: "Optional"})
}

// items adds rows for the items of lists.
func (t *table) items(s *section, of schema) {
	first, rest := of.tuple()
	for i, item := range first {
		step := "[" + strconv.Itoa(i) + "]"
		t.row(s, property{name: code(step), step: step, schema: t.read(item, of)})
	}
	following, about := t.held(of, rest), "each item"
	if first != nil {
		about = "each further item"
	}
	if first == nil && of.At(rest) != nil && !t.isSaid(following) || first != nil && following.raw != nil {
		t.row(s, property{name: plain(about), step: "[]", schema: following})
	}
}

// isSaid reports whether the type and the constraints of a list or a map describe all of its items or values.
func (t *table) isSaid(s schema) bool {
	return !s.isNone && !s.has("description") && t.isPlain(s, "", 0)
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
	if p.schema.isNever && p.presence != "" {
		p.presence = "Not allowed"
	}
	cells := row{p.name, plain("not declared here"), plain(p.presence), nil, t.description(p.schema, p.lines, more != nil)}
	if !p.isFree {
		cells[1], cells[3] = t.words(p.schema, 0), t.limits(p.schema)
	}
	for _, cell := range cells {
		t.count(cell)
	}
	s.Rows = append(s.Rows, cells)
}

// description joins the title and the description of a property and the lines of property groups.
func (t *table) description(s schema, lines []string, hasSection bool) inline {
	described := at[string](s, "description")
	if len(lines) > 0 {
		described = sentence(described)
	}
	said := []inline{strong(sentence(oneLine(at[string](s, "title")))), prose(described)}
	if each := prose(at[string](t.held(s, "items"), "description")); len(each) > 0 && !hasSection {
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
