package rendering

import (
	"fmt"
	"strings"
	"testing"

	"purser/internal/budget"
	"purser/internal/document"
)

// layered writes n documents in three layers, all with one label in common: an abstract parent for each nine.
func layered(t testing.TB, n int) []*document.Document {
	t.Helper()
	var lines []string
	for i := range n {
		family := i / 10
		switch i % 10 {
		case 0:
			lines = append(lines, fmt.Sprintf("global g%d | abstract | labels {app: x, is: g%d} | data {a: {x: 1, y: 2}, l: [1, 2]}", family, family))
		case 1:
			lines = append(lines, fmt.Sprintf("type t%d | labels {app: x, is: t%d} | parent {app: x, is: g%d} | merge . | data {a: {x: 2}}", family, family, family))
		default:
			lines = append(lines, fmt.Sprintf("site s%d | labels {app: x, is: s%d} | parent {app: x, is: t%d} | merge . | sub t%d .a.x > .b | data {a: {z: %d}}", i, i, family, family, i))
		}
	}
	return sketch(t, strings.Join(lines, "\n"))
}

// broad writes a parent of 2,000 keys and a child with so many actions.
func broad(t testing.TB, actions int) []*document.Document {
	t.Helper()
	var members, methods []string
	for i := range 2_000 {
		members = append(members, fmt.Sprintf("k%d: {a: %d}", i, i))
	}
	for i := range actions {
		methods = append(methods, fmt.Sprintf("%s .k%d", []string{"merge", "replace", "delete"}[i%3], i*7))
	}
	data := "{" + strings.Join(members, ", ") + "}"
	return sketch(t, "global p | labels {k: g} | data "+data+"\nsite c | parent {k: g} | "+strings.Join(methods, " | ")+" | data "+data)
}

func benchmark(b *testing.B, documents []*document.Document) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := renderAll(b.Context(), documents, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	b.Run("1000 documents", func(b *testing.B) { benchmark(b, layered(b, 1_000)) })
	b.Run("10000 documents", func(b *testing.B) { benchmark(b, layered(b, 10_000)) })
	b.Run("1 action", func(b *testing.B) { benchmark(b, broad(b, 1)) })
	b.Run("50 actions", func(b *testing.B) { benchmark(b, broad(b, 50)) })
}

// BenchmarkCompute leaves reading the JSON text out.
func BenchmarkCompute(b *testing.B) {
	for name, documents := range map[string][]*document.Document{
		"1000 documents": layered(b, 1_000), "1 action": broad(b, 1), "50 actions": broad(b, 50),
	} {
		b.Run(name, func(b *testing.B) {
			r := newRun(b.Context(), documents, Options{})
			if err := r.readAll(documents); err != nil {
				b.Fatal(err)
			}
			values := make([]any, len(r.nodes))
			for i, n := range r.nodes {
				var err error
				if values[i], err = r.value(n); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				again := newRun(b.Context(), documents, Options{})
				again.nodes, again.sources = r.nodes, r.sources
				for i, n := range r.nodes {
					n.data, n.computed = values[i], false
				}
				order, _, err := again.order(false)
				for _, n := range order {
					err = again.compute(n)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Ten times as many documents take ten times the steps, and actions on a large parent cost as much as their changes.
// Steps are counted instead of time, which depends on the load of the machine; make bench measures time.
func TestRender_growth(t *testing.T) {
	t.Parallel()
	effort := func(documents []*document.Document) int64 {
		ctx := budgeted(t)
		if _, _, err := renderAll(ctx, documents, Options{}); err != nil {
			t.Fatal(err)
		}
		steps, _ := budget.From(ctx).Spent()
		return steps
	}
	few, many := effort(layered(t, 500)), effort(layered(t, 5_000))
	one, fifty := effort(broad(t, 1)), effort(broad(t, 50))
	if many > 11*few {
		t.Errorf("500 documents take %d steps, 5,000 %d", few, many)
	}
	if fifty > 2*one {
		t.Errorf("one action takes %d steps, 50 take %d", one, fifty)
	}
}
