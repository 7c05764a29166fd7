package schemadocs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
	"purser/internal/words"
)

// section is a part of the page with a heading: the whole schema, a schema about named parts, or a definition. Its
// texts are Markdown.
type section struct {
	level  int    // 1 for the whole schema, 2 or more for others
	title  string // the text of the heading, which is its anchor's, too
	isCode bool   // the heading has code font
	anchor string // empty if it is not on the page
	before []string
	rows   []row
	after  []string

	schema   schema
	path     string // of the properties in it; empty for the whole schema
	parent   *section
	depth    int    // of sections within one another
	omitted  int    // rows
	isPlaced bool   // on the page, or left out
	name     string // in references
}

func (s *section) heading() string {
	if s.isCode {
		return code(s.title)
	}
	return prose(s.title)
}

// write writes the section as Markdown.
func (s *section) write(b *strings.Builder) {
	b.WriteString("####"[:s.level] + " " + s.heading() + "\n")
	for _, text := range s.before {
		b.WriteString("\n" + text + "\n")
	}
	if len(s.rows) > 0 {
		shown := s.shown()
		b.WriteByte('\n')
		s.line(b, columns, shown)
		b.WriteString("|" + strings.Repeat(" --- |", len(shown)) + "\n")
		for _, r := range s.rows {
			s.line(b, r, shown)
		}
	}
	for _, text := range s.after {
		b.WriteString("\n" + text + "\n")
	}
}

// below returns the section of a schema within the one that is described, nil if it needs none. The first time, it
// puts the section on the page.
func (t *table) below(of schema, in place) *section {
	if !of.hasSection() {
		return nil
	}
	s := t.sectionOf(of, "")
	if s == in.section {
		return nil
	}
	if !s.isPlaced {
		s.level, s.title, s.isCode, s.path = max(2, in.section.level), visible(in.path), true, in.path
		s.parent, s.depth = in.section, in.section.depth+1
		t.place(s)
	}
	return s
}

// place puts a section on the page, with those of the schemas in it, if there is room for it.
func (t *table) place(s *section) {
	s.isPlaced = true
	if !t.add(s) {
		return
	}
	if s.parent != nil && s.parent.path != "" {
		t.say(&s.before, "In "+t.link(code(s.parent.path), s.parent)+".")
	}
	of := s.schema
	t.say(&s.before, strong(at[string](of, "title")))
	t.say(&s.before, paragraphs(at[string](of, "description"))...)
	t.groups(s)
	kind, told := t.words(of, place{section: s, path: s.path})
	t.rows(s, part{schema: of, path: s.path}, told)
	limits := t.limits(of, false)
	if !slices.Contains([]string{"object", anyType, various}, kind) || len(s.rows) == 0 || limits != "" {
		t.say(&s.before, "Type: "+join("; ", kind, limits)+".")
	}
	others, isNamed := of.At("additionalProperties"), of.hasMembers() || len(at[[]any](of, "required")) > 0
	isOpen := others == true || others == nil && isNamed && of.At("unevaluatedProperties") == nil
	t.say(&s.after,
		when(others == false && isNamed, "No other properties."),
		when(isOpen, "Other properties are allowed."),
		leftOut(s.omitted, "row"))
}

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

// reference links the target of a $ref, or of another keyword that refers.
func (t *table) reference(s schema, member document.Member) string {
	ref, isText := member.Value.(string)
	if !isText {
		ref = jsonOf(member.Value)
	}
	remark := ""
	switch to := t.outline.Target(s.raw, member.Key); to.Where {
	case jsonschema.Here:
		return t.linkTo(t.refer(to.Path, to.Schema, ref))
	case jsonschema.Nowhere:
		remark = " (which does not exist)"
	case jsonschema.Unread:
		remark = " (not looked up: this schema is too large)"
	case jsonschema.Outside:
		remark = " (outside this schema: not allowed)"
	case jsonschema.Known:
	}
	return code(ref) + remark
}

// linkTo names the schema of a section, with a link to it.
func (t *table) linkTo(s *section) string {
	if s.level == 1 {
		return t.link("this schema", s)
	}
	said := t.link(code(s.name), s)
	if named, ok := s.schema.At("type").(string); ok && named != "object" && named != "array" {
		return prose(named) + " (" + said + ")"
	}
	return said
}

// refer returns the section of a schema that a reference leads to. Those that no other section needs are placed at the
// end of the page.
func (t *table) refer(path []string, value any, ref string) *section {
	s := t.sectionOf(t.read(value, t.root), strings.Join(path, "\x00"))
	if s.name != "" {
		return s
	}
	s.name = ref
	steps, _ := document.PointerSteps(strings.TrimLeft(ref, "#/"))
	if strings.HasPrefix(ref, "#/") && !slices.Equal(steps, path) { // from the root of an embedded resource
		s.name = "#/" + strings.Join(path, "/")
	}
	if len(path) == 2 && (path[0] == "definitions" || path[0] == "$defs") {
		s.name = path[1]
	}
	t.spend(1000, len(s.name)+len(path)*20+400)
	t.queue = append(t.queue, s)
	return s
}

// sectionOf returns the section of a schema, which may not be on the page yet. Schemas without members are identified
// by their path.
func (t *table) sectionOf(of schema, path string) *section {
	key := any(path)
	if len(of.raw) > 0 {
		key = &of.raw[0]
	}
	s, isKnown := t.known[key]
	if !isKnown {
		s = &section{schema: of}
		t.known[key] = s
	}
	return s
}

// define refers to the definitions, so that all of them have a section, and in their order.
func (t *table) define() {
	definitions, _ := t.root.raw.At("definitions").(mapping) // a $ref hides none of them
	for _, m := range definitions {
		t.refer([]string{"definitions", m.Key}, m.Value, "")
	}
	for _, m := range at[mapping](t.root, "$defs") {
		t.refer([]string{"$defs", m.Key}, m.Value, "")
	}
}

// placeReferred places the sections that references lead to, unless other sections needed them.
func (t *table) placeReferred() {
	isFirst := true
	for i := 0; i < len(t.queue); i++ { //nolint:intrange // a section can refer to more
		s := t.queue[i]
		if s.isPlaced {
			continue
		}
		if isFirst {
			isFirst = false
			t.add(&section{level: 2, title: "Definitions"})
		}
		s.path = tail(visible(s.name))
		s.level, s.title, s.isCode = 3, s.path, true
		t.place(s)
	}
}
