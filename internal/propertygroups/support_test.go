package propertygroups

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups_Check_apiVersions(t *testing.T) {
	t.Parallel()
	const (
		schema = `{properties_groups_schema: [{API_VERSIONS: {CLIENT_PLUGIN: c, VERSIONS: ['1.2', 3], PROPERTIES: [[x], [l, y], [x]]}}]}`
		at     = "/ properties_groups_schema/0: Property "
		old    = " is not supported by client plugin c version 2; supported versions: 1.2, 3."
		none   = " depends on the version of client plugin c, which is not known; supported versions: 1.2, 3."
	)
	for _, c := range []struct {
		object, version string
		want            []string
	}{
		{`{x: 1}`, "1.2", nil},
		{`{x: 1}`, "v3.0", nil},
		{`{x: 1}`, "2", []string{at + "x" + old}},
		{`{x: 1, l: [{}, {y: 0}]}`, "2", []string{at + "x" + old, at + "l.y" + old}},
		{`{x: null}`, "2", nil},
		{`{x: null}`, "", nil},
		{`{x: 1}`, "", []string{at + "x" + none}},
	} {
		versions := Versions{"d": "1.2"}
		if c.version != "" {
			versions["c"] = c.version
		}
		expect(t, schema, c.object, versions, c.want...)
	}
	if g := groupsOf(t, schema); !g.NamesVersions() {
		t.Error("names no versions")
	}
}

func TestGroups_Check_since(t *testing.T) {
	t.Parallel()
	const (
		schema = `{property_groups: {g: {properties: [x, y], operator: and, client_plugin: c, client_plugin_supported_since: 1.2}}}`
		at     = "/ property_groups/g: Properties group 'g': "
		all    = at + "All of the following properties must be specified: x, y. Missing: y."
		old    = at + "Property x is not supported by client plugin c version 1.1; supported since version 1.2."
		other  = at + "Property x is not supported by client plugin c version liberty; supported since version 1.2."
		none   = at + "Property x depends on the version of client plugin c, which is not known; supported since version 1.2."
	)
	expect(t, schema, `{x: 1}`, Versions{"c": "1.2"}, all)
	expect(t, schema, `{x: 1}`, Versions{"c": "1.10"}, all)
	expect(t, schema, `{x: 1}`, Versions{"c": "1.1"}, old)
	expect(t, schema, `{x: 1}`, Versions{"c": "liberty"}, other)
	expect(t, schema, `{x: 1}`, nil, none)
	expect(t, schema, `{}`, Versions{"c": "1.1"})
	expect(t, schema, `{}`, nil)
}

// A term's operator is not enforced, but its versions are; a group's properties include those of its terms.
func TestGroups_Check_versionsOfTerms(t *testing.T) {
	t.Parallel()
	const since = `client_plugin: c, client_plugin_supported: ['2', '3']`
	const says = " is not supported by client plugin c version 1; supported since version 2, 3."
	term := `{property_groups: {g: {properties: [t, z], operator: or}, t: {properties: [x, y], operator: and, ` + since + `}}}`
	expect(t, term, `{z: 1, x: 1}`, Versions{"c": "2"})
	expect(t, term, `{z: 1, x: 1}`, Versions{"c": "1"}, "/ property_groups/t: Properties group 't': Property x"+says)
	whole := `{property_groups: {g: {properties: [t, z, t, u], ` + since + `}, t: {properties: [x, y], operator: and}, u: {properties: [t, z], operator: or}}}`
	expect(t, whole, `{}`, Versions{"c": "1"})
	expect(t, whole, `{x: 1, z: 1}`, Versions{"c": "2.1"})
	expect(t, whole, `{x: 1, z: 1}`, Versions{"c": "1"},
		"/ property_groups/g: Properties group 'g': Property x"+says, "/ property_groups/g: Properties group 'g': Property z"+says)
}

func TestGroups_NamesVersions(t *testing.T) {
	t.Parallel()
	if groupsOf(t, `{properties_groups_schema: [{OR: [[x]]}]}`).NamesVersions() {
		t.Error("no versions are named")
	}
}

func TestSupport_admits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, listed string
		exactly, since  bool
	}{
		{"2", "2.0", true, true},
		{"2.0.0", "v2", true, true},
		{"02.10", "2.10", true, true},
		{"0", "0.0", true, true},
		{"1.10", "1.2", false, true},
		{"1.2", "1.10", false, false},
		{"1.2.1", "1.2", false, true},
		{"1.2", "1.2.1", false, false},
		{"99999999999999999999999", "99999999999999999999998", false, true},
		{"liberty", "liberty", true, false},
		{"Liberty", "liberty", false, false},
		{"liberty", "1", false, false},
		{"1-rc", "1", false, false},
		{"", "1", false, false},
		{"1.", "1", false, false},
		{"v", "v", true, false},
		{"-1", "1", false, false},
		{"1" + strings.Repeat(".0", maxName), "1", false, false},
	} {
		exactly := support{versions: []version{versionOf(c.listed)}}
		since := support{versions: exactly.versions, since: true}
		got := []bool{exactly.admits(c.version), since.admits(c.version)}
		if diff := cmp.Diff([]bool{c.exactly, c.since}, got); diff != "" {
			t.Errorf("%s, %s (-want +got)\n%s", c.version, c.listed, diff)
		}
	}
}
