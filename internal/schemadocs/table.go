package schemadocs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// table is a flattened schema, the input of the templates.
type table struct {
	Title    string
	Sections []*section // in the order of the page

	root    schema
	outline *jsonschema.Outline
	meter   *budget.Meter
	limit   int   // of size
	size    int   // bytes that the page will have, roughly
	memory  int   // bytes that are held
	err     error // of the budget
	omitted int   // sections

	anchors   map[string]int                                   // how often a heading's anchor was taken
	finder    map[*document.Member]map[string]*document.Member // members by name, by a mapping's first member
	schemas   map[*document.Member]schema                      // by the first member
	described map[*document.Member]*section                    // the same
	lines     map[*document.Member][]string                    // of property groups, by member of a properties keyword
	targets   map[string]*target                               // by pointer
	queue     []*target                                        // the same, in the order in which they were referred to

	hasDefinitions bool
}

// section is a part of the page with a heading: a schema that does not fit into a row or a list's item.
type section struct {
	Level   int // 1 for the whole schema, 2 or more for others
	Heading inline
	Anchor  string
	Before  []item
	Columns []column
	Rows    []row
	After   []item

	path    string // of the properties in it; empty for the whole schema
	parent  *section
	depth   int // of sections within one another
	omitted int // rows
}

// item is a paragraph or an item of a list, with the list that is below it.
type item struct {
	Text  inline
	Below []item
}

// newTable flattens a schema. The table holds memory of the budget.
func newTable(meter *budget.Meter, page Page, limit int) *table {
	t := &table{
		Title: oneLine(page.Name), meter: meter, limit: limit,
		anchors:   make(map[string]int),
		finder:    make(map[*document.Member]map[string]*document.Member),
		schemas:   make(map[*document.Member]schema),
		described: make(map[*document.Member]*section),
		lines:     make(map[*document.Member][]string),
		targets:   make(map[string]*target),
	}
	options := jsonschema.Options{AssertFormats: page.AssertFormats}
	if t.outline, t.err = jsonschema.NewOutline(meter, page.Schema, options); t.err != nil {
		return t
	}
	t.spend(0, t.outline.Bytes)
	t.root = t.keywords(page.Schema)
	source := join("", plain("This schema is "), prose(sentence(page.Source)))
	top := &section{Level: 1, Heading: prose(page.Name), Before: say(nil, source)}
	if t.outline.IsUnknown {
		top.Before = say(top.Before, join("", plain("No document can be checked by it: its "), code("$schema"),
			plain(" names no known version of JSON Schema, "), code(at[string](t.root, "$schema")), plain(".")))
	}
	t.target(nil, page.Schema, "#").section = t.section(t.root, top)
	t.define()
	last := t.Sections[len(t.Sections)-1]
	last.After = say(last.After, leftOut(t.omitted, "section", "sections"))
	t.spend(0, 4*t.size)
	return t
}

// say appends the texts that are not empty as paragraphs.
func say(items []item, texts ...inline) []item {
	for _, text := range texts {
		if len(text) > 0 {
			items = append(items, item{Text: text})
		}
	}
	return items
}

// leftOut says how many things the page has no room for; nothing if n is 0.
func leftOut(n int, one, many string) inline {
	if n > 1 {
		one = many
	}
	return when(n > 0, plain(fmt.Sprintf("Left out, because this page would be too long: %d %s.", n, one)))
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
		if s.anchor != nil {
			t.size += weight(cmp.Or(s.Anchor(), s.Text))
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
		case strings.IndexByte(`&<>|"'+`, c) >= 0:
			n += len("&#124;") - 1
		case strings.IndexByte("\\`*[]~_", c) >= 0:
			n++
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

// List returns the content of an item as a Markdown list.
func (i item) List(indent string) string {
	var b strings.Builder
	for _, below := range i.Below {
		b.WriteString(indent + "* " + below.Text.Markdown() + "\n" + below.List(indent+"  "))
	}
	return b.String()
}
