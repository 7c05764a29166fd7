package propertygroups

import (
	"slices"

	"purser/internal/document"
	"purser/internal/validations"
)

// Extension adds both keywords to the dialect of DataSchemas.
type Extension struct{}

// Keywords implements validations.Extension.
func (Extension) Keywords() []string { return []string{"property_groups", "properties_groups_schema"} }

// Compile implements validations.Extension.
func (Extension) Compile(schema document.Mapping) (validations.Keyword, error) {
	groups, err := Parse(schema)
	if groups == nil || err != nil {
		return nil, err
	}
	return groups, nil
}

// Examine implements validations.Extension.
func (Extension) Examine(schema any) (findings []validations.Finding) {
	for _, malformed := range Examine(schema) {
		rule := "."
		if len(malformed.Keyword) > 0 {
			rule += malformed.Keyword[0]
		}
		findings = append(findings, validations.Finding{
			Message: malformed.Message, SchemaPath: rule, Names: true,
			Instance: append([]string{}, slices.Concat(malformed.Path, malformed.Keyword)...),
		})
	}
	return findings
}
