package propertygroups

import (
	"purser/internal/document"
	"purser/internal/validations/jsonschema"
)

// Extension adds both keywords to the dialect of DataSchemas.
type Extension struct{}

// Keywords implements jsonschema.Extension.
func (Extension) Keywords() []string { return []string{namedKeyword, expressionsKeyword} }

// Compile implements jsonschema.Extension.
func (Extension) Compile(schema document.Mapping) (jsonschema.Keyword, error) {
	groups, err := Parse(schema)
	if groups == nil || err != nil {
		return nil, err
	}
	return groups, nil
}

// Examine implements jsonschema.Extension: it returns the first fault of each object in a schema document that has
// malformed groups, even in parts that no reference reaches, for at most 100 objects.
func (Extension) Examine(schema any) []jsonschema.Finding {
	e := new(examiner)
	e.schema(schema)
	return e.found
}
