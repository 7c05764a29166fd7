package schemadocs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// Words for the type of a schema that demands none.
const (
	anyType = "any"
	various = "various" // rows tell it
)

// place is where a schema is described.
type place struct {
	section *section
	path    string // of the schema
	depth   int    // of lists and maps
}

// to returns the place of a part of the schema.
func (p place) to(path string) place {
	return place{p.section, within(p.path, path), p.depth + 1}
}

// within returns the path of a part. What is about the document as a whole begins with data.
func within(path, of string) string {
	if path == "" && strings.HasPrefix(of, " ") {
		path = "data"
	}
	return tail(strings.TrimPrefix(path+of, "."))
}

// words names the type that a schema demands: "string", "array of object", a link to a definition or to its section. It
// returns the keywords that need no other words.
func (t *table) words(s schema, in place) (text string, told []string) {
	t.spend(1000+len(s.mapping)*100, 0)
	switch {
	case s.isNone:
		return "malformed (not a schema)", nil
	case s.isNever:
		return "no value", nil
	}
	var referred, said []string
	for _, m := range s.mapping {
		if isReference(m.Key) {
			referred, told = append(referred, t.reference(s, m)), append(told, m.Key)
		}
	}
	named := s.types()
	for _, name := range named[:min(len(named), maxInRow)] {
		text, keyword := t.typeWords(name, s, in)
		said, told = append(said, text), append(told, "type", keyword)
	}
	text = cmp.Or(join(" or ", said...), s.implied())
	if more := t.below(s, in); more != nil {
		text = t.link(cmp.Or(text, code(more.path)), more)
	}
	none := anyType
	if s.has("allOf") || s.has("anyOf") || s.has("oneOf") {
		none = various
	}
	return cmp.Or(join(" and ", append(referred, text)...), none), told
}

// typeWords names one type, and for a list or a map the type of its items or values if words tell all of their schema,
// which the keyword holds.
func (t *table) typeWords(name string, s schema, in place) (text, keyword string) {
	var of, path string
	switch name {
	case "array":
		keyword, of, path = "items", "array of ", "[]"
	case "object":
		keyword, of, path = "additionalProperties", "map of ", ".*"
	case "null", "boolean", "string", "number", "integer":
		return name, ""
	default:
		return code(name) + " (not a type)", ""
	}
	held := t.read(s.At(keyword), s)
	if s.has("prefixItems") || s.hasMembers() || held.isNone || held.isNever || in.depth >= maxNesting {
		return name, ""
	}
	text, told := t.words(held, in.to(path))
	isOther := func(m document.Member) bool { return !slices.Contains(told, m.Key) }
	switch {
	case !held.hasSection() && (len(held.wrong) > 0 || slices.ContainsFunc(held.mapping, isOther)):
		return name, ""
	case len(held.mapping) == 0:
		return name, keyword
	case strings.Contains(text, " or "), strings.Contains(text, " and "):
		text = "(" + text + ")"
	}
	return of + text, keyword
}

// limits returns phrases for what a schema demands besides types and parts with rows, and for its default. The last one
// says that values of other types than the implied one pass, unless another schema names the type.
func (t *table) limits(s schema, isTyped bool) string {
	t.spend(1000+len(s.mapping)*100, 0)
	var said []string
	for _, keyword := range s.wrong {
		should := strings.TrimSuffix(keywords[keyword].holds, " or a list") // of schemas
		said = append(said, "malformed: "+code(keyword)+" should be "+should)
	}
	for _, m := range s.mapping {
		said = append(said, t.limitOf(s, m))
	}
	if !isTyped && s.implied() != "" {
		said = append(said, "other types pass unchecked")
	}
	return join("; ", said...)
}

// limitOf returns a phrase for a keyword.
func (t *table) limitOf(s schema, m document.Member) string {
	of, list, text := keywords[m.Key], at[[]any](s, m.Key), at[string](s, m.Key)
	switch {
	case m.Key == "enum" && len(list) == 1:
		return codes("only ", list, "", jsonOf)
	case m.Key == "enum":
		return codes("one of ", list, " or ", jsonOf)
	case m.Key == "default":
		return "default " + code(jsonOf(m.Value))
	case m.Key == "required":
		return when(len(list) > 0 && !s.hasSection(), codes("requires ", list, " and ", jsonschema.Text))
	case m.Key == "uniqueItems":
		return when(m.Value == true, "no item twice")
	case m.Value == false && m.Key == "items" && s.has("prefixItems"):
		return "no further items"
	case m.Value == false && (m.Key != "additionalProperties" || !s.hasMembers()):
		return of.says
	case strings.Contains(of.says, "/"):
		return prose(s.bounds(m.Key, of.says))
	case of.says != "" && of.holds == "a number":
		return prose(of.says + string(at[document.Number](s, m.Key)))
	case of.says != "" && of.holds == "a string":
		isUnchecked := m.Key == "format" && !t.outline.Asserts(s.raw, text)
		return of.says + code(text) + when(isUnchecked, " (not checked)")
	}
	return ""
}

// contained returns how many items contains is about.
func (s schema) contained() string {
	if !s.has("minContains") {
		s.mapping = s.With("minContains", document.Number("1"))
	}
	return cmp.Or(s.bounds("minContains", "item/items"), "any number of items")
}

// bounds returns what a keyword says as one of a pair: "1 to 10 characters". It is empty for the second one of both.
func (s schema) bounds(keyword, unit string) string {
	of := keyword[len("min"):]
	low, high := at[document.Number](s, "min"+of), at[document.Number](s, "max"+of)
	one, many, _ := strings.Cut(unit, "/")
	if low == "0" && many != "" {
		low = ""
	}
	if high == "1" || high == "" && low == "1" {
		many = one
	}
	var text string
	switch {
	case low == "" && high == "", low != "" && keyword == "max"+of:
		return ""
	case low == "":
		text = "at most " + string(high)
	case high == "":
		text = "at least " + string(low)
	case low == high:
		text = "exactly " + string(low)
	default:
		text = string(low + " to " + high)
	}
	return strings.TrimSpace(text + " " + many)
}

// codes lists values in code font as write writes them, with last before the last one. It stops after maxValues bytes.
func codes(before string, all []any, last string, write func(any) string) string {
	var said strings.Builder
	said.WriteString(before)
	for i, value := range all {
		switch {
		case said.Len() > maxValues:
			return fmt.Sprintf("%s and %d more", &said, len(all)-i)
		case i > 0 && i == len(all)-1:
			said.WriteString(last)
		case i > 0:
			said.WriteString(", ")
		}
		said.WriteString(code(write(value)))
	}
	return said.String()
}
