package document

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"purser/internal/document/blockyaml"

	"github.com/google/go-cmp/cmp"

	"purser/internal/budget"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	const site = `# two hosts
---
schema: acme/Host/v1
---
base: &base
  mtu: 9000
data:
  rack: 99
  nested:
    acme.com/x: 1
  list:
  - name: eth0
  - [a, {b: c}]
  text: |
    long
  at: *base
  merged:
    <<: *base
  rack: 100
`
	const jsonSite = "\n [{\"a\": \"é\", \"b\": 1},\n {\"a\": [1,\n {\"b\": \"\\ud83d\\ude00\"}], \"c\" : 2}]"
	for _, c := range []struct {
		body  string
		media Media
		index int
		want  map[string]Position
	}{
		{site, YAML, 1, map[string]Position{"": {3, 1}, "schema": {3, 9}, "data.rack": {3, 1}}},
		{site, YAML, 2, map[string]Position{
			"": {5, 1}, "data": {7, 1}, "data.rack": {19, 9}, "data.nested": {9, 3}, "data.nested.acme.com/x": {10, 17},
			"data.list": {11, 3}, "data.list.0": {12, 5}, "data.list.0.name": {12, 11}, "data.list.1.1.b": {13, 13},
			"data.list.9": {11, 3}, "data.text": {14, 9}, "data.at.mtu": {6, 8}, "data.merged.mtu": {6, 8},
			"data.nested.gone.deeper": {9, 3}, "data.rack.below": {19, 9},
		}},
		{"%YAML 1.1\n---\na: 1\n---\n\nb: 2\n", YAML, 2, map[string]Position{"": {6, 1}, "b": {6, 4}}},
		{"a: 1\n...\n\nb: 2\n", YAML, 2, map[string]Position{"b": {4, 4}}},
		{"--- {a: 1}\n--- {b: {c: 2}}", YAML, 2, map[string]Position{"": {2, 5}, "b.c": {2, 13}}},
		{jsonSite, JSON, 1, map[string]Position{"": {2, 3}, "a": {2, 9}, "b": {2, 19}}},
		{jsonSite, JSON, 2, map[string]Position{"": {3, 2}, "a": {3, 8}, "a.1.b": {4, 8}, "c": {4, 32}}},
		{"\n  {\"a\": {\"b\":\n1}}", JSON, 1, map[string]Position{"": {2, 3}, "a": {2, 9}, "a.b": {2, 10}}},
	} {
		segments, err := Split(t.Context(), []byte(c.body), c.media, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Position{}
		for path := range c.want {
			found, err := Positions(budget.NewMeter(t.Context()), segments[c.index-1], [][]string{SplitPath(path)})
			if err != nil {
				t.Fatal(err)
			}
			got[path] = found[0]
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("document %d of %q (-want +got)\n%s", c.index, c.body, diff)
		}
	}
}

// Positions finds values planted in random documents, in YAML and JSON.
func TestPositions_planted(t *testing.T) {
	t.Parallel()
	const planted = "PLANTED"
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var path []string
		value := any(planted)
		for range 1 + random.IntN(5) {
			if random.IntN(3) == 0 {
				list := make([]any, 1+random.IntN(4))
				i := random.IntN(len(list))
				list[i] = value
				value, path = list, append([]string{strconv.Itoa(i)}, path...)
			} else {
				key := string(rune('a' + random.IntN(5)))
				m := Mapping{{"é", Number("1")}, {key, value}, {"z", "line\nbreak"}}
				value, path = m, append([]string{key}, path...)
			}
		}
		value, path = Mapping{{"data", value}}, append([]string{"data"}, path...)
		text := AppendJSON(nil, value)
		var indented strings.Builder
		encoder := json.NewEncoder(&indented)
		encoder.SetIndent(" ", "\t")
		if err := encoder.Encode(json.RawMessage(text)); err != nil {
			t.Fatal(err)
		}
		for _, body := range []struct {
			text  string
			media Media
		}{
			{"# comment\n---\n" + string(blockyaml.Append(nil, text)), YAML},
			{"[{},\n" + indented.String() + "]", JSON},
			{" [{}, " + string(text) + "]", JSON},
		} {
			segments, err := Split(t.Context(), []byte(body.text), body.media, DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			found, err := Positions(budget.NewMeter(t.Context()), segments[len(segments)-1], [][]string{path})
			if err != nil {
				t.Fatal(err)
			}
			at := &cursor{text: []byte(body.text), line: 1, column: 1}
			at.advance(strings.Index(body.text, planted))
			if body.media == JSON {
				at.column-- // the quote
			}
			if found[0] != (Position{at.line, at.column}) {
				t.Errorf("seed %d: %v at %v, want %d, %d\n%s", seed, path, found[0], at.line, at.column, body.text)
			}
		}
	}
}

// A line with many values is scanned once, and searching many keys is charged to the budget.
func TestPositions_bounded(t *testing.T) {
	t.Parallel()
	body := []byte("[" + strings.Repeat(`{"a": 1},`, 90_000) + `{"a": [` + strings.Repeat("1,", 90_000) + "1]}]")
	segments, err := Split(t.Context(), body, JSON, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	paths := slices.Repeat([][]string{{"a", "90000"}}, 1000)
	found, err := Positions(budget.NewMeter(t.Context()), segments[90_000], paths[:1])
	if want := (Position{1, 1 + 9*90_000 + len(`{"a": [`) + 2*90_000 + 1}); err != nil || found[0] != want {
		t.Errorf("at %v, want %v (%v)", found, want, err)
	}
	ctx := budget.Confined(t.Context(), budget.Second/4)
	if _, err := Positions(budget.NewMeter(ctx), segments[90_000], paths); err == nil {
		t.Error("1000 paths in a list of 90,000 items cost less than a quarter of a second")
	}
}
