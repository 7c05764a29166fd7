package schemadocs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
)

// part is a schema within another one: of a property or of items, or one that a keyword applies to the value itself.
type part struct {
	keyword   string // that holds it
	name      string // the beginning of its row
	path      string // from the other schema, for parts within it
	schema    schema
	isMissing bool // the other schema mentions a property that it does not declare
	isSame    bool // it applies to the value itself
	isTyped   bool // the type of that is known from elsewhere
	presence  string
	crossed   []propertygroups.CrossLines // with paths from the property
	depth     int                         // of parts that have no section
}

// applicator is a keyword that holds schemas, with the name and the path of each part. There % is a name or a number.
type applicator struct {
	keyword, name, path string
	isSame              bool // the schemas apply to the value itself
}

// applicators are in the order of their rows.
var applicators = []applicator{
	{"patternProperties", "names matching %", "./%/", false},
	{"additionalProperties", "each value", ".*", false},
	{"propertyNames", "each name", " (propertyNames)", false},
	{"unevaluatedProperties", "each other property", " (unevaluatedProperties)", false},
	{"prefixItems", "`[%]`", "[%]", false},
	{"items", "each item", "[]", false},
	{"unevaluatedItems", "each other item", " (unevaluatedItems)", false},
	{"contains", "", " (contains)", false},
	{"allOf", "all of (%)", " (allOf %)", true},
	{"anyOf", "at least one of (%)", " (anyOf %)", true},
	{"oneOf", "exactly one of (%)", " (oneOf %)", true},
	{"not", "not", " (not)", true},
	{"if", "if", " (if)", true},
	{"then", "then", " (then)", true},
	{"else", "otherwise", " (else)", true},
	{"dependencies", "if % is given", " (with %)", true},
	{"dependentRequired", "if % is given", " (with %)", true},
	{"dependentSchemas", "if % is given", " (with %)", true},
}

// beside returns an applicator with the names that it has beside the other keywords of a schema.
func (a applicator) beside(s schema) applicator {
	switch {
	case a.keyword == "contains":
		a.name = s.contained()
	case a.keyword == "additionalProperties" && s.hasMembers():
		a.name = "any other name"
	case a.keyword == "items" && s.has("prefixItems"):
		a.name = "each further item"
	}
	return a
}

// parts returns the schemas within another one.
func (t *table) parts(s schema) []part {
	all := t.properties(s)
	for _, a := range applicators {
		value, isGiven := s.Lookup(a.keyword)
		_, isBool := value.(bool)
		if !isGiven || isBool && keywords[a.keyword].says != "" { // then nothing is left to tell
			continue
		}
		a = a.beside(s)
		list, isList := value.([]any)
		members, isMapping := value.(mapping)
		t.spend(200*(len(list)+len(members)), 200*(len(list)+len(members)))
		switch {
		case isList:
			for i, item := range list {
				number := strconv.Itoa(i + 1)
				if a.keyword == "prefixItems" {
					number = strconv.Itoa(i) // as in paths
				}
				all = append(all, t.part(s, a, number, number, item))
			}
		case isMapping && strings.Contains(a.path, "%"):
			for _, m := range members {
				all = append(all, t.part(s, a, visible(m.Key), code(m.Key), m.Value))
			}
		default:
			all = append(all, t.part(s, a, "", "", value))
		}
	}
	return all
}

// part returns the part of an applicator with a name or a number, and that as Markdown.
func (t *table) part(of schema, a applicator, name, shown string, value any) part {
	p := part{
		keyword: a.keyword, isSame: a.isSame, name: strings.Replace(a.name, "%", shown, 1),
		path: strings.Replace(a.path, "%", tail(name), 1), schema: t.read(value, of),
	}
	p.isTyped = a.keyword == "propertyNames" // which are texts
	if _, isList := value.([]any); isList && strings.HasPrefix(a.keyword, "depend") {
		p.schema, p.isTyped = schema{mapping: mapping{{Key: "required", Value: value}}}, true
	}
	return p
}

// properties returns the properties of a schema, then those that it requires or has property groups about without
// declaring them.
func (t *table) properties(s schema) (all []part) {
	if !s.hasSection() {
		return nil
	}
	required, declared := jsonschema.Texts(s.At("required")), make(map[string]any)
	var mentioned []string
	for _, m := range at[mapping](s, "properties") {
		declared[m.Key] = m.Value
		mentioned = append(mentioned, m.Key)
	}
	mentioned = append(mentioned, required...)
	crossed := make(map[string][]propertygroups.CrossLines)
	for _, c := range t.crossed[&s.raw[0]] {
		name := c.Path[0]
		mentioned = append(mentioned, name)
		crossed[name] = append(crossed[name], propertygroups.CrossLines{Path: c.Path[1:], Lines: c.Lines})
	}
	t.spend(len(mentioned)*300, len(mentioned)*300)
	presence, isListed := make(map[string]string), make(map[string]bool)
	for _, name := range required {
		presence[name] = "Required"
	}
	for _, name := range mentioned {
		if isListed[name] {
			continue
		}
		isListed[name] = true
		value, isDeclared := declared[name]
		all = append(all, part{
			keyword: "properties", name: code(name), path: "." + tail(name), schema: t.read(value, s),
			isMissing: !isDeclared, presence: cmp.Or(presence[name], "Optional"), crossed: crossed[name],
		})
	}
	return all
}

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
