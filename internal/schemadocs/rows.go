package schemadocs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/propertygroups"
)

// columns are those of a table of properties. The last ones are there if they say something.
var columns = [...]string{"Property", "Type", "Presence", "Constraints", "Description"}

// property is what a row is about.
type property struct {
	name     inline
	step     string // from the section's path
	schema   any
	isFree   bool // the schema does not declare it
	presence string
	lines    []string // that groups say of it
}

// rows makes the rows of a section, and the sections that they need.
func (t *table) rows(s *section, m document.Mapping, crossed []propertygroups.CrossLines, depth int) {
	order := names(list(m, "required"))
	t.spend(len(order)*100, 0)
	required := make(map[string]string)
	for _, name := range order {
		required[name] = "Required"
	}
	undeclared := t.cross(m, crossed, &order)
	properties := mapping(m, "properties")
	for i := range properties {
		of := &properties[i]
		t.row(s, depth, property{
			name: code(of.Key), step: "." + tail(of.Key), schema: of.Value,
			presence: cmp.Or(required[of.Key], "Optional"), lines: t.lines[of],
		})
	}
	said := make(map[string]bool)
	for _, name := range order {
		if !said[name] && t.member(properties, name) == nil {
			t.row(s, depth, property{
				name: code(name), isFree: true, presence: cmp.Or(required[name], "Optional"), lines: undeclared[name],
			})
		}
		said[name] = true
	}
	t.others(s, m, depth)
	t.items(s, m, depth)
	if s.omitted > 0 {
		s.After = append(s.After, leftOut(s.omitted, "property", "properties"))
	}
	s.trim()
}

// others adds rows for the properties that have no name.
func (t *table) others(s *section, m document.Mapping, depth int) {
	for _, of := range mapping(m, "patternProperties") {
		t.row(s, depth, property{
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
	t.row(s, depth, property{name: plain(about), step: ".*", schema: held, presence: "Optional"})
}

// items adds rows for the items of lists.
func (t *table) items(s *section, m document.Mapping, depth int) {
	each, isTuple := m.At("items").([]any)
	for i, schema := range each {
		at := "[" + strconv.Itoa(i) + "]"
		t.row(s, depth, property{name: code(at), step: at, schema: schema})
	}
	if further := mapping(m, "additionalItems"); isTuple && further != nil {
		t.row(s, depth, property{name: plain("each further item"), step: "[]", schema: further})
	}
	if held := m.At("items"); held != nil && !isTuple && !t.isSaid(held) {
		t.row(s, depth, property{name: plain("each item"), step: "[]", schema: held})
	}
}

// isSaid reports whether the type and the constraints of a list or a map say all of its items or values.
func (t *table) isSaid(schema any) bool {
	m, ok := schema.(document.Mapping)
	_, isDescribed := m.Lookup("description")
	return ok && !isDescribed && t.isPlain(m, "", 0)
}

func (t *table) row(s *section, depth int, p property) {
	if t.isFull() {
		s.omitted++
		return
	}
	path := s.path + p.step
	if s.path == "" {
		path = strings.TrimPrefix(path, ".")
	}
	more := t.below(p.schema, s, path, depth+1)
	kind, limits := plain("not declared here"), inline(nil)
	m, _ := p.schema.(document.Mapping)
	if !p.isFree {
		kind, limits = t.words(p.schema, 0), join("; ", t.limits(m)...)
	}
	cells := row{p.name.linked(more), kind, plain(p.presence), limits, description(m, p.lines, more != nil)}
	for _, cell := range cells {
		t.count(cell)
	}
	s.Rows = append(s.Rows, cells)
}

// trim drops the columns that say nothing.
func (s *section) trim() {
	for i, column := range slices.Backward(columns[:]) {
		isUsed := i < 2 || slices.ContainsFunc(s.Rows, func(r row) bool { return len(r[i]) > 0 })
		if isUsed {
			s.Columns = append(s.Columns, plain(column))
			continue
		}
		for j := range s.Rows {
			s.Rows[j] = slices.Delete(s.Rows[j], i, i+1)
		}
	}
	slices.Reverse(s.Columns)
}

// description is what a schema says of a property, and then what property groups say.
func description(m document.Mapping, lines []string, hasSection bool) inline {
	if isReference(m) {
		m = nil
	}
	described := text(m, "description")
	if len(lines) > 0 {
		described = sentence(described)
	}
	said := []inline{strong(sentence(oneLine(text(m, "title")))), prose(described)}
	items := mapping(m, "items")
	if each := prose(text(items, "description")); len(each) > 0 && !isReference(items) && !hasSection {
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

// groups adds a section for the property groups of a schema and returns what they say of its properties.
func (t *table) groups(s *section, m document.Mapping) []propertygroups.CrossLines {
	rules, said, fault := t.rules(m)
	if rules == nil && len(fault) == 0 {
		return nil
	}
	g := &section{Level: s.Level + 1, Heading: plain("Property groups")}
	if !t.add(g) {
		return nil
	}
	if len(fault) > 0 {
		g.Before = []item{{Text: fault}}
		return nil
	}
	if len(rules) > 0 {
		g.Before = append(g.Before, item{Below: rules})
	}
	var terms []inline
	for _, term := range said.Referenced {
		terms = append(terms, join(" = ", strong(term.Name), prose(term.Text)))
	}
	switch {
	case len(terms) > 0:
		said := join("", plain("Terms used above: "), join("; ", terms...), plain("."))
		g.Before = append(g.Before, item{Text: t.count(said)})
	case len(rules) == 0:
		g.Before = []item{{Text: plain("None.")}}
	}
	return said.Properties
}

// rules are those of a schema's groups in words (spec/property-groups.md §6), nil if it has none.
func (t *table) rules(m document.Mapping) (rules []item, said propertygroups.Description, fault inline) {
	t.spend(2000*(values(m.At("properties_groups_schema"))+values(m.At("property_groups"))), 0)
	groups, err := propertygroups.Parse(m)
	if groups == nil && err == nil {
		return nil, said, nil
	}
	if err != nil {
		return nil, said, t.count(faultText(err))
	}
	said, rules = groups.Describe(), []item{}
	for i, rule := range said.Rules {
		if t.isFull() {
			said.Omitted += len(said.Rules) - i
			break
		}
		rules = append(rules, item{Text: t.count(join(" - ", strong(rule.Name), prose(rule.Text)))})
	}
	if said.Omitted > 0 {
		rules = append(rules, leftOut(said.Omitted, "group", "groups"))
	}
	return rules, said, nil
}

// values returns how many values there are in one.
func values(value any) int {
	n := 1
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += values(item)
		}
	case document.Mapping:
		for _, member := range v {
			n += values(member.Value)
		}
	}
	return n
}

func faultText(err error) inline {
	said := plain("These groups are malformed, and no document can be judged by them. ")
	if wrong, ok := errors.AsType[*propertygroups.Malformed](err); ok && len(wrong.Keyword) > 0 {
		said = join("", said, plain("At "), code(strings.Join(wrong.Keyword, "/")), plain(": "))
	}
	return append(said, prose(err.Error())...)
}

// cross gives the lines of groups to the properties, here or in sections below. It returns those of properties that
// are not declared, and adds their names to the order.
func (t *table) cross(m document.Mapping, crossed []propertygroups.CrossLines, order *[]string) map[string][]string {
	undeclared := make(map[string][]string)
	for _, c := range crossed {
		member, rest := t.walk(m, c.Path)
		prefix := strings.Join(rest, ".")
		if member == nil {
			*order = append(*order, c.Path[0])
			prefix = strings.Join(rest[1:], ".")
		}
		for _, line := range c.Lines {
			if prefix != "" {
				line = prefix + ": " + line
			}
			if t.spend(100, len(line)); member != nil {
				t.lines[member] = append(t.lines[member], line)
			} else {
				undeclared[c.Path[0]] = append(undeclared[c.Path[0]], line)
			}
		}
	}
	return undeclared
}

// walk follows a path through properties, and the items of lists, as far as they have rows.
func (t *table) walk(at document.Mapping, path []string) (found *document.Member, rest []string) {
	for i, name := range path {
		member := t.member(t.held(at, "properties"), name)
		if member == nil {
			return found, path[i:]
		}
		found = member
		at, _ = member.Value.(document.Mapping)
		for range maxDepth {
			if items := t.held(at, "items"); items != nil {
				at = items
			}
		}
	}
	return found, nil
}

// held returns the mapping that a keyword of a schema holds, nil if there is none or a $ref hides it.
func (t *table) held(schema document.Mapping, keyword string) document.Mapping {
	member, ref := t.member(schema, keyword), t.member(schema, "$ref")
	if member == nil || ref != nil && ref.Value != nil {
		return nil
	}
	m, _ := member.Value.(document.Mapping)
	return m
}
