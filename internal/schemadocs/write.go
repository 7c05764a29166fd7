package schemadocs

import (
	"bytes"
	"fmt"
	"strings"

	"purser/internal/document"
)

// Markdown documents a schema. Tables are as GitHub has them; headings have the anchors that GitHub gives them.
func Markdown(p Page) []byte {
	md, _ := newPlan(p).write(maxMarkdown)
	return md
}

// writer writes a plan down.
type writer struct {
	plan    *plan
	buf     bytes.Buffer
	limit   int      // bytes
	reach   int      // sections that will be there, which can be linked to
	anchors []string // of the headings written
	inTable bool
	pipes   int // in code in tables
	items   int // of lists of conditions
	pending int // bytes of items that are not written yet
}

// write returns the page and the anchors of its headings. If not all sections have room it writes once more, without
// links to those that are not there.
func (p *plan) write(limit int) (md []byte, anchors []string) {
	w := &writer{plan: p, limit: limit, reach: len(p.sections)}
	if written := w.page(); written < len(p.sections) {
		w = &writer{plan: p, limit: limit, reach: written}
		w.page()
	}
	return w.buf.Bytes(), w.anchors
}

func (w *writer) isFull() bool { return w.buf.Len()+w.pending > w.limit }

// page writes as many sections as there is room for, and returns how many.
func (w *writer) page() (written int) {
	for _, s := range w.plan.sections[:w.reach] {
		if w.isFull() {
			break
		}
		if s.position == w.plan.definitions && s.position > 0 {
			w.heading(2, "Definitions", w.plan.anchor)
		}
		w.section(s)
		written++
	}
	if left := len(w.plan.sections) - written + w.plan.omitted; left > 0 {
		w.leftOut(left, "section", "sections")
	}
	return written
}

func (w *writer) leftOut(n int, one, many string) {
	if n > 1 {
		one = many
	}
	w.paragraph(fmt.Sprintf("Left out, because this page would be too long: %d %s.", n, one))
}

func (w *writer) section(s *section) {
	if s.position == 0 {
		w.heading(1, text(w.plan.page.Name), s.anchor)
		w.paragraph("This schema is " + text(sentence(w.plan.page.Source)))
	} else {
		w.heading(s.heading, code(s.path), s.anchor)
		w.origin(s)
	}
	w.introduction(s)
	w.table(s)
	w.otherProperties(s)
	w.propertyGroups(s)
	w.conditions(s)
}

// origin leads back to the section that this one belongs to.
func (w *writer) origin(s *section) {
	if s.parent != nil && s.parent.position > 0 {
		w.paragraph("In " + w.link(code(s.parent.path), s.parent) + ".")
	}
}

// introduction says what the section's schema is as a whole.
func (w *writer) introduction(s *section) {
	if s.isMalformed {
		w.paragraph("This is " + malformed + ".")
		return
	}
	title, _ := s.schema.At("title").(string)
	description, _ := s.schema.At("description").(string)
	if _, isRef := reference(s.schema); isRef {
		w.paragraph("The same as " + w.words(s.schema, 0) + ".")
		return
	}
	w.paragraph(strong(title))
	w.paragraph(paragraphs(description))
	words, limits := w.words(s.schema, 0), w.limits(s.schema)
	if len(limits) > 0 || words != various && (words != "object" || len(s.rows) == 0) {
		w.paragraph("Type: " + strings.Join(append([]string{words}, limits...), "; ") + ".")
	}
}

// otherProperties says whether there can be any besides those of the table.
func (w *writer) otherProperties(s *section) {
	switch allowed := s.schema.At("additionalProperties").(type) {
	case bool:
		if !allowed && hasNamedRows(s) {
			w.paragraph("No other properties.")
		} else if allowed {
			w.paragraph("Other properties are allowed.")
		}
	case nil:
		if hasNamedRows(s) {
			w.paragraph("Other properties are allowed.")
		}
	}
	if further := s.schema.At("additionalItems"); further == false && len(list(s.schema, "items")) > 0 {
		w.paragraph("No further items.")
	}
}

func hasNamedRows(s *section) bool {
	_, isRef := reference(s.schema)
	return !isRef && (hasMembers(s.schema) || len(list(s.schema, "required")) > 0)
}

func (w *writer) heading(level int, markdown, anchor string) {
	w.paragraph(strings.Repeat("#", level) + " " + markdown)
	w.anchors = append(w.anchors, anchor)
}

func (w *writer) paragraph(markdown string) {
	if markdown == "" {
		return
	}
	if w.buf.Len() > 0 {
		w.buf.WriteByte('\n')
	}
	w.buf.WriteString(markdown)
	w.buf.WriteByte('\n')
}

// link leads to a section if it will be there.
func (w *writer) link(markdown string, s *section) string {
	if s == nil || s.position >= w.reach {
		return markdown
	}
	return "[" + markdown + "](#" + s.anchor + ")"
}

// moreOn returns the section that says more about a schema; nil if there is none.
func (w *writer) moreOn(schema any) *section {
	m, ok := schema.(document.Mapping)
	if !ok || len(m) == 0 {
		return nil
	}
	return w.plan.more[&m[0]]
}

func strong(s string) string {
	if s = text(s); s == "" {
		return ""
	}
	return "**" + s + "**"
}

// sentence ends a text with a full stop, if it has no end.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
