package propertygroups_test

import (
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/propertygroups"
	"purser/internal/validations/jsonschema"
)

// drafts are the values of $schema, in order.
var drafts = [...]string{
	"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
	"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
}

const (
	draft4 = iota
	draft6
	draft7
	draft2019
	draft2020
)

// Groups are checked wherever a draft applies schemas, and nowhere else.
func TestGroups_drafts(t *testing.T) {
	t.Parallel()
	const either = `properties_groups_schema: [{XOR: [[a], [b]]}]`
	const named = `property_groups: {g: {properties: [a, b], operator: depends_on}}`
	for _, c := range []struct {
		schema      string
		from, until int
		good, bad   string
	}{
		{either, draft4, draft2020, `{"a": 1}`, `{"a": 1, "b": 1}`},
		{named + `, properties: {a: true, b: {}}`, draft6, draft2020, `{"a": 1, "b": 1}`, `{"a": 1}`},
		{named + `, properties: {b: false}, additionalProperties: {}`, draft6, draft2020, `{}`, `{"a": 1}`},
		{`$defs: {x: {` + either + `}}, properties: {p: {$ref: '#/$defs/x'}}`, draft2019, draft2020, `{"p": {"a": 1}}`, `{"p": {}}`},
		{`$defs: {x: {$anchor: y, ` + either + `}}, additionalProperties: {$ref: '#y'}`, draft2019, draft2020, `{"p": {"a": 1}}`, `{"p": {}}`},
		{`definitions: {x: {$id: '#y', ` + either + `}}, additionalProperties: {$ref: '#y'}`, draft6, draft7, `{"p": {"a": 1}}`, `{"p": {}}`},
		{`properties: {p: {$ref: '#/properties/q', ` + either + `}, q: {}}`, draft2019, draft2020, `{"p": {"a": 1}}`, `{"p": {}}`},
		{`properties: {p: {$ref: '#/properties/q', ` + either + `}, q: {}}`, draft4, draft7, `{"p": {}}`, ``}, // $ref hides it
		{`properties: {l: {prefixItems: [true, {` + either + `}], items: {` + named + `}}}`, draft2020, draft2020, `{"l": [{}, {"a": 1}, {}]}`, `{"l": [1, {}]}`},
		{`properties: {l: {prefixItems: [true], items: {` + named + `}}}`, draft2020, draft2020, `{"l": [{"a": 1}]}`, `{"l": [1, {"a": 1}]}`},
		{`properties: {l: {contains: {` + either + `}}}`, draft6, draft2020, `{"l": [{}, {"a": 1}]}`, `{"l": [{}]}`},
		{`properties: {l: {contains: {` + either + `}}}`, draft4, draft4, `{"l": [{}]}`, ``},
		{`if: {required: [k]}, then: {` + either + `}`, draft7, draft2020, `{"k": 1, "a": 1}`, `{"k": 1}`},
		{`if: {` + either + `}, then: {required: [k]}`, draft7, draft2020, `{}`, `{"a": 1}`},
		{`dependentSchemas: {k: {` + either + `}}`, draft2019, draft2020, `{}`, `{"k": 1}`},
		{`dependentSchemas: {k: {` + either + `}}`, draft4, draft7, `{"k": 1}`, ``},
		{`dependencies: {k: {` + either + `}}`, draft4, draft7, `{}`, `{"k": 1}`},
		{`properties: {q: {}}, unevaluatedProperties: {` + either + `}`, draft2019, draft2020, `{"q": {}, "p": {"a": 1}}`, `{"p": {}}`},
		{`$dynamicAnchor: n, ` + named + `, properties: {k: {$dynamicRef: '#n'}}`, draft2020, draft2020, `{"k": {}}`, `{"k": {"a": 1}}`},
		{`$recursiveAnchor: true, ` + named + `, properties: {k: {$recursiveRef: '#'}}`, draft2019, draft2019, `{"k": {}}`, `{"k": {"a": 1}}`},
		// Paths lead through lists, whatever declares their items.
		{`properties_groups_schema: [{XOR: [[l, a], [l, b]]}], properties: {l: {type: array, prefixItems: [{}], items: false}}`, draft2020, draft2020, `{"l": [{"a": 1}]}`, `{"l": [{"a": 1, "b": 1}]}`},
		{`dependentRequired: {property_groups: [a]}, ` + either, draft4, draft2020, `{"a": 1}`, `{}`},
		{`properties: {p: {const: {property_groups: 1}}}`, draft6, draft2020, `{"p": {"property_groups": 1}}`, `{"p": 1}`},
	} {
		for _, uri := range drafts[c.from : c.until+1] {
			if found := findings(t, uri, c.schema, c.good); found != nil {
				t.Errorf("%s: %s refuses %s: %v", uri, c.schema, c.good, found)
			}
			if c.bad != "" && findings(t, uri, c.schema, c.bad) == nil {
				t.Errorf("%s: %s takes %s", uri, c.schema, c.bad)
			}
		}
	}
}

// Malformed groups are found wherever a draft has schemas.
func TestGroups_malformedInDrafts(t *testing.T) {
	t.Parallel()
	for schema, from := range map[string]int{
		`properties: {p: {$ref: '#', %}}`: draft4, `definitions: {p: {%}}`: draft4, `$defs: {p: {%}}`: draft2019, `not: {%}`: draft4,
		`contains: {%}`: draft6, `propertyNames: {%}`: draft6, `if: {%}`: draft7, `then: {%}`: draft7, `else: {%}`: draft7,
		`dependentSchemas: {p: {%}}`: draft2019, `unevaluatedItems: {%}`: draft2019, `unevaluatedProperties: {%}`: draft2019,
		`prefixItems: [true, {%}]`: draft2020, `items: {%}`: draft4,
	} {
		for _, uri := range drafts[from:] {
			_, err := compile(t, uri, strings.Replace(schema, "%", "property_groups: {g: {properties: [a], operator: nand}}", 1))
			if err == nil || !strings.Contains(err.Error(), "Operator of group 'g' should be one of") {
				t.Errorf("%s: %s: %v", uri, schema, err)
			}
		}
	}
}

func findings(t *testing.T, uri, schema, data string) []jsonschema.Finding {
	t.Helper()
	s, err := compile(t, uri, schema)
	if err != nil {
		t.Fatalf("%s: %s: %v", uri, schema, err)
	}
	found, err := s.Check(budget.NewMeter(t.Context()), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func compile(t *testing.T, uri, schema string) (*jsonschema.Schema, error) {
	t.Helper()
	value, err := document.ParseOne(t.Context(), fmt.Appendf(nil, "{$schema: '%s', %s}", uri, schema), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return jsonschema.Compile(budget.NewMeter(t.Context()), document.AppendJSON(nil, value), jsonschema.Options{
		Extensions: []jsonschema.Extension{propertygroups.Extension{}},
	})
}
