package budget_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
	"purser/internal/fault"
)

func TestMeter_Spend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		granted, steps, bytes int
		refused               string
	}{
		"within":             {0, 2 * budget.Second, 256 * budget.MiB, ""},
		"too much work":      {0, 2*budget.Second + 1, 0, "more than 2.0 s of work"},
		"too much memory":    {0, 0, 256*budget.MiB + 1, "more than 256 MiB of memory"},
		"granted":            {2 * budget.MiB, 29 * budget.Second / 10, 288 * budget.MiB, ""},
		"more than granted":  {budget.MiB, 26 * budget.Second / 10, 0, "more than 2.5 s of work"},
		"more memory than 1": {budget.MiB, 0, 272*budget.MiB + 1, "more than 272 MiB of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
			defer end()
			budget.From(ctx).Grant(c.granted)
			m := budget.NewMeter(ctx)
			m.Charge(c.steps)
			err := m.Hold(c.bytes)
			if _, is := errors.AsType[*budget.Exceeded](err); is != (c.refused != "") {
				t.Fatalf("spend: %v", err)
			}
			if c.refused == "" {
				return
			}
			about := budget.About(err, "document %s", "x")
			if fault.KindOf(about) != fault.TooLarge || !strings.Contains(about.Error(), "document x: it takes "+c.refused) {
				t.Errorf("refused with %v", about)
			}
		})
	}
}

// Steps counted one by one add up.
func TestMeter_Check(t *testing.T) {
	t.Parallel()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	m := budget.NewMeter(ctx)
	for range 1000 {
		if err := m.Spend(777); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Hold(5); err != nil {
		t.Fatal(err)
	}
	m.Release(2)
	if steps, bytes := budget.From(ctx).Spent(); steps != 777_000 || bytes != 3 {
		t.Errorf("spent %d steps, holds %d bytes", steps, bytes)
	}
}

// Documents that are read count as held, and grant the work on them; a request that becomes large by reading waits for
// nothing.
func TestMeter_Read(t *testing.T) {
	t.Parallel()
	pool := budget.NewPool(1, time.Hour)
	other, endOther := pool.Begin(t.Context())
	defer endOther()
	if err := budget.NewMeter(other).Admit(); err != nil {
		t.Fatal(err)
	}
	ctx, end := pool.Begin(t.Context())
	defer end()
	m := budget.NewMeter(ctx)
	if err := m.Read(1, 8*budget.MiB); err != nil {
		t.Fatal(err)
	}
	if err := m.Read(1, 1); !errors.Is(err, budget.ErrLarge) {
		t.Errorf("beyond what is small: %v", err)
	}
	if err := budget.NewMeter(budget.Exempt(ctx)).Read(0, 0); err != nil {
		t.Errorf("without the need for a permit: %v", err)
	}
	endOther()
	if err := m.Read(1, 1); err != nil {
		t.Errorf("with a free permit: %v", err)
	}
	if err := m.Admit(); err != nil {
		t.Fatal(err)
	}
	if err := m.Read(0, 500*budget.MiB); err != nil {
		t.Errorf("what is read is granted: %v", err)
	}
	m.Unread(500 * budget.MiB)
	if err := m.Hold(500 * budget.MiB); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("what is read no more is granted no more: %v", err)
	}
}

// Small requests run beside a large one; a second large one waits for the first, or gives up.
func TestPool_large(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := budget.NewPool(1, time.Second)
		spend := func(ctx context.Context, steps int) error {
			m := budget.NewMeter(ctx)
			m.Charge(steps)
			return m.Check()
		}
		first, endFirst := pool.Begin(t.Context())
		if err := spend(first, budget.Second); err != nil {
			t.Fatal(err)
		}
		small, endSmall := pool.Begin(t.Context())
		defer endSmall()
		if err := spend(small, budget.Second/10); err != nil {
			t.Fatalf("a small request beside a large one: %v", err)
		}
		second, endSecond := pool.Begin(t.Context())
		defer endSecond()
		err := spend(second, budget.Second)
		f, _ := errors.AsType[*fault.Fault](err)
		if fault.KindOf(err) != fault.Unavailable || f.RetryAfter != time.Second {
			t.Fatalf("a second large request: %v", err)
		}
		waited := make(chan error)
		go func() { waited <- spend(second, 1) }()
		synctest.Wait()
		endFirst()
		if err := <-waited; err != nil {
			t.Errorf("after the first has ended: %v", err)
		}
	})
}

// A user who has a permit gets no second one that others may want, and lets them pass.
func TestPool_shares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := budget.NewPool(2, time.Minute)
		admit := func(owner string) <-chan func() {
			admitted := make(chan func(), 1)
			go func() {
				ctx, end := pool.Begin(budget.WithOwner(t.Context(), budget.Owner{User: owner}))
				if err := budget.NewMeter(ctx).Admit(); err != nil {
					t.Errorf("%s: %v", owner, err)
				}
				admitted <- end
			}()
			synctest.Wait()
			return admitted
		}
		first := <-admit("a")
		second := admit("a")
		if len(second) > 0 {
			t.Fatal("a user got both permits")
		}
		other := admit("b")
		if len(other) == 0 {
			t.Fatal("another user got none")
		}
		first()
		(<-other)()
		(<-second)()
	})
}

// A change gets the next permit, however many other requests wait for one. The others take turns.
func TestPool_changesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := budget.NewPool(1, time.Minute)
		running, endRunning := pool.Begin(t.Context())
		if err := budget.NewMeter(running).Admit(); err != nil {
			t.Fatal(err)
		}
		var order []string
		admit := func(name string, in func(context.Context) context.Context) {
			go func() {
				ctx, end := pool.Begin(t.Context())
				defer end()
				if err := budget.NewMeter(in(ctx)).Admit(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				order = append(order, name) // by one at a time
			}()
			synctest.Wait()
		}
		other := func(ctx context.Context) context.Context { return ctx }
		admit("first", other)
		admit("second", other)
		admit("change", budget.First)
		admit("third", other)
		endRunning()
		synctest.Wait()
		if want := "change first second third"; strings.Join(order, " ") != want {
			t.Errorf("permits were given to %v, want %s", order, want)
		}
	})
}

// A request that gives up or returns its permit leaves it to others.
func TestPool_gone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := budget.NewPool(1, time.Second)
		change, endChange := pool.Begin(t.Context())
		if err := budget.NewMeter(budget.First(change)).Admit(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			ctx, end := pool.Begin(t.Context())
			defer end()
			if err := budget.NewMeter(ctx).Read(0, 9*budget.MiB); !errors.Is(err, budget.ErrLarge) {
				t.Fatalf("beside a change, without waiting: %v", err)
			}
			if err := budget.NewMeter(ctx).Admit(); fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("beside a change: %v", err)
			}
		}
		endChange()
		for range 2 {
			ctx, end := pool.Begin(t.Context())
			defer end()
			if err := budget.NewMeter(ctx).Admit(); err != nil {
				t.Fatalf("afterwards: %v", err)
			}
			budget.Yield(ctx)
		}
	})
}

// A request ends when its client disconnects.
func TestMeter_gone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if err := budget.NewMeter(ctx).Check(); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// Work that requests share has its own budget, and a request that waits for it returns its permit in the meantime.
func TestBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := budget.NewPool(1, time.Second).Begin(t.Context())
		defer end()
		large := func(ctx context.Context) error {
			m := budget.NewMeter(ctx)
			m.Charge(budget.Second)
			return m.Check()
		}
		if err := large(ctx); err != nil {
			t.Fatal(err)
		}
		shared, endShared := budget.Begin(ctx)
		if err := large(shared); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("a second permit: %v", err)
		}
		budget.Yield(ctx)
		budget.Yield(ctx)
		if err := budget.NewMeter(shared).Check(); err != nil {
			t.Errorf("after the first yielded: %v", err)
		}
		if err := budget.NewMeter(ctx).Check(); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the first goes on without a permit: %v", err)
		}
		endShared()
		if err := budget.NewMeter(ctx).Check(); err != nil {
			t.Errorf("after the shared work: %v", err)
		}
		if steps, _ := budget.From(ctx).Spent(); steps != budget.Second {
			t.Errorf("the request has spent %d steps", steps)
		}
	})
}

// The limit of one document does not depend on the rest of the request, and what the work takes counts in the request.
func TestMeter_ForDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		granted, before, steps int // of the request; of the document, which has a MiB
		refused, alone         bool
	}{
		"within":                        {10 * budget.MiB, 2 * budget.Second, 24 * budget.Second / 10, false, false},
		"too much":                      {10 * budget.MiB, 2 * budget.Second, 26 * budget.Second / 10, true, true},
		"too much for the request":      {0, budget.Second, 3 * budget.Second / 2, true, false},
		"too much for the request, too": {0, 0, 3 * budget.Second, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := budget.NewPool(1, time.Minute)
			ctx, end := pool.Begin(t.Context())
			defer end()
			budget.From(ctx).Grant(c.granted)
			m := budget.NewMeter(ctx)
			m.Charge(c.before)
			own := m.ForDocument(budget.MiB)
			own.Charge(c.steps)
			if err := m.Check(); err != nil {
				t.Fatal(err)
			}
			err := own.Check()
			_, refused := errors.AsType[*budget.Exceeded](err)
			if refused != c.refused || budget.IsAlone(err) != c.alone {
				t.Errorf("%v: alone %v", err, budget.IsAlone(err))
			}
			if steps, _ := budget.From(ctx).Spent(); steps != int64(c.before+c.steps) || pool.Steps() != steps {
				t.Errorf("the request spent %d steps, all together %d", steps, pool.Steps())
			}
		})
	}
}

// The request does not pay for work on documents of others. It ends with a piece that exceeds what the request may do of
// it, and each piece has a limit of its own.
func TestMeter_ForOthers(t *testing.T) {
	t.Parallel()
	ctx, end := budget.NewPool(1, time.Minute).Begin(t.Context())
	defer end()
	m := budget.NewMeter(ctx)
	piece := func(steps int) error {
		own := m.ForOthers(budget.MiB).ForDocument(budget.MiB)
		own.Charge(steps)
		return own.Done(nil)
	}
	const second = budget.Second
	for i, c := range []struct {
		steps       int
		alone, busy bool
	}{
		{steps: 2 * second},
		{steps: 3 * second, alone: true}, // 3 s are allowed so far
		{steps: 1, busy: true},           // 3.5 s, and 5 s are spent
		{steps: 1, busy: true},
		{steps: 1, busy: true},
		{steps: 1, busy: true},
		{steps: 1}, // 5.5 s
	} {
		err := piece(c.steps)
		if budget.IsAlone(err) != c.alone || (fault.KindOf(err) == fault.Unavailable) != c.busy || (err != nil) != (c.alone || c.busy) {
			t.Errorf("%d. piece: %v", i+1, err)
		}
	}
	m.Charge(2 * second)
	if err := m.Check(); err != nil {
		t.Errorf("the request paid for others: %v", err)
	}
	m.Charge(1)
	if err := m.Check(); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("what the request may take itself grew: %v", err)
	}
}
