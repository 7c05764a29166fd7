package rendering

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget/budgettest"
	"purser/internal/document"
)

// costly are documents of about n bytes that are expensive to render in some way, in the short form of sketch.
func costly() map[string]func(n int) string {
	lines := func(n int, each func(i, of int) string) string {
		of := max(2, n/200)
		var all []string
		for i := range of {
			all = append(all, each(i, of))
		}
		return strings.Join(all, "\n")
	}
	into := func(source, substitution, data string) string {
		return "site s | data " + source + "\nsite d | " + substitution + " | data " + data
	}
	texts := func(n int, text string) string { return "{t: [" + strings.Repeat(text+", ", n/(len(text)+2)) + "]}" }
	return map[string]func(n int) string{
		"plain": func(n int) string {
			return lines(n, func(i, _ int) string { return fmt.Sprintf("site d%d | data {a: %d}", i, i) })
		},
		"one parent of all": func(n int) string {
			return "global p | abstract | labels {k: g} | data " + wide(n/50) + "\n" + lines(n, func(i, _ int) string {
				return fmt.Sprintf("site d%d | parent {k: g} | merge . | data {a: %d}", i, i)
			})
		},
		"labels of all": func(n int) string {
			return lines(n, func(i, _ int) string {
				return fmt.Sprintf("global g%[1]d | labels {all: x, l%[1]d: x} | data {}\nsite s%[1]d | parent {all: x, l%[1]d: x} | merge . | data {}", i)
			})
		},
		"a chain": func(n int) string {
			return lines(n, func(i, _ int) string { return fmt.Sprintf("site d%d | sub d%d .a > .a | data {a: 1}", i, i-1) })
		},
		"a cycle": func(n int) string {
			return lines(n, func(i, of int) string { return fmt.Sprintf("site d%d | sub d%d .a > .a | data {a: 1}", i, (i+1)%of) })
		},
		"missing sources": func(n int) string {
			return lines(n, func(i, _ int) string { return fmt.Sprintf("site d%d | sub x%d .a > .a | data {a: 1}", i, i) })
		},
		"replacements": func(n int) string {
			return lines(n, func(i, _ int) string {
				return fmt.Sprintf("global d%[1]d | labels {k: d%[1]d} | data {a: 1}\n"+
					"site d%[1]d | replacement | parent {k: d%[1]d} | merge . | data {b: 1}", i)
			})
		},
		"merging wide mappings": func(n int) string {
			return "global p | labels {k: g} | data " + wide(n/30) + "\nsite d | parent {k: g} | merge . | data " + wide(n/30)
		},
		"many actions": func(n int) string {
			return "global p | labels {k: g} | data " + wide(n/40) + "\nsite d | parent {k: g}" +
				strings.Repeat(" | merge . | delete .k1", n/200) + " | data " + wide(n/40)
		},
		"deletes of a list": func(n int) string {
			return "global p | labels {k: g} | data {l: [" + strings.Repeat("1, ", n/10) + "]}\nsite d | parent {k: g}" +
				strings.Repeat(" | delete .l[0]", n/100) + " | data {}"
		},
		"deletes of keys": func(n int) string {
			var b strings.Builder
			for i := range n / 100 {
				fmt.Fprintf(&b, " | delete .k%d", i)
			}
			return "global p | labels {k: g} | data " + wide(n/100) + "\nsite d | parent {k: g}" + b.String() + " | data {}"
		},
		"replaces of keys": func(n int) string {
			var b strings.Builder
			for i := range n / 100 {
				fmt.Fprintf(&b, " | replace .k%d", i)
			}
			return "global p | labels {k: g} | data " + wide(n/100) + "\nsite d | parent {k: g}" + b.String() + " | data " + wide(n/100)
		},
		"substitutions of keys": func(n int) string {
			var b strings.Builder
			for i := range n / 250 {
				fmt.Fprintf(&b, " | sub s .k%d > .x.k%d", i, i)
			}
			return "site s | data " + wide(n/100) + "\nsite d" + b.String() + " | data {}"
		},
		"substitutions of all": func(n int) string {
			return into(wide(n/50), strings.Repeat("sub s . > .a | ", n/300)+"sub s . > .b", "{}")
		},
		"paths of wildcards": func(n int) string {
			return into("{l: [{a: [1]}]}", "sub s .l[*].a[*] > .x[*].y", "{x: ["+strings.Repeat("{y: 1}, ", n/10)+"]}")
		},
		"long paths": func(n int) string { return into("{v: 1}", "sub s .v > "+strings.Repeat(".a", min(900, n/20)), "{}") },
		"lists that grow": func(n int) string {
			return into("{v: 1}", strings.Repeat("sub s .v > .l[9999] | ", n/400)+"sub s .v > .l[1]", "{}")
		},
		"patterns everywhere": func(n int) string {
			return into("pw", "substitution {src: {name: s, path: .}, dest: {path: ., pattern: 'X+', recurse: {depth: -1}}}", texts(n, "aXbXXc"))
		},
		"many patterns": func(n int) string {
			one := "substitution {src: {name: s, path: .}, dest: {path: ., pattern: 'X+', recurse: {depth: -1}}} | "
			return into("pw", strings.Repeat(one, n/1000)+"sub s . > .b", texts(n/2, "aXbXXc"))
		},
		"a long text": func(n int) string {
			return into("pw", "substitution {src: {name: s, path: .}, dest: {path: .t, pattern: '(a|b)*X'}}", "{t: "+strings.Repeat("ab", n/2)+"X}")
		},
		"parts of a text": func(n int) string {
			return into(strings.Repeat("ab", n/2)+"X", "substitution {src: {name: s, path: ., pattern: '(a|b)*X', match_group: 1}, dest: {path: .t}}", "{}")
		},
		"deep": func(n int) string {
			deep := strings.Repeat("{a: ", min(90, n/20)) + "1" + strings.Repeat("}", min(90, n/20))
			return lines(n, func(i, _ int) string { return fmt.Sprintf("site d%d | data %s", i, deep) })
		},
		"same names": func(n int) string {
			return lines(n, func(int, int) string { return "site d | data {a: 1}" })
		},
		"layers": func(n int) string {
			of := max(2, n/300)
			var names, all []string
			for i := range of {
				names = append(names, fmt.Sprintf("l%d", i))
				all = append(all, fmt.Sprintf("l%d d%d | labels {id: d%d} | parent {id: d%d} | merge . | data {a: 1}", i, i, i, i-1))
			}
			return "policy " + strings.Join(names, ", ") + "\n" + strings.Join(all, "\n")
		},
		"children that add": func(n int) string {
			of := max(2, n/300)
			var names, all []string
			for i := range of {
				names = append(names, fmt.Sprintf("l%d", i))
				all = append(all, fmt.Sprintf("l%d d%d | labels {id: d%d} | parent {id: d%d} | merge . | data {k%d: 1}", i, i, i, i-1, i))
			}
			return "policy " + strings.Join(names, ", ") + "\n" + strings.Join(all, "\n")
		},
		"long keys": func(n int) string {
			key := strings.Repeat("k", 1+min(1_000, n/10))
			return "global p | labels {k: g} | data {" + key + ": {a: [" + strings.Repeat("1, ", n/20) + "]}}\n" +
				"site d | parent {k: g} | merge . | sub p . > .x | data {b: 1}"
		},
		"long names": func(n int) string {
			return lines(n, func(i, _ int) string {
				return fmt.Sprintf("site %s%d | sub %s%d .a > .a | data {}", strings.Repeat("n", 200), i, strings.Repeat("n", 200), i+1)
			})
		},
		"selectors without parents": func(n int) string {
			return lines(n, func(i, _ int) string { return fmt.Sprintf("site d%d | parent {k: x%d} | merge . | data {a: 1}", i, i) })
		},
	}
}

// works returns the work of doing something with costly documents.
func works(t *testing.T, do func(ctx context.Context, documents []*document.Document)) budgettest.Shapes {
	t.Helper()
	shapes := budgettest.Shapes{}
	for name, text := range costly() {
		shapes[name] = func(n int) func(ctx context.Context) {
			documents := sketch(t, text(n))
			return func(ctx context.Context) { do(ctx, documents) }
		}
	}
	return shapes
}

func engines() map[string]func(ctx context.Context, documents []*document.Document) {
	return map[string]func(ctx context.Context, documents []*document.Document){
		"render": func(ctx context.Context, documents []*document.Document) {
			_, _ = Render(ctx, documents, Options{Cache: NewCache(1 << 20)})
		},
		"explain": func(ctx context.Context, documents []*document.Document) {
			_, _ = Explain(ctx, documents, documents[len(documents)-1].Identity, ".", Options{})
		},
		"graph":   func(ctx context.Context, documents []*document.Document) { _, _ = Dependencies(ctx, documents) },
		"needs":   func(ctx context.Context, documents []*document.Document) { _, _, _ = NeedsOf(ctx, documents) },
		"examine": func(ctx context.Context, documents []*document.Document) { _, _ = Examine(ctx, documents, Options{}) },
	}
}

// Rendering takes as much time as it counts, whatever makes it expensive.
func TestCost_steps(t *testing.T) { //nolint:paralleltest // it measures the process
	for name, do := range engines() { //nolint:paralleltest // it measures the process
		t.Run(name, func(t *testing.T) { works(t, do).Table(t, 200_000) })
	}
}

func TestCost_laws(t *testing.T) { //nolint:paralleltest // it measures the process
	for name, do := range engines() { //nolint:paralleltest // it measures the process
		t.Run(name, func(t *testing.T) { works(t, do).Law(t, 400_000) })
	}
}
