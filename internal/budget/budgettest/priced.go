package budgettest

import (
	"context"
	"flag"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"purser/internal/budget"
)

// Cost is what a piece of work took.
type Cost struct {
	CPU     time.Duration
	Counted time.Duration // the steps in the budget, as time
	Bytes   uint64        // allocated

	slowness float64 // of the machine at that time
}

// PerStep returns the processor time per counted step in nanoseconds, as of a machine that does nothing else.
func (c Cost) PerStep() float64 { return float64(c.CPU) / c.slowness / float64(max(1, c.Counted)) }

// Of does work with the budget of one request and returns what it took. Work that exceeds the budget is expected to
// stop. What else the machine does can only add to the processor time, so the least of several measurements counts, or
// the first that is enough.
func Of(work func(ctx context.Context), enough func(Cost) bool) (least Cost) {
	for i := range attempts {
		cost := once(work)
		if i == 0 || cost.PerStep() < least.PerStep() {
			least = cost
		}
		if enough(least) {
			break
		}
	}
	return least
}

// once does work and measures it. It collects the garbage of other work before.
func once(work func(ctx context.Context)) Cost {
	ctx, end := budget.NewPool(1, time.Minute).Begin(context.Background())
	defer end()
	var before, after runtime.MemStats
	slow := slowness()
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := CPU()
	work(ctx)
	took := CPU() - began
	runtime.ReadMemStats(&after)
	steps, _ := budget.From(ctx).Spent()
	return Cost{took, time.Duration(steps), after.TotalAlloc - before.TotalAlloc, slow}
}

// Bounds of Priced.
const (
	mostPerStep = 2.0 // nanoseconds
	underRace   = 10  // times as much, because the race detector slows some code down far more than other code
	negligible  = 5 * time.Millisecond
)

// Priced fails the test if work takes far more processor time than it counts in the budget of its context. It measures
// the whole process, so no other test may run at the same time.
func Priced(t rapid.TB, work func(ctx context.Context)) {
	t.Helper()
	most := mostPerStep
	if race {
		most *= underRace
	}
	cost := Of(work, func(c Cost) bool { return c.CPU <= negligible || c.PerStep() <= most })
	t.Logf("%v for %v that were counted, %.1f ns a step; %d KiB allocated", cost.CPU, cost.Counted, cost.PerStep(),
		cost.Bytes>>10)
	if cost.CPU > negligible && cost.PerStep() > most {
		t.Errorf("%v for %v that were counted: a step takes %.1f ns, at most %.0f are expected",
			cost.CPU, cost.Counted, cost.PerStep(), most)
	}
}

// Shapes are kinds of inputs that make some work expensive. Each returns the work on an input of about a number of
// bytes.
type Shapes map[string]func(bytes int) func(ctx context.Context)

// Table tests that the work of each shape is Priced, for inputs of one size, and that Law can draw any small size.
func (s Shapes) Table(t *testing.T, bytes int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(s)) {
		t.Run(name, func(t *testing.T) {
			for small := range 100 {
				s[name](small + 1)
			}
			Priced(t, s[name](bytes))
		})
	}
}

// Law tests that work is Priced for drawn shapes and sizes. It draws only a tenth of the cases that -rapid.checks asks
// for, because each takes long.
func (s Shapes) Law(t *testing.T, most int) {
	t.Helper()
	checks, err := strconv.Atoi(flag.Lookup("rapid.checks").Value.String())
	if err != nil {
		t.Fatal(err)
	}
	names, draws, failed := slices.Sorted(maps.Keys(s)), 0, false
	rapid.Check(t, func(r *rapid.T) {
		if draws++; 10*draws > checks && !failed { // failed cases are run again to shrink them
			return
		}
		name, bytes := rapid.SampledFrom(names).Draw(r, "shape"), rapid.IntRange(1, most).Draw(r, "bytes")
		defer func() { failed = failed || r.Failed() }()
		Priced(r, s[name](bytes))
	})
}
