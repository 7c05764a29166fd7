package schemadocs

import (
	"slices"
	"strings"
)

// columns are those of a table of properties.
var columns = [5]string{"Property", "Type", "Presence", "Constraints", "Description"}

// row is a line of a section's table.
type row [5]string

// rows adds a row for each part of another one, unless its type or its constraints tell all of the keyword's schemas.
func (t *table) rows(s *section, of part, told []string) {
	for _, p := range t.parts(of.schema) {
		if slices.Contains(told, p.keyword) {
			continue
		}
		p.name, p.path, p.depth = join(": ", of.name, p.name), within(of.path, p.path), of.depth+1
		p.isTyped = p.isTyped || p.isSame &&
			(of.isTyped || of.schema.types() != nil || of.schema.implied() == p.schema.implied())
		t.row(s, p)
	}
}

// row adds the row of a part, and those of the parts within it unless they have a section.
func (t *table) row(s *section, p part) {
	if t.isFull() || p.depth > maxDepth {
		s.omitted++
		return
	}
	if p.schema.isNever && p.presence != "" {
		p.presence = "Not allowed"
	}
	description := t.description(p.schema, t.split(p.schema, p.crossed)) // first: it keeps lines for sections below
	words, told := t.words(p.schema, place{s, p.path, 0})
	limits := t.limits(p.schema, p.isTyped || p.schema.hasSection())
	switch {
	case p.isMissing:
		words = "not declared here"
	case p.isTyped && p.schema.implied() != "" && !p.schema.hasSection() && len(limits) > 0:
		words = ""
	}
	cells := row{p.name, words, p.presence, limits, description}
	for _, cell := range cells {
		t.count(cell)
	}
	s.rows = append(s.rows, cells)
	if !p.schema.hasSection() {
		t.rows(s, p, told)
	}
}

// description joins the title and the description of a property and the lines of property groups.
func (t *table) description(s schema, lines []string) string {
	described := at[string](s, "description")
	if len(lines) > 0 {
		described = sentence(described)
	}
	title := strong(sentence(at[string](s, "title")))
	return join(" ", title, prose(described), prose(strings.Join(lines, " ")))
}

// line writes the shown cells of a row. In a table, a pipe must be escaped even in code.
func (*section) line(b *strings.Builder, cells row, shown []int) {
	b.WriteByte('|')
	for _, i := range shown {
		b.WriteString(" " + strings.ReplaceAll(cells[i], "|", `\|`) + " |")
	}
	b.WriteByte('\n')
}

// shown returns the indices of the columns that are not empty.
func (s *section) shown() (indices []int) {
	for i := range columns {
		if i < 2 || slices.ContainsFunc(s.rows, func(r row) bool { return r[i] != "" }) {
			indices = append(indices, i)
		}
	}
	return indices
}
