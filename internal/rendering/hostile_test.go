package rendering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// chained returns documents that each depend on the previous one, in a layer of their own.
func chained(t testing.TB, n int, first string, line func(i int) string) []*document.Document {
	t.Helper()
	var layers, lines []string
	for i := range n {
		layers = append(layers, fmt.Sprintf("l%d", i))
	}
	lines = append(lines, "policy "+strings.Join(layers, ", "), "l0 d0 | labels {id: 0} | data "+first)
	for i := 1; i < n; i++ {
		lines = append(lines, fmt.Sprintf("l%d d%d | labels {id: %d} | %s", i, i, i, line(i)))
	}
	return sketch(t, strings.Join(lines, "\n"))
}

// hostile renders documents within a request's budget, and wants a kind of fault, Internal for none.
func hostile(t *testing.T, documents []*document.Document, options Options, want fault.Kind) {
	t.Helper()
	ctx := budgeted(t)
	_, _, err := renderAll(ctx, documents, options)
	steps, bytes := budget.From(ctx).Spent()
	t.Logf("%d ms, %d MiB: %.200s", steps/(budget.Second/1000), bytes/budget.MiB, fmt.Sprint(err))
	if kind := fault.KindOf(err); kind != want || want == fault.Internal && err != nil {
		t.Errorf("got %v, want kind %d", err, want)
	}
}

func TestRender_hostile(t *testing.T) {
	t.Parallel()
	t.Run("10,000 parents in a chain", func(t *testing.T) {
		t.Parallel()
		documents := chained(t, 10_000, "{a: 0}", func(i int) string {
			return fmt.Sprintf("parent {id: %d} | merge . | data {a: %d}", i-1, i)
		})
		hostile(t, documents, Options{}, fault.Internal)
	})
	t.Run("10,000 parents, each of which adds", func(t *testing.T) {
		t.Parallel()
		documents := chained(t, 10_000, "{a: 0}", func(i int) string {
			return fmt.Sprintf("parent {id: %d} | merge . | data {k%d: %d}", i-1, i, i)
		})
		hostile(t, documents, Options{Limit: 8 << 20}, fault.TooLarge)
	})
	t.Run("a cycle of 10,000", func(t *testing.T) {
		t.Parallel()
		var lines []string
		for i := range 10_000 {
			lines = append(lines, fmt.Sprintf("site d%d | sub d%d .a > .a | data {a: 1}", i, (i+1)%10_000))
		}
		_, _, err := renderAll(t.Context(), sketch(t, strings.Join(lines, "\n")), Options{})
		if f := faultOf(t, err); f.Type != "SubstitutionDependencyCycle" || !strings.HasSuffix(f.Message, "and 9900 more]") || len(f.Message) > 10_000 {
			t.Errorf("%.300s", f.Message)
		}
	})
	t.Run("one source of 10,000 documents", func(t *testing.T) {
		t.Parallel()
		lines := []string{"site s | data " + wide(2_000)}
		for i := range 10_000 {
			lines = append(lines, fmt.Sprintf("site d%d | sub s .k%d > .x | data {}", i, i%2_000))
		}
		hostile(t, sketch(t, strings.Join(lines, "\n")), Options{}, fault.Internal)
	})
	t.Run("10,000 destinations in one document", func(t *testing.T) {
		t.Parallel()
		var paths []string
		for i := range 10_000 {
			paths = append(paths, fmt.Sprintf("{path: .x.k%d}", i))
		}
		hostile(t, sketch(t, into("{v: 1}", "substitution {src: {name: s, path: .}, dest: ["+strings.Join(paths, ", ")+"]}", "{}")), Options{}, fault.Internal)
	})
	t.Run("exponential growth by structure", func(t *testing.T) {
		t.Parallel()
		documents := chained(t, 100, "{a: 0}", func(i int) string {
			return fmt.Sprintf("sub d%d . > .x | sub d%d . > .y | data {}", i-1, i-1)
		})
		hostile(t, documents, Options{}, fault.TooLarge)
	})
	t.Run("exponential growth by patterns", func(t *testing.T) {
		t.Parallel()
		documents := chained(t, 100, "xxxxxxxxxx", func(i int) string {
			return fmt.Sprintf("substitution {src: {name: d%d, path: .}, dest: {path: ., pattern: 'y|z'}} | data yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", i-1)
		})
		hostile(t, documents, Options{}, fault.TooLarge)
	})
	t.Run("a pattern that matches everywhere", func(t *testing.T) {
		t.Parallel()
		documents := sketch(t, "site s | data "+strings.Repeat("x", 1<<16)+"\nsite d | substitution {src: {name: s, path: .}, dest: {path: ., pattern: 'x*?'}} | data "+strings.Repeat("y", 1<<16))
		hostile(t, documents, Options{}, fault.TooLarge)
	})
	t.Run("deeper and deeper", func(t *testing.T) {
		t.Parallel()
		documents := chained(t, 10_000, "{a: 0}", func(i int) string { return fmt.Sprintf("sub d%d . > .x | data {}", i-1) })
		hostile(t, documents, Options{Limit: 1 << 40}, fault.TooLarge)
	})
	t.Run("long lists", func(t *testing.T) {
		t.Parallel()
		hostile(t, sketch(t, into("{v: 1}", "sub s .v > .l[10000]", "{}")), Options{}, fault.Internal)
		hostile(t, sketch(t, into("{v: 1}", "sub s .v > .l[10000]", "{}")), Options{Limit: 1 << 10}, fault.TooLarge)
		hostile(t, sketch(t, into("{v: 1}", "sub s .v > .l[10001]", "{}")), Options{}, fault.Invalid)
		hostile(t, sketch(t, into("{v: 1}", "sub s .v > .l[1000000000]", "{}")), Options{}, fault.Invalid)
	})
	t.Run("recursive patterns over 10 MB", func(t *testing.T) {
		t.Parallel()
		big := func(pattern string, times int) []*document.Document {
			lines := []string{"site pw | data secret", "site s | data {t: '" + strings.Repeat("PASS word 12 ", 75_000) + "'}"}
			fill := strings.Repeat("{path: .k}, ", 9)
			for i := range 10 {
				fill = strings.Replace(fill, ".k}", fmt.Sprintf(".m.k%d}", i), 1)
			}
			rewrite := " | substitution {src: {name: pw, path: .}, dest: {path: ., pattern: '" + pattern + "', recurse: {depth: -1}}}"
			line := "site d | substitution {src: {name: s, path: .}, dest: [" + fill + "{path: .m.last}]}" + strings.Repeat(rewrite, times)
			return sketch(t, strings.Join(append(lines, line+" | data {}"), "\n"))
		}
		hostile(t, big("PASS", 1), Options{}, fault.Internal)
		hostile(t, big("PASS word|12", 1), Options{}, fault.Internal)
		hostile(t, big("zz", 400), Options{}, fault.Internal)
		hostile(t, big("zz", 1_000), Options{}, fault.TooLarge)
	})
	t.Run("patterns that take long", func(t *testing.T) {
		t.Parallel()
		for _, pattern := range []string{"(a{1000}){1000}", strings.Repeat("a{1000}", 50), strings.Repeat("(", 2_000) + strings.Repeat(")", 2_000)} {
			hostile(t, sketch(t, into("pw", "substitution {src: {name: s, path: .}, dest: {path: .a, pattern: '"+pattern+"'}}", "{a: aaaa}")), Options{}, fault.Invalid)
		}
		slow := "(x?){500}y"
		hostile(t, sketch(t, into("pw", "substitution {src: {name: s, path: .}, dest: {path: .a, pattern: '"+slow+"'}}", "{a: "+strings.Repeat("x", 1<<20)+"}")), Options{}, fault.TooLarge)
		hostile(t, sketch(t, into("pw", "substitution {src: {name: s, path: .}, dest: {path: .a, pattern: '"+slow+"'}}", "{a: "+strings.Repeat("x", 1<<14)+"}")), Options{}, fault.TooLarge)
		hostile(t, sketch(t, into("pw", "substitution {src: {name: s, path: .}, dest: {path: .a, pattern: '"+slow+"'}}", "{a: "+strings.Repeat("x", 1<<12)+"}")), Options{}, fault.Internal)
	})
	t.Run("work without an end", func(t *testing.T) {
		t.Parallel()
		lines := []string{"site s | data " + wide(20_000)}
		line := "site d" + strings.Repeat(" | sub s . > .a | sub s .k1 > .a.k2", 200) + " | data {}"
		documents := sketch(t, strings.Join(append(lines, line), "\n"))
		hostile(t, documents, Options{}, fault.Internal)
		ctx, cancel := context.WithCancelCause(budgeted(t))
		gone := errors.New("gone")
		_, _, err := renderAll(ctx, documents, Options{Only: func(*document.Document) bool {
			cancel(gone)
			return true
		}})
		if steps, _ := budget.From(ctx).Spent(); !errors.Is(err, gone) || steps > budget.Second/100 {
			t.Errorf("stopped after %d steps: %v", steps, err)
		}
	})
	t.Run("selectors of one label on all", func(t *testing.T) {
		t.Parallel()
		var lines []string
		for i := range 2_500 {
			lines = append(lines,
				fmt.Sprintf("global g%d | labels {all: x} | data {}", i),
				fmt.Sprintf("site s%d | parent {all: x, l%d: null} | merge . | data {}", i, i))
		}
		hostile(t, sketch(t, strings.Join(lines, "\n")), Options{}, fault.Invalid)
	})
}

// wide is a mapping of n members.
func wide(n int) string {
	var members []string
	for i := range n {
		members = append(members, fmt.Sprintf("k%d: %d", i, i))
	}
	return "{" + strings.Join(members, ", ") + "}"
}
