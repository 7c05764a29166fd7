package propertygroups

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
)

func TestExamine(t *testing.T) {
	t.Parallel()
	const bad = `{property_groups: 1}`
	for _, c := range []struct {
		schema string
		want   []string
	}{
		{`{}`, nil},
		{`text`, nil},
		{bad, []string{""}},
		{`[` + bad + `]`, []string{"0"}},
		{`{properties: {a: {items: [{}, ` + bad + `]}}, not: ` + bad + `}`, []string{"properties/a/items/1", "not"}},
		{`{definitions: {never: ` + bad + `}, $defs: {x: ` + bad + `}}`, []string{"definitions/never", "$defs/x"}},
		{`{dependencies: {a: ` + bad + `, b: [c]}, patternProperties: {a: ` + bad + `}}`, []string{"dependencies/a", "patternProperties/a"}},
		{`{dependentSchemas: {a: ` + bad + `, property_groups: true}, dependentRequired: {property_groups: [a]}}`, []string{"dependentSchemas/a"}},
		{`{prefixItems: [true, ` + bad + `], if: ` + bad + `, contains: ` + bad + `}`, []string{"prefixItems/1", "if", "contains"}},
		{`{unevaluatedProperties: ` + bad + `, propertyNames: false}`, []string{"unevaluatedProperties"}},
		{`{x-parts: {y: ` + bad + `}}`, []string{"x-parts/y"}},
		{`{enum: [` + bad + `], const: ` + bad + `, default: ` + bad + `, examples: [` + bad + `]}`, nil},
		{
			`{properties: {enum: ` + bad + `, default: {properties: {examples: ` + bad + `}}}}`,
			[]string{"properties/enum", "properties/default/properties/examples"},
		},
		{`{properties: {property_groups: {type: string}, properties_groups_schema: {}}}`, nil},
		{`{dependencies: {property_groups: [a]}, definitions: {property_groups: {}}, patternProperties: {property_groups: {}}}`, nil},
		{`{properties: {properties: {property_groups: 1}}}`, []string{"properties/properties"}},
		{`{properties: [` + bad + `]}`, []string{"properties/0"}},
		{`{property_groups: {property_groups: {properties: [a], operator: or}}}`, nil},
	} {
		t.Run(c.schema, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range (Extension{}).Examine(yamlValue(t, c.schema)) {
				last := len(f.Instance) - 1
				got = append(got, strings.Join(f.Instance[:last], "/"))
				if f.Instance[last] != "property_groups" || f.SchemaPath != ".property_groups" {
					t.Errorf("keyword %s, rule %s", f.Instance[last], f.SchemaPath)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestExamine_bounded(t *testing.T) {
	t.Parallel()
	bad := document.Mapping{{Key: "property_groups", Value: nil}}
	many := make([]any, 10_000)
	for i := range many {
		many[i] = bad
	}
	if n := len((Extension{}).Examine(many)); n != maxMalformed {
		t.Errorf("%d faults", n)
	}
	got := (Extension{}).Examine(document.Mapping{{Key: "not", Value: chain(100_000)}})
	if len(got) != 1 || !strings.Contains(got[0].Message, "at most 1000 deep") {
		t.Errorf("%v", got)
	}
}

func chain(n int) any {
	var deep any = document.Mapping{}
	for range n {
		deep = document.Mapping{{Key: "not", Value: deep}}
	}
	return deep
}
