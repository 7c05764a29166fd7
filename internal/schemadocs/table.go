package schemadocs

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
	"purser/internal/words"
)

// table is a flattened schema.
type table struct {
	title    string
	sections []*section // in the order of the page
	links    []*section // that texts refer to by their position

	root    schema
	outline *jsonschema.Outline
	meter   *budget.Meter
	limit   int   // of size
	size    int   // bytes that the page will have, roughly
	memory  int   // bytes that are held
	err     error // of the budget
	omitted int   // sections

	anchors map[string]int                                   // how often a heading's anchor was taken
	schemas map[*document.Member]schema                      // by the first member
	crossed map[*document.Member][]propertygroups.CrossLines // of outer groups, the same
	known   map[any]*section                                 // the same, or by pointer
	queue   []*section                                       // those that references lead to
}

// newTable flattens a schema. The table holds memory of the budget.
func newTable(meter *budget.Meter, page Page, limit int) *table {
	t := &table{
		title: oneLine(page.Name), meter: meter, limit: limit,
		anchors: make(map[string]int),
		schemas: make(map[*document.Member]schema),
		crossed: make(map[*document.Member][]propertygroups.CrossLines),
		known:   make(map[any]*section),
	}
	options := jsonschema.Options{AssertFormats: page.AssertFormats}
	if t.outline, t.err = jsonschema.NewOutline(meter, page.Schema, options); t.err != nil {
		return t
	}
	t.spend(0, t.outline.Bytes)
	t.root = t.keywords(page.Schema)
	top := t.refer(nil, page.Schema, "#")
	top.level, top.title = 1, t.title
	t.say(&top.before, "This schema is "+prose(sentence(page.Source)))
	if t.outline.IsUnknown {
		named, _ := page.Schema.At("$schema").(string)
		t.say(&top.before, "No document can be checked by it: its `$schema` names no known version of JSON Schema, "+
			code(named)+".")
	}
	t.define()
	t.place(top)
	t.placeReferred()
	last := t.sections[len(t.sections)-1]
	t.say(&last.after, leftOut(t.omitted, "section"))
	t.spend(0, 4*t.size)
	return t
}

// say adds the texts that are not empty as paragraphs.
func (t *table) say(blocks *[]string, texts ...string) {
	for _, text := range texts {
		if text != "" {
			*blocks = append(*blocks, t.count(text))
		}
	}
}

// leftOut says how many things the page has no room for, if any.
func leftOut(n int, noun string) string {
	return when(n > 0, "Left out, because this page would be too long: "+words.Count(n, noun)+".")
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

// Costs of a section and of a text on the page, in bytes of either form and in steps.
const (
	sectionBytes = 400
	textBytes    = 40
	textSteps    = 5000
	byteSteps    = 50
)

// count takes the room for a text and returns it. HTML has more bytes than Markdown for some characters and for code.
func (t *table) count(text string) string {
	n := textBytes + len(text)
	for i := range len(text) {
		if strings.IndexByte("&<>\"`", text[i]) >= 0 {
			n += len("&quot;") - 1
		}
	}
	t.size += n
	t.spend(textSteps+n*byteSteps, 0)
	return text
}

// add appends a section if there is room for it.
func (t *table) add(s *section) bool {
	if s.depth > maxDepth || t.isFull() {
		t.omitted++
		return false
	}
	t.size += sectionBytes
	t.count(s.heading())
	s.anchor = t.anchor(s.title)
	t.sections = append(t.sections, s)
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
