package rendering

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// spent renders documents, or explains the last one, and returns the cost.
func spent(t *testing.T, documents []*document.Document, explain bool) (steps, bytes int64, err error) {
	t.Helper()
	return spentIn(budgeted(t), documents, explain)
}

func spentIn(ctx context.Context, documents []*document.Document, explain bool) (steps, bytes int64, err error) {
	if explain {
		_, err = Explain(ctx, documents, documents[len(documents)-1].Identity, ".", Options{})
	} else {
		_, _, err = renderAll(ctx, documents, Options{})
	}
	steps, bytes = budget.From(ctx).Spent()
	return steps, bytes, err
}

// repeated writes n parts of a line, each with its number.
func repeated(n int, part, between string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(part, i)
	}
	return strings.Join(parts, between)
}

// Eight times as much work counts as some eight times as many steps and bytes.
func TestRender_linear(t *testing.T) {
	t.Parallel()
	const source = "site s | data {v: 1, o: {x: 1}}\nsite d | "
	for name, f := range map[string]func(n int) string{
		"members":       func(n int) string { return source + "sub s .o > .x | data {" + repeated(n, "k%d: 1", ", ") + "}" },
		"substitutions": func(n int) string { return source + repeated(n, "sub s .v > .a%d", " | ") + " | data {}" },
		"places":        func(n int) string { return source + "sub s .v > .l[*] | data {l: [" + repeated(n, "%d", ", ") + "]}" },
		"created items": func(n int) string { return source + fmt.Sprintf("sub s .v > .l[%d] | data {}", n) },
		"texts": func(n int) string {
			return source + "substitution {src: {name: s, path: .v}, dest: {path: ., pattern: P, recurse: {depth: -1}}} | data {" + repeated(n, "k%d: P", ", ") + "}"
		},
		"matches": func(n int) string {
			return source + "substitution {src: {name: s, path: .v}, dest: {path: .t, pattern: 'P|Q'}} | data {t: " + strings.Repeat("PQ", n) + "}"
		},
		"merged members": func(n int) string {
			members := repeated(n, "k%d: 1", ", ")
			return "global p | labels {k: p} | data {" + members + "}\nsite c | parent {k: p} | merge . | data {" + members + "}"
		},
		"deleted members": func(n int) string {
			return "global p | labels {k: p} | data {" + repeated(n, "k%d: 1", ", ") + "}\nsite c | parent {k: p} | " + repeated(n, "delete .k%d", " | ")
		},
	} {
		for _, explain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/explain=%v", strings.ReplaceAll(name, " ", "_"), explain), func(t *testing.T) {
				t.Parallel()
				const n = 500
				fewSteps, fewBytes, err := spent(t, sketch(t, f(n)), explain)
				if err != nil {
					t.Fatal(err)
				}
				steps, bytes, err := spent(t, sketch(t, f(8*n)), explain)
				if err != nil {
					t.Fatal(err)
				}
				if steps > 10*fewSteps || steps < 4*fewSteps/2 || bytes > 10*fewBytes {
					t.Errorf("%d steps and %d bytes, eight times as much %d and %d", fewSteps, fewBytes, steps, bytes)
				}
			})
		}
	}
}

// Work far beyond the grants for the documents' size is refused soon after the budget is spent, with its location.
func TestRender_exceeds(t *testing.T) {
	t.Parallel()
	const source = "site s | data {v: 1, p: xP, o: {"
	const most = 3 * budget.Second / 2 // spent before, so that the rest is spent soon
	object := repeated(100, "k%d: 1", ", ")
	for name, c := range map[string]struct {
		documents string
		explain   bool
		message   string
	}{
		"places written often": {
			source + object + "}}\nsite d | sub s .o > .x | sub s .o > .x.*" + strings.Repeat(" | sub s .v > .x.*.*", 5000) + " | data {}", false,
			"render document [t/K/v1, site] d, substitution ",
		},
		"created items": {source + "}}\nsite d | " + repeated(2000, "sub s .v > .a%d[9999]", " | ") + " | data {}", false, "to .a340[9999]: it takes more than 0.18 s of work, the limit for its size and that of its sources; simplify it"},
		"created items, explained": {
			source + "}}\nsite d | " + repeated(2000, "sub s .v > .a%d[9999]", " | ") + " | data {}", true, "to .a8",
		},
		"merged again and again, explained": {
			"global p | labels {k: p} | data {" + repeated(20_000, "k%d: 1", ", ") + "}\nsite c | parent {k: p}" + strings.Repeat(" | merge .", 200) +
				" | data {" + repeated(20_000, "k%d: 1", ", ") + "}", true,
			"render document [t/K/v1, site] c, action 39 (merge .): it takes more than",
		},
		"items that moved up, explained": {
			"global p | labels {k: p} | data {l: [" + repeated(30_000, "%d", ", ") + "]}\nsite c | parent {k: p}" + strings.Repeat(" | delete .l[0]", 20_000), true,
			"render document [t/K/v1, site] c, explanation of value",
		},
		"a text that grows": {
			source + "}}\nsite d" + strings.Repeat(" | substitution {src: {name: s, path: .p}, dest: {path: ., pattern: P, recurse: {depth: -1}}}", 1000) +
				" | data {" + repeated(10_000, "k%d: P", ", ") + "}", false, "render document [t/K/v1, site] d, substitution 113 to .: it takes more than 0.21 s",
		},
		"a pattern that looks far ahead": {
			source + "}}\nsite d" + strings.Repeat(" | substitution {src: {name: s, path: .p}, dest: {path: .t, pattern: 'a*z|b|a'}}", 50) + " | data {t: " + strings.Repeat("a", 20_000) + "}", false,
			"it takes more than 2.0 s of work", // with what was spent before
		},
		"where substitutions wrote, inherited": {
			"global p | labels {k: p} | substitution {src: {name: s, path: .v}, dest: [" + repeated(20_000, "{path: .x%d}", ", ") + "]} | data {}\nsite s | encrypted | data {v: 1}\n" +
				repeated(1000, "site c%d | parent {k: p} | merge . | sub s .v > .y | data {}", "\n"), false, "render document [t/K/v1, site] c8",
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			documents := sketch(t, c.documents)
			size := 0
			for _, d := range documents {
				size += len(d.Metadata) + len(d.Data)
			}
			ctx := budgeted(t)
			if err := budget.NewMeter(ctx).Spend(most); err != nil {
				t.Fatal(err)
			}
			steps, bytes, err := spentIn(ctx, documents, c.explain)
			if fault.KindOf(err) != fault.TooLarge || !strings.Contains(fmt.Sprint(err), c.message) {
				t.Errorf("%.300v, want a refusal with %q", err, c.message)
			}
			allowed := int64(2*budget.Second) + int64(size)*budget.Second/2/budget.MiB
			if steps > allowed+budget.Second || bytes > 288*budget.MiB+16*int64(size) {
				t.Errorf("%d steps, %d MiB", steps, bytes>>20)
			}
		})
	}
}

// An index far beyond the end of a list is refused before anything is created.
func TestRender_farIndex(t *testing.T) {
	t.Parallel()
	documents := sketch(t, "site s | data {v: 1}\nsite d | "+repeated(100, "sub s .v > .a%d[999999]", " | ")+" | data {}")
	for _, explain := range []bool{false, true} {
		steps, bytes, err := spent(t, documents, explain)
		want := "contained in document [t/K/v1, site] d. Details: .a0 holds a list of 0, and [999999] is more than 10000 beyond its end"
		if f := faultOf(t, err); f.Kind != fault.Invalid || f.Type != "UnknownSubstitutionError" || !strings.Contains(f.Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
		if steps > budget.Second/100 || bytes > budget.MiB {
			t.Errorf("%d steps and %d bytes", steps, bytes)
		}
	}
}

// A rendering whose result has no values holds no memory afterwards.
func TestDependencies_releases(t *testing.T) {
	t.Parallel()
	ctx := budgeted(t)
	if _, err := Examine(ctx, layered(t, 1000), Options{}); err != nil {
		t.Fatal(err)
	}
	if _, bytes := budget.From(ctx).Spent(); bytes > 3*budget.MiB {
		t.Errorf("%d bytes are held", bytes)
	}
}
