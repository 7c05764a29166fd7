package schemadocs

import (
	"cmp"
	"fmt"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

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
