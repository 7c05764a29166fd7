package schemadocs

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
	"purser/internal/words"
)

// table is a flattened schema, the input of the templates.
type table struct {
	Title    string
	Sections []*section           // in the order of the page
	Columns  [len(columns)]string // of the sections' tables

	root    schema
	outline *jsonschema.Outline
	meter   *budget.Meter
	limit   int   // of size
	size    int   // bytes that the page will have, roughly
	memory  int   // bytes that are held
	err     error // of the budget
	omitted int   // sections

	anchors  map[string]int                                   // how often a heading's anchor was taken
	schemas  map[*document.Member]schema                      // by the first member
	crossed  map[*document.Member][]propertygroups.CrossLines // of outer groups, the same
	sections map[any]*section                                 // the same, or by pointer
	queue    []*section                                       // those that references lead to
}

// newTable flattens a schema. The table holds memory of the budget.
func newTable(meter *budget.Meter, page Page, limit int) *table {
	t := &table{
		Title: oneLine(page.Name), Columns: columns, meter: meter, limit: limit,
		anchors:  make(map[string]int),
		schemas:  make(map[*document.Member]schema),
		crossed:  make(map[*document.Member][]propertygroups.CrossLines),
		sections: make(map[any]*section),
	}
	options := jsonschema.Options{AssertFormats: page.AssertFormats}
	if t.outline, t.err = jsonschema.NewOutline(meter, page.Schema, options); t.err != nil {
		return t
	}
	t.spend(0, t.outline.Bytes)
	t.root = t.keywords(page.Schema)
	top := t.refer(nil, page.Schema, "#")
	top.Level, top.Heading = 1, prose(page.Name)
	t.say(&top.Before, join("", plain("This schema is "), prose(sentence(page.Source))))
	if t.outline.IsUnknown {
		named, _ := page.Schema.At("$schema").(string)
		t.say(&top.Before, join("", plain("No document can be checked by it: its "), code("$schema"),
			plain(" names no known version of JSON Schema, "), code(named), plain(".")))
	}
	t.define()
	t.place(top)
	t.placeReferred()
	last := t.Sections[len(t.Sections)-1]
	t.say(&last.After, leftOut(t.omitted, "section"))
	t.spend(0, 4*t.size)
	return t
}

// say adds the texts that are not empty as paragraphs.
func (t *table) say(blocks *[]block, texts ...inline) {
	for _, text := range texts {
		if len(text) > 0 {
			*blocks = append(*blocks, block{Text: t.count(text)})
		}
	}
}

// leftOut says how many things the page has no room for, if any.
func leftOut(n int, noun string) inline {
	return when(n > 0, plain("Left out, because this page would be too long: "+words.Count(n, noun)+"."))
}

// spend takes steps and bytes from the budget.
func (t *table) spend(steps, bytes int) {
	if t.err == nil {
		t.err = t.meter.Spend(steps)
	}
	if t.err == nil && bytes > 0 {
		t.memory += bytes
		t.err = t.meter.Hold(bytes)
	}
}

// isFull reports whether nothing more is added.
func (t *table) isFull() bool { return t.err != nil || t.size > t.limit }

// Costs of a section and of a piece of text on the page, in bytes of either form and in steps.
const (
	sectionBytes = 400
	spanBytes    = 40
	spanSteps    = 5000
	byteSteps    = 50
)

// count takes the room for a text and returns it.
func (t *table) count(text inline) inline {
	before := t.size
	for _, s := range text {
		t.size += spanBytes + weight(s.Text)
		if s.Section != nil {
			t.size += weight(cmp.Or(s.Section.Anchor, s.Text))
		}
	}
	t.spend(len(text)*spanSteps+(t.size-before)*byteSteps, 0)
	return text
}

// weight returns how many bytes a text may take once it is escaped.
func weight(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			n += len("%80") - 1
		case strings.IndexByte("&<>|\"'+\\`*[]~_", c) >= 0:
			n += len("&#124;") - 1
		}
	}
	return n
}

// add appends a section if there is room for it.
func (t *table) add(s *section) bool {
	if s.depth > maxDepth || t.isFull() {
		t.omitted++
		return false
	}
	t.size += sectionBytes
	s.Anchor = t.anchor(t.count(s.Heading).String())
	t.Sections = append(t.Sections, s)
	return true
}

// anchor returns the anchor of the next heading. It is the one that GitHub makes, so that links in Markdown work there.
func (t *table) anchor(heading string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	slug = cmp.Or(slug, "section")
	anchor := slug
	for _, isTaken := t.anchors[anchor]; isTaken; _, isTaken = t.anchors[anchor] {
		t.anchors[slug]++
		anchor = slug + "-" + strconv.Itoa(t.anchors[slug])
	}
	t.anchors[anchor] = 0
	return anchor
}
