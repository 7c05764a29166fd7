package propertygroups

import (
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// maxMalformed bounds the faults reported for one schema document.
const maxMalformed = 100

// examiner walks a schema document. Its path leads to the current value.
type examiner struct {
	path  []string
	found []jsonschema.Finding
}

// schema examines a value that may be a schema or contain schemas.
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
		e.add(m.Keyword, m.Message)
	}
}

func (e *examiner) add(keyword []string, message string) {
	if len(e.found) < maxMalformed {
		e.found = append(e.found, jsonschema.Finding{
			Message: message, SchemaPath: "." + strings.Join(keyword[:min(1, len(keyword))], ""), Names: true,
			Instance: slices.Concat(e.path, keyword),
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

// tooDeep reports once that deeper schemas were not examined.
func (e *examiner) tooDeep() {
	p := parser{}
	err := p.refuse("Schemas should be nested at most %d deep.", maxNesting)
	if !slices.ContainsFunc(e.found, func(f jsonschema.Finding) bool { return f.Message == err.Error() }) {
		e.add(nil, err.Error())
	}
}

// keyword examines the value of a keyword, unless it cannot contain schemas.
func (e *examiner) keyword(m document.Member) {
	switch m.Key {
	case "enum", "const", "default", "examples", expressionsKeyword, namedKeyword:
	case "properties", "patternProperties", "definitions", "$defs",
		"dependencies", "dependentRequired", "dependentSchemas":
		if names, ok := m.Value.(document.Mapping); ok {
			e.named(m.Key, names)
			return
		}
		e.below(m.Key, m.Value)
	default:
		e.below(m.Key, m.Value)
	}
}

// named examines a mapping from names to schemas.
func (e *examiner) named(keyword string, schemas document.Mapping) {
	e.path = append(e.path, keyword)
	for _, m := range schemas {
		e.below(m.Key, m.Value)
	}
	e.path = e.path[:len(e.path)-1]
}
