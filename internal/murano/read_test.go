package murano

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
)

// parse returns the first document of a text as Python prints it, or the problem.
func parse(t *testing.T, text string) string {
	t.Helper()
	docs, err := parseYAML(budget.NewMeter(t.Context()), []byte(text))
	if problem, ok := errors.AsType[*yamlError](err); ok {
		return "problem: " + problem.Message
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 {
		return ""
	}
	return docs[0].String()
}

func TestParseYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"---":                         "null",
		"[~, a, Null, '', '~']":       "[null, 'a', null, '', '~']",
		"[yes, NO, On, oFF, y, tRUE]": "[True, False, True, 'oFF', 'y', 'tRUE']",
		"[010, 0x1F, 0b1_1, 1_000, -0x1, 08, 190:20:30, 1:60]":    "[8, 31, 3, 1000, -1, '08', 685230, '1:60']",
		"[1., .5, 1.5e3, 1.5e+3, 1e5, -.5, 1_0.5, 1:30.5, 1.2.3]": "[1.0, 0.5, '1.5e3', 1500.0, '1e5', '-.5', 10.5, 90.5, '1.2.3']",
		"[.inf, -.INF, .NaN, ._5, 1.0e+20, 1.0e-7]":               "[inf, -inf, nan, '._5', 1e+20, 1e-07]",
		"[2016-01-01, 2001-12-14t21:59:43.10-05:00]":              "[datetime.date(2016, 1, 1), datetime.datetime(2001-12-14 21:59:43.100000-05:00)]",
		"2016-01-01":                             "2016-01-01",
		"2001-12-14 21:59:43":                    "2001-12-14 21:59:43",
		"{&x =: &y a, b: *x, c: *y}":             "{'=': 'a', 'b': '=', 'c': 'a'}",
		"{&x =: 1, &x b: 2}":                     "problem: an anchor appears twice",
		"2016-02-30":                             "problem: there is no such date",
		"{a: {b: [it's, 'q\"', \"\\t\\x07é\"]}}": `{'a': {'b': ["it's", 'q"', '\t\x07é']}}`,
		"!!str 5":                                "5",
		"!!int x":                                "problem: the tag !!int needs an integer",
		"!!bool maybe":                           "problem: the tag !!bool needs true or false",
		"!!null x":                               "null",
		"!!float 1":                              "1.0",
		"!!binary QXBw":                          "b'App'",
		"!!int 0o17":                             "15",
		"!!float 0x1p4":                          "problem: the tag !!float needs a number",
		"!!timestamp 2016-1-2":                   "2016-01-02",
		"!!timestamp x":                          "problem: the tag !!timestamp needs a date",
		"[!!set 5]":                              "problem: the tag !!set is not known here",
		"%YAML 1.3 # c\n%FOO\n---\na":            "a",
		"%YAML 2.0\n---\na":                      "problem: the directive %YAML asks for another version than 1.x; write %YAML 1.2, or remove it",
		"---\nscalar\n%YAML 1.2\n":               "scalar %YAML 1.2",
		"[\"a\\/b\", 'c\\/d']":                   `['a/b', 'c\\/d']`,
		"{a:, b: [c:]}":                          "{'a': null, 'b': [{'c': null}]}",
		"a: |\n \tb\n":                           `{'a': '\tb\n'}`,
		"!!set {a, b}":                           "set()",
		"!foo x":                                 "problem: '!' begins a tag, and this one is not known; quote a value that begins with '!'",
		"!yaql $.x":                              "$.x",
		"a: =":                                   "problem: a value = has no meaning in YAML 1.1; quote it",
		"=: 1":                                   "{'=': 1}",
		"{{x}}":                                  "problem: a key is a list or a mapping; it must be a scalar",
		"{1: a, 1.0: b, true: c}":                "{1: 'c'}",
		"{a: 1, b: 2, a: 3}":                     "{'a': 3, 'b': 2}",
		"{a: &x {b: 1, c: 2}, d: {c: 3, <<: *x}}":      "{'a': {'b': 1, 'c': 2}, 'd': {'b': 1, 'c': 3}}",
		"[&x {a: 1}, &y {a: 2, b: 2}, {<<: [*x, *y]}]": "[{'a': 1}, {'a': 2, 'b': 2}, {'a': 1, 'b': 2}]",
		"{<<: 1}":               "problem: << needs a mapping or a list of mappings",
		"[&x 1, &x 2]":          "problem: an anchor appears twice",
		"&x [*x]":               "problem: an alias stands within its own value",
		"*x":                    "problem: '*' begins an alias, and no such anchor precedes it; quote a value that begins with '*'",
		"%YAML 1.2\n---\na: on": "{'a': True}",
		strings.Repeat("[", 600) + strings.Repeat("]", 600): "problem: it is nested deeper than 500",
		"\xff\xfea\x00:\x00 \x001\x00":                      "{'a': 1}",
		"a\xff":                                             "problem: a byte that is not UTF-8; save the text as UTF-8",
	} {
		if got := parse(t, text); got != want {
			t.Errorf("%.60q is %s, want %s", text, got, want)
		}
	}
}

func TestParseYAML_places(t *testing.T) {
	t.Parallel()
	docs, err := parseYAML(budget.NewMeter(t.Context()), []byte("é: {a: 'x',\n  b: }\nc: &y\n  - |\n    z\n  - 5\nd: *y\n---\n2"))
	if err != nil {
		t.Fatal(err)
	}
	doc := docs[0]
	for name, c := range map[string]struct {
		v            *Value
		line, column int
	}{
		"key": {doc.Entries[0].Key, 0, 0}, "flow": {doc.Entries[0].Value, 0, 3},
		"quoted": {doc.Entries[0].Value.Get("a"), 0, 7}, "empty": {doc.Entries[0].Value.Get("b"), 1, 5},
		"anchored": {doc.Get("c"), 2, 3}, "literal": {doc.Get("c").Items[0], 3, 4}, "number": {doc.Get("c").Items[1], 5, 4},
		"alias": {doc.Get("d"), 2, 3}, "second": {docs[1], 8, 0},
	} {
		if c.v.Line != c.line || c.v.Column != c.column {
			t.Errorf("%s is at %d:%d, want %d:%d", name, c.v.Line, c.v.Column, c.line, c.column)
		}
	}
	_, err = parseYAML(budget.NewMeter(t.Context()), []byte("a: 1\nb: [\n"))
	if problem, ok := errors.AsType[*yamlError](err); !ok || problem.Line < 1 {
		t.Errorf("%+v", err)
	}
}

// TestParseYAML_laughs checks that a text that expands to an endless value is read and printed quickly.
func TestParseYAML_laughs(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a0: &a0 [x, x]\n")
	for i := range 40 {
		fmt.Fprintf(&text, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	if got := parse(t, text.String()); len(got) > 2100 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
}

func FuzzParseYAML(f *testing.F) {
	for _, text := range []string{
		"a: &x {b: [1, 2.5, yes, ~, 2016-01-01]}\nc: {<<: *x}\n---\n!yaql $.x", "\xef\xbb\xbfa: |\r\n  b\r\n", "%YAML 1.2\n--- !!set {a}",
		"? [a]\n: b", "a: 0b_\nb: 1:2:3", "&x [*x]", "!!timestamp 2001-1-1T1:1:1.5 +1", "!!binary =",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, end := budget.NewPool(1, time.Minute).Begin(context.Background())
		defer end()
		docs, err := parseYAML(budget.NewMeter(ctx), []byte(text))
		if _, ok := errors.AsType[*yamlError](err); err != nil && !ok {
			return // of the budget
		}
		for _, doc := range docs {
			_ = doc.String()
			if doc.Line < 0 || doc.Column < 0 || doc.Line > len(text) {
				t.Errorf("%q is at %d:%d", doc, doc.Line, doc.Column)
			}
		}
	})
}
