package sites_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/sites"
)

// read returns the value of a text.
func read(t *testing.T, text string) any {
	t.Helper()
	value, err := document.ParseOne(t.Context(), []byte(text), document.YAML, document.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestParse(t *testing.T) {
	t.Parallel()
	key, value := "k"+strings.Repeat("-", 61)+"k", strings.Repeat("ü", 255)
	labels := map[string]string{key: value, "a/b.c_D": ""}
	for text, want := range map[string]sites.Settings{
		"{}":                       {},
		"name: x":                  {},
		"archived: true":           {Archived: true},
		"limits: {changes: null}":  {},
		"limits: {documents: 1}":   {Limits: sites.Limits{Documents: new(int64(1))}},
		"limits: {keep: 10000000}": {Limits: sites.Limits{Keep: new(int64(10_000_000))}},
		fmt.Sprintf("labels: {%s: %s, a/b.c_D: ''}", key, value): {Labels: labels},
		"labels: {}": {Labels: map[string]string{}},
	} {
		got, err := sites.Parse("x", read(t, text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

// All mistakes are told at once, and nothing is returned.
func TestParse_mistakes(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("labels: {")
	for i := range 21 {
		fmt.Fprintf(&many, "k%d: v, ", i)
	}
	for text, want := range map[string][]string{
		"[]":                                {"must be a mapping"},
		"name: y":                           {"must be x, as in the path"},
		"archived: 1":                       {"archived must be true or false"},
		"archived: null":                    {"archived must be true or false"},
		"label: {}":                         {"did you mean labels?"},
		"zone: x":                           {`unknown key "zone"; it can have name, labels, limits and archived`},
		"revision: 1":                       {`"revision" of a site is not set, only shown`},
		"labels: [a]":                       {"labels must be a mapping"},
		"limits: 5":                         {"limits must be a mapping"},
		"limits: {document: 5}":             {"did you mean documents?"},
		"limits: {revision: 5}":             {"it can have documents, changes and keep"},
		"limits: {documents: 0}":            {"documents must be a whole number from 1 to 10000000"},
		"limits: {documents: 10000001}":     {"from 1 to 10000000"},
		"limits: {changes: 1000001}":        {"from 1 to 1000000"},
		"limits: {keep: 1.5}":               {"keep must be a whole number"},
		"limits: {keep: '7'}":               {"keep must be a whole number"},
		many.String() + "}":                 {"21 labels, but at most 20"},
		"labels: {-a: x}":                   {`"-a" cannot be the key`},
		"labels: {a=b: x}":                  {`"a=b" cannot be the key`},
		"labels: {'': x}":                   {`"" cannot be the key`},
		"labels: {wave: 1}":                 {`"wave" must be a text; put it in quotes`},
		"labels: {a: \"x\\ny\"}":            {`"a" must be a text on one line`},
		"labels: {n: x, a: 1}\nnam: y":      {`"a" must be a text`, "did you mean name?"},
		"labels: {" + long(64, "k") + ": x": {"keys have 1 to 63"},
		"labels: {k: " + long(256, "v"):     {"256 characters, but at most 255"},
	} {
		if strings.Count(text, "{") > strings.Count(text, "}") {
			text += "}"
		}
		got, err := sites.Parse("x", read(t, text))
		var f *fault.Fault
		if !errors.As(err, &f) || f.Kind != fault.Invalid || cmp.Diff(sites.Settings{}, got) != "" {
			t.Errorf("%s: %v, %+v", text, err, got)
			continue
		}
		texts := []string{f.Message}
		for _, message := range f.Messages {
			texts = append(texts, message.Message)
		}
		said := strings.Join(texts, "\n")
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("%s: %q is not in:\n%s", text, part, said)
			}
		}
		if n := max(1, len(f.Messages)); n != len(want) {
			t.Errorf("%s: %d mistakes:\n%s", text, n, said)
		}
	}
}

func long(n int, letter string) string { return strings.Repeat(letter, n) }

func TestIsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "0": true, "atl-1.x_y": true, long(63, "a"): true, long(64, "a"): false, "": false, "-": false,
		"a-": false, ".a": false, "A": false, "a/b": false, "ä": false, "a\n": false, "default": true,
	} {
		if got := sites.IsName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
