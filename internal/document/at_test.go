package document

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

// The path at a position is that of the innermost value that begins at or before it. Columns count characters.
func TestPathAt(t *testing.T) {
	t.Parallel()
	const yaml = "# first\n---\na: 1\n---\nschema: é\nmetadata: {name: x, layeringDefinition: {layer: site}}\n" +
		"data:\n  list:\n  - b: 1\n    c.d: 2\n  - &x [u, 'v w']\n  same: *x\n  text: |\n    ab\n    cd\n"
	for _, c := range []struct {
		body string
		at   Position
		want string // parts of the path, separated by spaces; KEY for AtKey; "none" if there is none
	}{
		{yaml, Position{5, 1}, "schema KEY"},
		{yaml, Position{5, 8}, "schema KEY"},
		{yaml, Position{5, 9}, "schema"},
		{yaml, Position{5, 10}, "schema"},
		{yaml, Position{6, 12}, "metadata name KEY"},
		{yaml, Position{6, 18}, "metadata name"},
		{yaml, Position{6, 49}, "metadata layeringDefinition layer"},
		{yaml, Position{8, 4}, "data list KEY"},
		{yaml, Position{9, 8}, "data list 0 b"},
		{yaml, Position{10, 7}, "data list 0 c.d KEY"},
		{yaml, Position{11, 13}, "data list 1 1"},
		{yaml, Position{12, 10}, "data same"},
		{yaml, Position{15, 6}, "data text"},
		{yaml, Position{4, 1}, "none"},
		{"{\"schema\": \"a\", \"data\": {\"b\": [1, 2]}}", Position{1, 35}, "data b 1"},
		{"- schema: a\n- schema: b\n  data:\n    x: y\n", Position{4, 9}, "1 data x"},
		{"a: [", Position{1, 1}, "none"},
	} {
		media := YAML
		if strings.HasPrefix(c.body, "{") {
			media = JSON
		}
		segments, err := Split(t.Context(), []byte(c.body), media, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		path, err := PathAt(budget.NewMeter(t.Context()), segments[len(segments)-1], c.at)
		got := strings.ReplaceAll(strings.Join(path, " "), AtKey, "KEY")
		if path == nil {
			got = "none"
		}
		if err != nil || got != c.want {
			t.Errorf("%q at %v: %s", c.body, c.at, cmp.Diff(c.want, got))
		}
	}
}
