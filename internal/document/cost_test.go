package document

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/budget/budgettest"
)

// costly returns texts of about n bytes that are expensive to read in some way.
func costly() map[string]func(n int) string {
	fill := func(unit string) func(n int) string {
		return func(n int) string { return strings.Repeat(unit, n/len(unit)) }
	}
	numbered := func(format string) func(n int) string {
		return func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				fmt.Fprintf(&b, format, i)
			}
			return b.String()
		}
	}
	within := func(before string, of func(n int) string, after string) func(n int) string {
		return func(n int) string { return before + of(n) + after }
	}
	return map[string]func(n int) string{
		"block mapping":   numbered("key%06d: value\n"),
		"nested blocks":   numbered("key%06d:\n  a:\n  - b: c\n"),
		"flow mapping":    within("{", numbered("key%06d: value, "), "}"),
		"JSON":            within(`{"a":[`, numbered(`{"b":%d,"c":[true,null]},`), "0]}"),
		"JSON keys":       within(`{`, numbered(`"key%06d":"value",`), `"b":0}`),
		"JSON escapes":    within(`{"a":"`, fill(`\u00e9`), `"}`),
		"duplicate keys":  within("{", fill(`"a": 1, `), `"b": 0}`),
		"sequence":        fill("- a\n"),
		"documents":       fill("---\na: b\n"),
		"empty documents": fill("---\n"),
		"large documents": numbered("---\nschema: a/B/v1\nmetadata: {schema: metadata/Document/v1, name: n%d}\ndata: {a: [1, 2]}\n"),
		"comments":        within("a: 1\n", fill("# x\n"), ""),
		"one comment":     within("a: 1 #", fill("#"), ""),
		"literal":         within("a: |\n", fill("  x y z\n"), ""),
		"folded":          within("a: >\n", fill("  x\n\n"), ""),
		"plain lines":     within("a: b\n", fill("  c d\n"), ""),
		"single quotes":   within("a: '", fill("''x\n  "), "'"),
		"double quotes":   within("a: \"", fill("x\\n\\\n  "), "\""),
		"anchors":         within("", numbered("k%[1]d: &a%[1]d x\n"), ""),
		"aliases":         within("a: &a [1, 2]\nb: [", fill("*a, "), "]"),
		"aliases of a text": func(n int) string {
			return "a: &a " + strings.Repeat("x", n/2) + "\nb: [" + strings.Repeat("*a, ", n/8) + "]"
		},
		"aliases of items": func(n int) string {
			return "a: &a [" + strings.Repeat("1, ", n/6) + "]\nb: [" + strings.Repeat("*a, ", n/8) + "]"
		},
		"merges": func(n int) string {
			return "a: &a {" + numbered("k%05d: 1, ")(n/2) + "}\n" + numbered("m%05d: {<<: *a, x: 1}\n")(n/2)
		},
		"a list of merges": func(n int) string {
			return "a: &a {" + numbered("k%05d: 1, ")(n/2) + "}\nb: {<<: [" + strings.Repeat("*a, ", n/8) + "]}\n"
		},
		"a chain of merges": func(n int) string { return merges(n / 30) },
		"integers":          within("[", numbered("%d, "), "]"),
		"floats":            within("[", numbered("%d.25e-300, "), "]"),
		"long floats":       within("[", fill(strings.Repeat("7", 300)+".5, "), "]"),
		"octal":             within("[", fill("0o17, 0x1F, 0b11, 017, 1_000, "), "]"),
		"sexagesimal":       within("[", fill("1:2:3, "), "]"),
		"timestamps":        within("[", fill("2001-12-14t21:59:43.10-05:00, "), "]"),
		"tags":              within("[", fill("!!str 1, !!int '2', !!binary aGk=, "), "]"),
		"tag directives": func(n int) string {
			return strings.Repeat("%TAG !a! b\n", n/22) + "---\n[" + strings.Repeat("!a!a b,", n/14) + "]"
		},
		"deep":   func(n int) string { return strings.Repeat("[", min(n/2, 98)) + strings.Repeat("]", min(n/2, 98)) },
		"deeper": func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
		"deep blocks": func(n int) string {
			var b strings.Builder
			for i := 0; b.Len() < n; i = (i + 1) % 90 {
				b.WriteString(strings.Repeat(" ", i) + "k:\n")
			}
			return b.String()
		},
		"indented": within("a:\n", fill(strings.Repeat(" ", 80)+"b:\n"+strings.Repeat(" ", 81)+"- c\n"), ""),
		"tabs":     within("a:", fill("\t"), "b"),
		"blanks":   within("a:", fill(" "), "b"),
		"newlines": within("a:\n", fill("\n"), " b"),
		"windows":  within("", numbered("key%06d: value\r\n"), ""),
		"colons":   fill(":"), "dashes": fill("- "), "question marks": fill("? "), "quotes": fill(`"a" `),
		"percents": fill("%a\n"), "ends": fill("...\n"), "braces": fill("{"), "brackets": fill("["), "commas": within("[", fill(","), "]"),
		"a long key":          func(n int) string { return strings.Repeat("k", n) + ": 1" },
		"long keys":           within("", numbered(strings.Repeat("k", 900)+"%d: 1\n"), ""),
		"complex keys":        fill("? [a, b]\n: c\n"),
		"open at the end":     within("a: [", fill("b, "), ""),
		"wrong at the end":    within("", numbered("key%06d: value\n"), "x: [}\n"),
		"not ASCII":           within("", numbered("é%06d: ü→𝄞\n"), ""),
		"byte order marks":    within("a: b\n", fill("\n\ufeff---\na: b\n"), ""),
		"one byte order mark": within("a: b\n---\n\ufeff\n", numbered("k%06d: x\n...\n"), ""),
		"wrong marks":         within("a: b\n", fill("...\n\ufeff"), ""),
		"%YAML":               fill("%YAML 1.2\n---\na\n...\n"),
		"controls":            within("a: \"", fill(`\x01\0`), "\""),
		"a list of all":       within("", numbered("- schema: a/B/v1\n  metadata: {name: n%d}\n"), ""),
		"a JSON list":         within("[", numbered(`{"schema":"a/B/v1","metadata":{"name":"n%d"}},`), "{}]"),
		"strings":             within("[", fill("'a b', "), "]"),
	}
}

// readsOf returns the work of reading a body, writing its documents and finding places in them.
func readsOf(media Media, strict bool) budgettest.Shapes {
	shapes := budgettest.Shapes{}
	for name, text := range costly() {
		shapes[name] = func(n int) func(ctx context.Context) {
			body, limits := []byte(text(n)), DefaultLimits()
			limits.Strict = strict
			return func(ctx context.Context) {
				segments, err := Split(ctx, body, media, limits)
				if err == nil {
					segments, err = Listed(ctx, body, segments, limits)
				}
				for _, s := range segments {
					if err != nil {
						return
					}
					_, err = Decode(ctx, s, limits)
				}
				if len(segments) > 0 && err == nil {
					_, _ = Positions(budget.NewMeter(ctx), segments[0], [][]string{{"a"}, {"b", "0"}})
				}
			}
		}
	}
	return shapes
}

func TestCost_steps(t *testing.T) { readsOf(YAML, false).Table(t, 60_000) } //nolint:paralleltest // it measures the process

func TestCost_strict_steps(t *testing.T) { readsOf(YAML, true).Table(t, 60_000) } //nolint:paralleltest // it measures the process

func TestCost_JSON_steps(t *testing.T) { readsOf(JSON, false).Table(t, 60_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { //nolint:paralleltest // it measures the process
	for _, media := range []Media{YAML, JSON} {
		for _, strict := range []bool{false, true} {
			readsOf(media, strict).Law(t, 400_000)
		}
	}
}
