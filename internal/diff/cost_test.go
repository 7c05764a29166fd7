package diff

import (
	"context"
	"strings"
	"testing"

	"purser/internal/budget/budgettest"
	"purser/internal/document"
)

// comparisons returns the work of comparing values that together have about n bytes, in all ways.
func comparisons() budgettest.Shapes {
	shapes := budgettest.Shapes{}
	for name, of := range map[string]func(n int) (before, after any){
		"nothing in common": func(n int) (any, any) { return items(n/16, 0, n), items(n/16, n, n) },
		"all the same":      func(n int) (any, any) { return items(n/16, 0, 1), items(n/16-1, 0, 1) },
		"a few at random":   func(n int) (any, any) { return shuffled(n/8, 100, 1), shuffled(n/8, 100, 2) },
		"two at random":     func(n int) (any, any) { return shuffled(n/6, 2, 1), shuffled(n/6, 2, 2) },
		"another order":     func(n int) (any, any) { return shuffled(n/16, n, 1), shuffled(n/16, n, 2) },
		"mappings":          func(n int) (any, any) { return wrapped(shuffled(n/20, 2, 1)), wrapped(shuffled(n/20, 2, 2)) },
		"lists of lists":    func(n int) (any, any) { return nested(n/500, 50), nested(n/400, 40) },
		"other keys":        func(n int) (any, any) { return keys(n/24, "a"), keys(n/24, "b") },
		"keys turned round": func(n int) (any, any) {
			m := keys(n/24, "a")
			turned := make(document.Mapping, len(m))
			for i := range m {
				turned[len(m)-1-i] = m[i]
			}
			return m, turned
		},
		"deep":            func(n int) (any, any) { return tower(n/16, "a"), tower(n/16, "b") },
		"lines":           func(n int) (any, any) { return lines(n/16, "a"), lines(n/16, "b") },
		"lines in turn":   func(n int) (any, any) { return strings.Repeat("a\nb\n", n/10), strings.Repeat("b\na\nc\n", n/10) },
		"empty lines":     func(n int) (any, any) { return strings.Repeat("\n", n/2), strings.Repeat("\na\n", n/6) },
		"texts":           func(n int) (any, any) { return texts(n/90, "a"), texts(n/90, "b") },
		"a key of many":   func(n int) (any, any) { return under(n/60, "a"), under(n/60, "b") },
		"large exponents": func(n int) (any, any) { return exponents(n/30, 998), exponents(n/30, 999) },
		"digits":          func(n int) (any, any) { return digits(n/2, "1"), digits(n/2, "2") },
		"long items": func(n int) (any, any) {
			return []any{strings.Repeat("a", n/2), "b"}, []any{"b", strings.Repeat("a", n/2)}
		},
		"items of many": func(n int) (any, any) {
			return []any{keys(n/48, "a"), keys(n/48, "b")}, []any{keys(n/48, "b"), keys(n/48, "a")}
		},
	} {
		shapes[name] = func(n int) func(ctx context.Context) {
			before, after := of(max(2_000, n))
			return func(ctx context.Context) {
				_, _ = Deep(ctx, before, after)
				_, _ = Patch(ctx, before, after)
				_, _ = Unified(ctx, "a", "b", string(document.AppendJSON(nil, before)), string(document.AppendJSON(nil, after)))
				was, isText := before.(string)
				if is, both := after.(string); isText && both {
					_, _ = Unified(ctx, "a", "b", was, is)
				}
			}
		}
	}
	return shapes
}

// Comparisons take as much time as they count, whatever makes them expensive.
func TestCost_steps(t *testing.T) { comparisons().Table(t, 200_000) } //nolint:paralleltest // it measures the process

func TestCost_laws(t *testing.T) { comparisons().Law(t, 1_000_000) } //nolint:paralleltest // it measures the process
