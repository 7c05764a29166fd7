package propertygroups

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
	"purser/internal/validations/jsonschema"
)

// judge checks an object with a separate budget.
func judge(t interface {
	Helper()
	Fatal(args ...any)
}, g *Groups, object map[string]any, versions Versions,
) []jsonschema.Violation {
	t.Helper()
	found, err := g.Check(budget.NewMeter(context.Background()), mappingOf(object), versions)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expect checks an object against a schema; want is in the format of sketch.
func expect(t *testing.T, schema, object string, versions Versions, want ...string) {
	t.Helper()
	lines := strings.Join(append(want, ""), "\n")
	got := sketch(judge(t, groupsOf(t, schema), objectOf(t, object), versions))
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("%s, %s (-want +got)\n%s", schema, object, diff)
	}
}

// The truth tables of the conditions: objects are named by their members a, b and c.
func TestGroups_Check_operators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operator, entries, holds string }{
		{"and", "a, b", "ab"},
		{"or", "a, b", "a b ab"},
		{"xor", "a, b", "a b"},
		{"depends_on", "a, b", "- b ab"},
		{"and", "a, b, c", "abc"},
		{"or", "a, b, c", "a b c ab ac bc abc"},
		{"xor", "a, b, c", "a b c"},
		{"depends_on", "a, b, c", "- b c bc abc"},
		{"and", "a", "a ab"},
		{"or", "a", "a ab"},
		{"xor", "a", "a ab"},
	} {
		t.Run(c.operator+" "+c.entries, func(t *testing.T) {
			t.Parallel()
			g := groupsOf(t, fmt.Sprintf(`{property_groups: {g: {properties: [%s], operator: %s}}}`, c.entries, c.operator))
			var holds []string
			for _, given := range []string{"-", "a", "b", "c", "ab", "ac", "bc", "abc"} {
				object := map[string]any{}
				for name := range strings.SplitSeq(strings.Trim(given, "-"), "") {
					object[name] = true
				}
				if strings.Contains(c.entries, "c") || !strings.Contains(given, "c") {
					if judge(t, g, object, nil) == nil {
						holds = append(holds, given)
					}
				}
			}
			if diff := cmp.Diff(c.holds, strings.Join(holds, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGroups_Check_words(t *testing.T) {
	t.Parallel()
	const (
		all    = "All of the following properties must be specified: "
		some   = "At least one of the following properties must be specified: "
		cannot = "Cannot define the following properties at the same time: "
	)
	for _, c := range []struct{ group, object, want string }{
		{`AND: [[x], [y, z]]`, `{x: 1, y: {}}`, all + "x, y.z. Missing: y.z."},
		{`AND: [[x]]`, `{}`, all + "x. Missing: x."},
		{`OR: [[x], {AND: [[y], {XOR: [[z], [w]]}]}]`, `{y: 1}`, some + "x, (y and (z xor w))."},
		{`OR: [{OR: [[x]]}]`, `{y: 1}`, some + "(x)."},
		{`XOR: [[x], [y]]`, `{z: 1}`, some + "x, y."},
		{`XOR: [[x], [y], {OR: [[z]]}]`, `{x: 1, z: 1}`, cannot + "x, (z)."},
	} {
		expect(t, `{properties_groups_schema: [{`+c.group+`}]}`, c.object, nil, "/ properties_groups_schema/0: "+c.want)
	}
	for _, c := range []struct{ groups, object, want string }{
		{`g: {properties: [x, y, z], operator: depends_on}`, `{x: 1}`, "x cannot be specified without y, z."},
		{
			`g: {properties: [h, i], operator: depends_on}, h: {properties: [x, y, z], operator: depends_on}, i: {properties: [z, w], operator: xor}`,
			`{z: 1, w: 1}`, "(x depends on y and z) cannot be specified without (z xor w).",
		},
		{`g: {properties: [x, y], operator: and}`, `{}`, all + "x, y. Missing: x, y."},
	} {
		expect(t, `{property_groups: {`+c.groups+`}}`, c.object, nil, "/ property_groups/g: Properties group 'g': "+c.want)
	}
}

func TestGroups_Check_specified(t *testing.T) {
	t.Parallel()
	const says = "/ properties_groups_schema/0: At least one of the following properties must be specified: x.y, z."
	for object, holds := range map[string]bool{
		`{}`:                           false,
		`{z: null}`:                    false,
		`{z: 0}`:                       true,
		`{z: false}`:                   true,
		`{z: ''}`:                      true,
		`{z: []}`:                      true,
		`{z: [null]}`:                  true,
		`{z: {}}`:                      true,
		`{x: {y: 1}}`:                  true,
		`{x: {y: null}}`:               false,
		`{x: null}`:                    false,
		`{x: y}`:                       false,
		`{x: {w: 1}}`:                  false,
		`{x: [{w: 1}, 3, {y: 1}]}`:     true,
		`{x: [{w: 1}, {y: null}]}`:     false,
		`{x: [[], [{w: 1}, {y: []}]]}`: true,
		`{x: [y]}`:                     false,
		`{x.y: 1}`:                     false,
	} {
		want := []string{says}
		if holds {
			want = nil
		}
		expect(t, `{properties_groups_schema: [{OR: [[x, y], [z]]}]}`, object, nil, want...)
	}
}

func TestGroups_Check_lists(t *testing.T) {
	t.Parallel()
	const (
		keyword = " properties_groups_schema/0: "
		missing = keyword + "All of the following properties must be specified: l.x, l.y. Missing: "
	)
	schema := `{properties_groups_schema: [{AND: [[l, x], [l, y]]}]}`
	for object, want := range map[string][]string{
		`{l: [{x: 1, y: 1}, {x: 1}, {y: 1}]}`: {"/l/1" + missing + "l.y.", "/l/2" + missing + "l.x."},
		`{l: [{x: 1, y: 1}]}`:                 nil,
		`{l: {x: 1, y: 1}}`:                   nil,
		`{l: {x: 1}}`:                         {"/" + missing + "l.y."},
		`{l: []}`:                             {"/" + missing + "l.x, l.y."},
		`{l: null}`:                           {"/" + missing + "l.x, l.y."},
		`{}`:                                  {"/" + missing + "l.x, l.y."},
		`{l: [null, 7]}`:                      {"/l/0" + missing + "l.x, l.y.", "/l/1" + missing + "l.x, l.y."},
		`{l: [[], [{x: 1, y: 1}, {x: 1}]]}`:   {"/l/0" + missing + "l.x, l.y.", "/l/1/1" + missing + "l.y."},
		`{l: [{x: [], y: [1]}]}`:              nil,
	} {
		expect(t, schema, object, nil, want...)
	}
	deep := `{property_groups: {g: {properties: [l.m.x, l.m.y.z], operator: xor}}}`
	const says = " property_groups/g: Properties group 'g': At least one of the following properties must be specified: l.m.x, l.m.y.z."
	for object, want := range map[string][]string{
		`{l: [{m: [{x: 1}, {y: [{}, {z: 1}]}]}, {m: {x: 1}}]}`: nil,
		`{l: [{m: [{x: 1}, {y: {}}]}, {m: []}, {}]}`:           {"/l/0/m/1" + says, "/l/1" + says, "/l/2" + says},
		`{l: {m: [{}]}}`: {"/l/m/0" + says},
	} {
		expect(t, deep, object, nil, want...)
	}
}

// A list that is not on the common prefix of all paths counts if any of its items does.
func TestGroups_Check_listsApart(t *testing.T) {
	t.Parallel()
	schema := `{properties_groups_schema: [{AND: [[l, x], [m, y]]}, {XOR: [[l, x], {AND: [[l, y], [n]]}]}]}`
	expect(t, schema, `{l: [{y: 1}, {x: 1}], m: [{}, {y: 1}]}`, nil)
	expect(t, schema, `{l: [{y: 1}, {x: 1}], m: [{}, {y: 1}], n: 1}`, nil,
		"/ properties_groups_schema/1: Cannot define the following properties at the same time: l.x, (l.y and n).")
}

func TestGroups_Check_references(t *testing.T) {
	t.Parallel()
	// f and g are terms; common parts of lists are found below references too.
	schema := `{property_groups: [
		{h: {properties: [f, property_groups.g], operator: xor}},
		{f: {properties: [l.a, l.b], operator: and}},
		{g: {properties: [l.a, l.c], operator: and}},
		{i: {properties: [x.y, f.g], operator: depends_on}}]}`
	const says = " property_groups/0/h: Properties group 'h': "
	expect(t, schema, `{l: [{a: 1, b: 1}, {a: 1, c: 1}]}`, nil)
	expect(t, schema, `{x: {y: 1}, l: [{a: 1, b: 1, c: 1}, {a: 1}]}`, nil,
		"/l/0"+says+"Cannot define the following properties at the same time: (l.a and l.b), (l.a and l.c).",
		"/l/1"+says+"At least one of the following properties must be specified: (l.a and l.b), (l.a and l.c).",
		"/ property_groups/3/i: Properties group 'i': x.y cannot be specified without f.g.")
}

// A group that several others refer to is evaluated separately at each place.
func TestGroups_Check_remembered(t *testing.T) {
	t.Parallel()
	schema := `{property_groups: {
		g: {properties: [l.a, l.b], operator: or},
		h: {properties: [l.c, g], operator: depends_on},
		i: {properties: [l.d, g, g], operator: xor},
		j: {properties: [k, g], operator: depends_on}}}`
	expect(t, schema, `{k: 1, l: [{c: 1, d: 1}, {a: 1, c: 1}, {c: 1, d: 1}]}`, nil,
		"/l/0 property_groups/h: Properties group 'h': l.c cannot be specified without (l.a or l.b).",
		"/l/2 property_groups/h: Properties group 'h': l.c cannot be specified without (l.a or l.b).",
		"/l/1 property_groups/i: Properties group 'i': Cannot define the following properties at the same time: (l.a or l.b), (l.a or l.b).")
	expect(t, schema, `{k: 1, l: [{d: 1}, {d: 1}]}`, nil,
		"/ property_groups/j: Properties group 'j': k cannot be specified without (l.a or l.b).")
}

func TestGroups_Check_bothKeywords(t *testing.T) {
	t.Parallel()
	expect(t, `{property_groups: {g: {properties: [a], operator: or}}, properties_groups_schema: [{OR: [[b]]}, {OR: [[c]]}]}`, `{c: 1}`, nil,
		"/ property_groups/g: Properties group 'g': At least one of the following properties must be specified: a.",
		"/ properties_groups_schema/0: At least one of the following properties must be specified: b.")
	expect(t, `{properties_groups_schema: [], property_groups: []}`, `{}`, nil)
}

// Members of an object that is large enough for an index are found like those of a small one.
func TestGroups_Check_wide(t *testing.T) {
	t.Parallel()
	g := groupsOf(t, `{property_groups: [{g: {properties: [o.a, o.b], operator: and}}]}`)
	for _, members := range []int{0, 14, 15, 1000} {
		of := map[string]any{"a": true}
		for i := range members {
			of[fmt.Sprintf("x%d", i)] = i
		}
		if found := judge(t, g, map[string]any{"o": of}, nil); len(found) != 1 {
			t.Errorf("without b, beside %d others: %d violations", members, len(found))
		}
		of["b"] = true
		if found := judge(t, g, map[string]any{"o": of}, nil); found != nil {
			t.Errorf("with b, beside %d others: %v", members, found)
		}
	}
}
