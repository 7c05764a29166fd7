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
)

// table is a flattened schema: what the templates write.
type table struct {
	Title    string
	Sections []*section // in the order of the page

	root    document.Mapping
	meter   *budget.Meter
	limit   int   // of size
	size    int   // bytes that the page will have, roughly
	memory  int   // bytes that are held
	err     error // of the budget
	omitted int   // sections

	anchors   map[string]int
	finder    map[*document.Member]map[string]*document.Member // members by name, by a mapping's first member
	described map[*document.Member]*section                    // by a schema's first member
	lines     map[*document.Member][]string                    // that groups say, by member of a properties keyword
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
	Columns []inline
	Rows    []row
	After   []item

	path    string // of the properties in it; empty for the whole schema
	parent  *section
	omitted int // rows
}

// row is a line of a section's table.
type row []inline

// item is a paragraph or an item of a list, with the list that is below it.
type item struct {
	Text  inline
	Below []item
}

func newTable(meter *budget.Meter, page Page, limit int) *table {
	return &table{
		Title: oneLine(page.Name), root: page.Schema, meter: meter, limit: limit,
		anchors:   make(map[string]int),
		finder:    make(map[*document.Member]map[string]*document.Member),
		described: make(map[*document.Member]*section),
		lines:     make(map[*document.Member][]string),
		targets:   make(map[string]*target),
	}
}

// flatten fills the table.
func (t *table) flatten(page Page) error {
	top := &section{Level: 1, Heading: prose(page.Name)}
	top.Before = []item{{Text: join("", plain("This schema is "), prose(sentence(page.Source)))}}
	t.target("").section = t.section(page.Schema, top, 0)
	t.define()
	if last := t.Sections[len(t.Sections)-1]; t.omitted > 0 {
		last.After = append(last.After, leftOut(t.omitted, "section", "sections"))
	}
	if t.err == nil {
		t.spend(0, 4*t.size)
	}
	return t.err
}

func leftOut(n int, one, many string) item {
	if n > 1 {
		one = many
	}
	return item{Text: plain(fmt.Sprintf("Left out, because this page would be too long: %d %s.", n, one))}
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

// isFull reports whether nothing more is to be said.
func (t *table) isFull() bool { return t.err != nil || t.size > t.limit }

// Costs of a section and of a piece of text on the page, in bytes of either form and in steps.
const (
	sectionBytes = 400
	spanBytes    = 40
	spanSteps    = 5000
	byteSteps    = 50
)

// count takes the room for a text and returns it.
func (t *table) count(texts inline) inline {
	before := t.size
	for _, s := range texts {
		t.size += spanBytes + weight(s.Text)
		if s.anchor != nil {
			t.size += weight(cmp.Or(s.Anchor(), s.Text))
		}
	}
	t.spend(len(texts)*spanSteps+(t.size-before)*byteSteps, 0)
	return texts
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

// Hashes returns what a heading begins with in Markdown.
func (s *section) Hashes() string { return strings.Repeat("#", s.Level) }

// Markdown returns an item as paragraphs.
func (i item) Markdown() string {
	var b strings.Builder
	if len(i.Text) > 0 {
		b.WriteString(i.Text.Markdown() + "\n")
	}
	if len(i.Text) > 0 && len(i.Below) > 0 {
		b.WriteByte('\n')
	}
	writeList(&b, i.Below, "")
	return b.String()
}

func writeList(b *strings.Builder, list []item, indent string) {
	for _, i := range list {
		b.WriteString(indent + "* " + i.Text.Markdown() + "\n")
		writeList(b, i.Below, indent+"  ")
	}
}

// add appends a section if there is room for it.
func (t *table) add(s *section) bool {
	if t.isFull() {
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
	if slug == "" {
		slug = "section"
	}
	anchor := slug
	for _, isTaken := t.anchors[anchor]; isTaken; _, isTaken = t.anchors[anchor] {
		t.anchors[slug]++
		anchor = slug + "-" + strconv.Itoa(t.anchors[slug])
	}
	t.anchors[anchor] = 0
	return anchor
}

// section adds the section of a schema, then those of what is nested in it. It returns nil if there is no room.
func (t *table) section(schema any, s *section, depth int) *section {
	if depth > maxDepth {
		t.omitted++
		return nil
	}
	if !t.add(s) {
		return nil
	}
	m, ok := schema.(document.Mapping)
	t.spend(len(m)*100, 0)
	if len(m) > 0 {
		t.described[&m[0]] = s
	}
	if s.parent != nil && s.parent.path != "" {
		s.Before = append(s.Before, item{Text: join("", plain("In "), code(s.parent.path).linked(s.parent), plain("."))})
	}
	switch {
	case !ok:
		s.Before = append(s.Before, item{Text: plain("This is " + malformed + ".")})
	case isReference(m):
		s.Before = append(s.Before, item{Text: join("", plain("The same as "), t.words(m, 0), plain("."))})
	default:
		t.fill(s, m, depth)
	}
	return s
}

// fill says all of a schema in its section.
func (t *table) fill(s *section, m document.Mapping, depth int) {
	say := func(said inline) {
		if len(said) > 0 {
			s.Before = append(s.Before, item{Text: t.count(said)})
		}
	}
	say(strong(text(m, "title")))
	for _, paragraph := range paragraphs(text(m, "description")) {
		say(paragraph)
	}
	kind, limits := t.words(m, 0), t.limits(m)
	t.rows(s, m, t.groups(s, m), depth)
	if len(limits) > 0 || kind.String() != various && (kind.String() != "object" || len(s.Rows) == 0) {
		say(join("", plain("Type: "), join("; ", append([]inline{kind}, limits...)...), plain(".")))
	}
	s.After = append(s.After, otherProperties(m)...)
	if !isCombination(m) {
		c := &conditioner{table: t, in: s, path: cmp.Or(s.path, "data"), depth: depth + 1}
		s.After = append(s.After, c.conditions(m)...)
	}
}

// otherProperties says whether there can be any besides those of the table.
func otherProperties(m document.Mapping) (said []item) {
	isNamed := hasMembers(m) || len(list(m, "required")) > 0
	allowed, isSaid := m.At("additionalProperties").(bool)
	switch {
	case isSaid && !allowed && isNamed:
		said = append(said, item{Text: plain("No other properties.")})
	case isSaid && allowed, m.At("additionalProperties") == nil && isNamed:
		said = append(said, item{Text: plain("Other properties are allowed.")})
	}
	if m.At("additionalItems") == false && len(list(m, "items")) > 0 {
		said = append(said, item{Text: plain("No further items.")})
	}
	return said
}

// below adds the section that a schema within another one needs, if any, and returns it.
func (t *table) below(schema any, parent *section, path string, depth int) *section {
	m, ok := schema.(document.Mapping)
	if !ok || t.isPlain(m, "", 0) {
		return nil
	}
	for _, through := range [...]struct{ keyword, step string }{{"items", "[]"}, {"additionalProperties", ".*"}} {
		inner := mapping(m, through.keyword)
		if depth <= maxDepth && !t.isPlain(inner, "", 0) && t.isPlain(m, through.keyword, 0) {
			return t.below(inner, parent, path+through.step, depth+1)
		}
	}
	path = tail(path)
	return t.section(m, &section{Heading: code(path), path: path, Level: max(2, parent.Level), parent: parent}, depth)
}

// isPlain reports whether a row can say all of a schema, apart from what one keyword holds.
func (t *table) isPlain(m document.Mapping, apart string, depth int) bool {
	t.spend(len(m)*50, 0)
	if isReference(m) || len(m) == 0 {
		return true
	}
	if depth > maxNesting {
		return false
	}
	for _, member := range m {
		if member.Key != apart && !t.isPlainMember(m, member, depth) {
			return false
		}
	}
	return true
}

func (t *table) isPlainMember(m document.Mapping, member document.Member, depth int) bool {
	held, _ := member.Value.(document.Mapping)
	several, _ := member.Value.([]any)
	switch member.Key {
	case "properties", "patternProperties", "dependencies":
		return len(held) == 0
	case "required", "allOf", "anyOf", "oneOf":
		return len(several) == 0 || isCombination(m)
	case "not", "property_groups", "properties_groups_schema":
		return false
	case "items", "additionalProperties":
		return (member.Key != "items" || several == nil) && t.isPlain(held, "", depth+1)
	}
	return true
}
