package propertygroups

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_unknownProperty(t *testing.T) {
	t.Parallel()
	const closed = `properties: {a: {}, b: {}}, additionalProperties: false`
	for _, c := range []struct{ schema, path, want string }{
		{closed, "a", ""},
		{closed, "a.x", ""},
		{closed, "c", "c"},
		{closed, "c.x.y", "c"},
		{`additionalProperties: false`, "c", "c"},
		{`properties: {a: {}}`, "c", ""},
		{`properties: {a: {}}, additionalProperties: true`, "c", ""},
		{`properties: {a: {}}, additionalProperties: {` + closed + `}`, "c.a", ""},
		{`properties: {a: {}}, additionalProperties: {` + closed + `}`, "c.d", "c.d"},
		{closed + `, patternProperties: {c: {}}`, "c", ""},
		{closed + `, $ref: '#/definitions/c'`, "c", ""},
		{closed + `, allOf: []`, "c", ""},
		{closed + `, anyOf: []`, "c", ""},
		{closed + `, oneOf: []`, "c", ""},
		{closed + `, if: {}`, "c", ""},
		{`properties: {o: {type: object, ` + closed + `}}`, "o.c", "o.c"},
		{`properties: {o: {type: [object, 'null'], ` + closed + `}}`, "o.c", "o.c"},
		{`properties: {o: {` + closed + `}}`, "o.c", "o.c"},
		{`properties: {o: {` + closed + `, items: {}}}`, "o.c", ""},
		{`properties: {o: {type: [object, array], ` + closed + `}}`, "o.c", ""},
		{`properties: {o: {type: string}}`, "o.c", ""},
		{`properties: {o: {type: object, ` + closed + `, anyOf: []}}`, "o.c", ""},
		{`properties: {o: true}`, "o.c", ""},
		{`properties: {l: {type: array, items: {` + closed + `}}}`, "l.a", ""},
		{`properties: {l: {type: array, items: {` + closed + `}}}`, "l.c", "l.c"},
		{`properties: {l: {items: {items: {` + closed + `}}}}`, "l.c", "l.c"},
		{`properties: {l: {type: array, items: [{` + closed + `}]}}`, "l.c", ""},
		{`properties: {l: {type: array, prefixItems: [{` + closed + `}]}}`, "l.c", ""},
		{`properties: {l: {prefixItems: [{}], items: {` + closed + `}}}`, "l.c", ""},
		{`properties: {l: {items: {` + closed + `}, prefixItems: [{}]}}`, "l.c", ""},
		{closed + `, $dynamicRef: '#c'`, "c", ""},
		{closed + `, $recursiveRef: '#'`, "c", ""},
		{closed + `, dependentSchemas: {}`, "c", ""},
		{`properties: {c: false, d: true}, additionalProperties: false`, "c", ""},
		{`properties: {c: false}, additionalProperties: false`, "c.x", ""},
		{`properties: {l: {type: array}}`, "l.c", ""},
		{`properties: {l: {type: array, items: {$ref: '#'}}}`, "l.c", ""},
	} {
		t.Run(c.schema+" "+c.path, func(t *testing.T) {
			t.Parallel()
			want, path := c.want, strings.ReplaceAll(c.path, ".", ", ")
			if want != "" {
				want = "Unknown Property " + want
			}
			_, got, _ := strings.Cut(fault(t, schemaOf(t, `{properties_groups_schema: [{OR: [[`+path+`]]}], `+c.schema+`}`)), ": ")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("expression (-want +got)\n%s", diff)
			}
			_, got, _ = strings.Cut(fault(t, schemaOf(t, `{property_groups: {g: {properties: [`+c.path+`], operator: or}}, `+c.schema+`}`)), ": ")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("named (-want +got)\n%s", diff)
			}
		})
	}
}

func TestParse_ambiguous(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, name string
		want         bool
	}{
		{`properties: {h: {}}`, "h", true},
		{`properties: {h: {}}, allOf: []`, "h", true},
		{`properties: {h: {}}`, "property_groups.h", false},
		{`properties: {h: {}}`, "i", false},
		{`additionalProperties: {type: string}`, "h", false},
		{`properties: {h: {additionalProperties: {}}}`, "h.i", false},
		{`properties: {h: {items: {properties: {i: {}}}}}`, "h.i", true},
		{`properties: {h.i: {}}`, "h.i", true},
		{`properties: {h: {properties: {i: {}}}}`, "h.i", true},
		{`properties: {h: {properties: {j: {}}}}`, "h.i", false},
	} {
		t.Run(c.schema+" "+c.name, func(t *testing.T) {
			t.Parallel()
			name := strings.TrimPrefix(c.name, "property_groups.")
			want := ""
			if c.want {
				want = "property_groups/g: '" + name + "' in group 'g' names both a property and a group."
			}
			schema := `{property_groups: {g: {properties: [` + c.name + `], operator: or}, ` + name + `: {properties: [x], operator: or}}, ` + c.schema + `}`
			if diff := cmp.Diff(want, fault(t, schemaOf(t, schema))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
