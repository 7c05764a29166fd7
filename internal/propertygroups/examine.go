package propertygroups

import (
	"slices"
	"strconv"

	"purser/internal/document"
)

// maxMalformed is how many faults of one schema document are told.
const maxMalformed = 100

// Examine returns what is wrong with the groups anywhere in a schema document: the first fault of each object that
// holds a keyword, referred to or not (spec/property-groups.md §5), and of no more than 100 objects.
func Examine(schema any) []Malformed {
	e := new(examiner)
	e.schema(schema)
	return e.found
}

// examiner walks a schema document. Its path is to the value that it is at.
type examiner struct {
	path  []string
	found []Malformed
}

// schema looks at what may be a schema, or hold some.
func (e *examiner) schema(value any) {
	switch v := value.(type) {
	case document.Mapping:
		e.parse(v)
		for _, m := range v {
			e.keyword(m)
		}
	case []any:
		for i, item := range v {
			e.below(strconv.Itoa(i), item)
		}
	}
}

func (e *examiner) parse(object document.Mapping) {
	if _, err := Parse(object); err != nil {
		m := err.(*Malformed) //nolint:errorlint,forcetypeassert // Parse returns no other
		e.note(m.Keyword, m.Message)
	}
}

func (e *examiner) note(keyword []string, message string) {
	if len(e.found) < maxMalformed {
		e.found = append(e.found, Malformed{
			Path: append([]string{}, e.path...), Keyword: keyword, Message: message,
		})
	}
}

func (e *examiner) below(step string, value any) {
	switch value.(type) {
	case document.Mapping, []any:
	default:
		return
	}
	if len(e.path) >= maxNesting {
		e.tooDeep()
		return
	}
	e.path = append(e.path, step)
	e.schema(value)
	e.path = e.path[:len(e.path)-1]
}

// tooDeep notes once that not all was looked at.
func (e *examiner) tooDeep() {
	p := parser{}
	err := p.refuse("Schemas should be nested at most %d deep.", maxNesting)
	if !slices.ContainsFunc(e.found, func(m Malformed) bool { return m.Message == err.Error() }) {
		e.note(nil, err.Error())
	}
}

// keyword looks at what a keyword of a schema holds. What is a value of the data holds none, nor do groups.
func (e *examiner) keyword(m document.Member) {
	switch m.Key {
	case "enum", "const", "default", "examples", expressionsKeyword, namedKeyword:
	case "properties", "patternProperties", "definitions", "$defs", "dependencies":
		if names, ok := m.Value.(document.Mapping); ok {
			e.named(m.Key, names)
			return
		}
		e.below(m.Key, m.Value)
	default:
		e.below(m.Key, m.Value)
	}
}

// named looks at schemas by name, where nothing is a keyword.
func (e *examiner) named(keyword string, schemas document.Mapping) {
	e.path = append(e.path, keyword)
	for _, m := range schemas {
		e.below(m.Key, m.Value)
	}
	e.path = e.path[:len(e.path)-1]
}
