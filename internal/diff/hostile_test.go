package diff

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/fault"
)

// Eight times as much to compare counts as some eight times as much work, whatever it is; with effort that grows with
// the square it would be 64 times.
func TestDiff_boundedWork(t *testing.T) {
	t.Parallel()
	const few, times = 2_000, 8
	for name, f := range map[string]func(n int) (before, after any){
		"nothing in common":   func(n int) (any, any) { return items(n, 0, n), items(n, n, n) },
		"all the same":        func(n int) (any, any) { return items(n, 0, 1), items(n-1, 0, 1) },
		"two of them":         func(n int) (any, any) { return items(n, 0, 2), items(n, 1, 2) },
		"two at random":       func(n int) (any, any) { return shuffled(n, 2, 1), shuffled(n, 2, 2) },
		"a few at random":     func(n int) (any, any) { return shuffled(n, 100, 1), shuffled(n, 100, 2) },
		"another order":       func(n int) (any, any) { return shuffled(n, n, 1), shuffled(n, n, 2) },
		"every other":         func(n int) (any, any) { return items(n, 0, n), items(n, 0, n/2) },
		"mappings":            func(n int) (any, any) { return wrapped(shuffled(n, 2, 1)), wrapped(shuffled(n, 2, 2)) },
		"short lists":         func(n int) (any, any) { return nested(n/50, 50), nested(n/40, 40) },
		"long lists":          func(n int) (any, any) { return nested(n/500, 500), nested(n/400, 400) },
		"other keys":          func(n int) (any, any) { return keys(n, "a"), keys(n, "b") },
		"same keys":           func(n int) (any, any) { return keys(n, "a"), keys(n, "a").With("more", true) },
		"deep":                func(n int) (any, any) { return tower(n, "a"), tower(n, "b") },
		"lines":               func(n int) (any, any) { return lines(n*5, "a"), lines(n*5, "b") },
		"lines in turn":       func(n int) (any, any) { return strings.Repeat("a\nb\n", n), strings.Repeat("b\na\nc\n", n) },
		"texts":               func(n int) (any, any) { return texts(n/10, "a"), texts(n/10, "b") },
		"a key of many":       func(n int) (any, any) { return under(n, "a"), under(n, "b") },
		"large exponents":     func(n int) (any, any) { return exponents(n, 998), exponents(n, 999) },
		"digits":              func(n int) (any, any) { return digits(n*20, "1"), digits(n*20, "2") },
		"numbers in a muddle": func(n int) (any, any) { return []any{exponents(n, 998)}, []any{shuffled(n, 3, 3)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			small, large := effort(t, f, few), effort(t, f, few*times)
			if large > 2*times*small {
				t.Errorf("%d take %d steps, and %d times as many %d", few, small, times, large)
			}
		})
	}
}

// effort is how many steps it takes to compare values.
func effort(t *testing.T, f func(n int) (before, after any), n int) int64 {
	t.Helper()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	before, after := f(n)
	_, deepErr := Deep(ctx, before, after)
	_, patchErr := Patch(ctx, before, after)
	if err := errors.Join(deepErr, patchErr); err != nil {
		t.Fatal(err)
	}
	steps, _ := budget.From(ctx).Spent()
	return steps
}

// A comparison with too little budget left ends with the fault.
func TestDiff_exceeds(t *testing.T) {
	t.Parallel()
	for name, compare := range map[string]func(ctx context.Context) error{
		"deep": func(ctx context.Context) error {
			_, err := Deep(ctx, shuffled(100_000, 100, 1), shuffled(100_000, 100, 2))
			return err
		},
		"patch": func(ctx context.Context) error {
			_, err := Patch(ctx, wrapped(shuffled(100_000, 100, 1)), wrapped(shuffled(100_000, 100, 2)))
			return err
		},
		"unified": func(ctx context.Context) error {
			_, err := Unified(ctx, "a", "b", lines(100_000, "a"), lines(100_000, "b"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			if err := budget.NewMeter(ctx).Spend(2*budget.Second - budget.Second/100); err != nil {
				t.Fatal(err)
			}
			err := compare(ctx)
			if _, is := errors.AsType[*budget.Exceeded](err); !is || fault.KindOf(err) != fault.TooLarge {
				t.Errorf("compared with %v", err)
			}
			if steps, _ := budget.From(ctx).Spent(); steps > 2*budget.Second+budget.Second/5 {
				t.Errorf("it took %d steps", steps)
			}
		})
	}
}

// items counts up, beginning again after so many.
func items(n, first, kinds int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = strconv.Itoa(first + i%kinds)
	}
	return list
}

func shuffled(n, kinds int, seed uint64) []any {
	list := items(n, 0, kinds)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func wrapped(list []any) []any {
	for i := range list {
		list[i] = document.Mapping{{Key: "k", Value: list[i]}}
	}
	return list
}

func nested(lists, n int) []any {
	all := make([]any, lists)
	for i := range all {
		all[i] = shuffled(n, 2, uint64(i))
	}
	return all
}

func keys(n int, prefix string) document.Mapping {
	m := make(document.Mapping, n)
	for i := range m {
		m[i] = document.Member{Key: prefix + strconv.Itoa(i), Value: true}
	}
	return m
}

// tower is lists in lists a hundred deep, with all of the rest at the bottom.
func tower(n int, prefix string) any {
	var value any = items(n, 0, n)
	for range 98 {
		value = []any{prefix, value}
	}
	return value
}

func lines(n int, prefix string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%s %d\n", prefix, i)
	}
	return text.String()
}

func texts(n int, prefix string) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = lines(5, prefix+strconv.Itoa(i))
	}
	return all
}

// under is many members below a long key.
func under(n int, value string) document.Mapping {
	m := keys(n, "k")
	for i := range m {
		m[i].Value = value
	}
	return document.Mapping{{Key: strings.Repeat("k", 10*n), Value: m}}
}

func exponents(n, power int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = document.Number(fmt.Sprintf("%de999999%d", i+1, power))
	}
	return list
}

func digits(n int, digit string) document.Number { return document.Number(strings.Repeat(digit, n)) }
