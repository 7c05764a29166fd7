package schemadocs

import (
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
)

// columns are those of a table of properties. The last ones are there if they say something.
var columns = [...]string{"Property", "Type", "Presence", "Constraints", "Description"}

type cells [len(columns)]string

// table writes a section's rows.
func (w *writer) table(s *section) {
	w.inTable = true
	defer func() { w.inTable = false }()
	var rows []cells
	size := 0
	for i := range s.rows {
		if w.buf.Len()+size > w.limit {
			break
		}
		c := w.cells(&s.rows[i])
		rows = append(rows, c)
		for _, cell := range c {
			size += len(cell) + 3
		}
	}
	if len(s.rows) == 0 {
		return
	}
	w.rows(rows)
	if left := len(s.rows) - len(rows) + s.omitted; left > 0 {
		w.leftOut(left, "property", "properties")
	}
}

func (w *writer) rows(rows []cells) {
	var used [len(columns)]bool
	for _, c := range rows {
		for i := range c {
			used[i] = used[i] || c[i] != "" || i < 2
		}
	}
	w.paragraph(line(columns, used))
	w.buf.WriteString(line(cells{}, used, "---"))
	w.buf.WriteByte('\n')
	for _, c := range rows {
		w.buf.WriteString(line(c, used))
		w.buf.WriteByte('\n')
	}
}

// line writes a table's line; instead of what is empty it writes what is given for that.
func line(c cells, used [len(columns)]bool, empty ...string) string {
	var b strings.Builder
	b.WriteByte('|')
	for i, cell := range c {
		if !used[i] {
			continue
		}
		if cell == "" {
			cell = strings.Join(empty, "")
		}
		fmt.Fprintf(&b, " %s |", cell)
	}
	return b.String()
}

func (w *writer) cells(r *row) cells {
	var c cells
	c[0], c[1], c[2] = w.rowName(r), "any", r.presence
	if r.isFree {
		c[1] = "not declared here"
	} else {
		c[1] = w.words(r.schema, 0)
		c[3] = strings.Join(w.limits(r.schema), "; ")
	}
	m, _ := r.schema.(document.Mapping)
	if _, isRef := reference(m); isRef {
		m = nil
	}
	c[4] = w.description(r, m)
	return c
}

func (w *writer) rowName(r *row) string {
	name := r.about
	switch {
	case name == "":
		name = w.code(r.name)
	case r.pattern != "":
		name += " " + w.code(r.pattern)
	}
	return w.link(name, w.moreOn(r.schema))
}

// description is what the schema says of a property, and then what property groups say.
func (w *writer) description(r *row, m document.Mapping) string {
	title, _ := m.At("title").(string)
	described, _ := m.At("description").(string)
	said := []string{strong(sentence(oneLine(title))), text(described), w.itemsDescription(m)}
	lines := r.lines
	if r.member != nil {
		lines = slices.Concat(lines, w.plan.lines[r.member])
	}
	if len(lines) > 0 {
		said[1] = sentence(said[1])
	}
	size := 0
	for i, l := range lines {
		if i == maxLines || size > maxText {
			said = append(said, fmt.Sprintf("And %d more.", len(lines)-i))
			break
		}
		said = append(said, text(l))
		size += len(l)
	}
	return joined(said)
}

// itemsDescription is that of items that have no section.
func (w *writer) itemsDescription(m document.Mapping) string {
	items := mapping(m, "items")
	_, isRef := reference(items)
	described, _ := items.At("description").(string)
	if described = text(described); described == "" || isRef || w.moreOn(m) != nil {
		return ""
	}
	return "Each item: " + described
}

// joined puts the texts that there are one after the other.
func joined(texts []string) string {
	var b strings.Builder
	for _, s := range texts {
		if s != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	return b.String()
}
