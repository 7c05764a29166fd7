package lsp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stateOf checks the files of a text; see writeFiles.
func stateOf(t *testing.T, text string) *state {
	t.Helper()
	folder := t.TempDir()
	writeFiles(t, folder, text)
	p := &project{root: folder, paths: []string{"."}}
	s, err := p.check(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const completionSite = `-- site.yaml --
schema: deckhand/LayeringPolicy/v1
metadata: {schema: metadata/Control/v1, name: lp}
data: {layerOrder: [global, site]}
---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Host/v1}
data:
  $schema: http://json-schema.org/schema#
  properties:
    rack: {type: integer, description: The number}
    role: {enum: [control, 'yes', 'a b', 3]}
    up: {type: boolean}
    disks: {type: array, items: {properties: {name: {enum: [sda, sdb]}, size: {type: integer}}, required: [name]}}
    tags: {items: {enum: [red, blue]}}
---
schema: acme/Host/v1
metadata: {schema: metadata/Document/v1, name: one, storagePolicy: cleartext, layeringDefinition: {layer: site}}
data: {rack: 1}
`

// Completions are the keys and values that the schema has at the cursor, which is | in the texts.
func TestComplete(t *testing.T) {
	t.Parallel()
	s := stateOf(t, completionSite)
	const host = "schema: acme/Host/v1\nmetadata: {schema: metadata/Document/v1, name: n}\ndata:\n"
	for name, c := range map[string]struct{ text, want string }{
		"keys":                 {host + "  |", "rack: |role: |up: |disks:|tags: "},
		"keys without others":  {host + "  rack: 1\n  |\n  role: control", "up: |disks:|tags: "},
		"a part of a key":      {host + "  ra|", "rack: "},
		"its colon is there":   {host + "  ra|: 7", "rack"},
		"a quoted key":         {host + "  \"ra|\": 7", "rack"},
		"the rest is broken":   {host + "  r|\n  }\n", "rack: |role: "},
		"the start is broken":  {host + "  }\n  r|", ""},
		"values":               {host + "  role: |", `control|"yes"|"a b"|3`},
		"a part of a value":    {host + "  role: c|", "control"},
		"a quoted value":       {host + "  role: 'c|", "control"},
		"booleans":             {host + "  up: |", "true|false"},
		"an item":              {host + "  disks:\n  - |", "name: |size: "},
		"a member of an item":  {host + "  disks:\n  - name: sda\n    |", "size: "},
		"its value":            {host + "  disks:\n  - name: |", "sda|sdb"},
		"a list of values":     {host + "  tags:\n  - red\n  - |", "red|blue"},
		"in a flow":            {host + "  disks: [{name: sda, s|}]", "size: "},
		"a value in a flow":    {host + "  disks: [{name: |, size: 1}]", "sda|sdb"},
		"in an open flow":      {host + "  disks: [{name: |", ""},
		"in an empty document": {"|", "schema: |metadata:|data:"},
		"the second document":  {host + "  rack: 1\n---\nschema: acme/Host/v1\n|", "metadata:|data:"},
		"kinds":                {"schema: acme|", "acme/Host/v1"},
		"kinds of metadata":    {"schema: acme/Host/v1\nmetadata:\n  schema: |", "metadata/Document/v1|metadata/Control/v1"},
		"metadata":             {"metadata:\n  schema: metadata/Control/v1\n  n|", "name: "},
		"layers":               {"metadata:\n  layeringDefinition:\n    layer: |", "global|site"},
		"sources":              {"metadata:\n  substitutions:\n  - src:\n      schema: acme|", "acme/Host/v1"},
		"names of sources":     {"metadata:\n  substitutions:\n  - src:\n      schema: acme/Host/v1\n      name: |", "one"},
		"an unknown kind":      {"schema: acme/None/v1\ndata:\n  |", ""},
		"after other letters":  {"schema: acme/Host/v1\ndata:\n  é😀: {}\n  r|", "rack: |role: "},
		"a comment":            {"schema: acme/Host/v1\ndata:\n  # |", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, _ := strings.Cut(c.text, "|")
			lines := strings.Split(before, "\n")
			at := position{len(lines) - 1, units(lines[len(lines)-1])}
			answer, err := complete(t.Context(), s, spot{"new.yaml", []byte(before + after), at})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if answer != nil {
				for _, item := range answer.(map[string]any)["items"].([]completionItem) {
					got = append(got, item.TextEdit.NewText)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Completions are bounded, and the client is told to ask again.
func TestComplete_many(t *testing.T) {
	t.Parallel()
	s := stateOf(t, "-- site.yaml --\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\n"+
		"data: {layerOrder: ["+strings.Repeat("a, ", maxItems+1)+"b]}\n")
	text := "metadata: {layeringDefinition: {layer: }}"
	answer, err := complete(t.Context(), s, spot{"n.yaml", []byte(text), position{0, len(text) - 2}})
	if err != nil {
		t.Fatal(err)
	}
	list := answer.(map[string]any)
	if items := list["items"].([]completionItem); len(items) != maxItems || list["isIncomplete"] != true {
		t.Error(len(items), list["isIncomplete"])
	}
}

// In JSON nothing is completed, and a position behind the end of a text is none.
func TestComplete_none(t *testing.T) {
	t.Parallel()
	s := stateOf(t, completionSite)
	for _, at := range []spot{
		{"a.json", []byte(`{"schema": ""}`), position{0, 12}},
		{"a.yaml", []byte("schema: "), position{7, 0}},
		{"a.yaml", []byte("schema: "), position{-1, -1}},
	} {
		if answer, err := complete(t.Context(), s, at); answer != nil || err != nil {
			t.Errorf("%v: %v %v", at, answer, err)
		}
	}
}
