package cache_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"purser/internal/budget"
	"purser/internal/cache"
)

func TestCache_Do_keeps(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		size  int
		err   error
		calls int // of three
	}{
		"value":        {10, nil, 1},
		"not to keep":  {-1, nil, 3},
		"too large":    {1000, nil, 3},
		"failed":       {10, failed, 3},
		"empty, small": {0, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, calls := cache.New[string, string](1000), 0
			for range 3 {
				got, err := kept.Do(t.Context(), "k", func(context.Context) (string, int, error) {
					calls++
					return "v", c.size, c.err
				})
				if got != "v" || !errors.Is(err, c.err) {
					t.Errorf("got %q, %v", got, err)
				}
			}
			if calls != c.calls {
				t.Errorf("computed %d times, want %d", calls, c.calls)
			}
		})
	}
}

func TestCache_Do_shares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept, calls, release := cache.New[string, int](1000), atomic.Int32{}, make(chan struct{})
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				got, err := kept.Do(t.Context(), "k", func(context.Context) (int, int, error) {
					calls.Add(1)
					<-release
					return 7, 1, nil
				})
				if got != 7 || err != nil {
					t.Errorf("got %d, %v", got, err)
				}
			})
		}
		synctest.Wait()
		other, err := kept.Do(t.Context(), "other", func(context.Context) (int, int, error) { return 8, 1, nil })
		if other != 8 || err != nil {
			t.Errorf("another key meanwhile: %d, %v", other, err)
		}
		close(release)
		callers.Wait()
		if calls.Load() != 1 {
			t.Errorf("computed %d times", calls.Load())
		}
	})
}

// Shared work ends only when the last of its callers has gone; the next caller starts it again.
func TestCache_Do_callersGoAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept, gone := cache.New[string, string](1000), errors.New("gone")
		started, cancelled := atomic.Int32{}, atomic.Int32{}
		slow := func(ctx context.Context) (string, int, error) {
			started.Add(1)
			<-ctx.Done()
			cancelled.Add(1)
			return "", 0, ctx.Err()
		}
		ask := func() (context.CancelCauseFunc, <-chan error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := kept.Do(ctx, "k", slow)
				ended <- err
			}()
			synctest.Wait()
			return cancel, ended
		}
		leaveFirst, first := ask()
		leaveSecond, second := ask()
		leaveFirst(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("the first ends with %v", err)
		}
		synctest.Wait()
		if cancelled.Load() != 0 {
			t.Error("it was cancelled while somebody waits")
		}
		leaveSecond(gone)
		<-second
		synctest.Wait()
		if started.Load() != 1 || cancelled.Load() != 1 {
			t.Errorf("started %d, cancelled %d", started.Load(), cancelled.Load())
		}
		got, err := kept.Do(t.Context(), "k", func(context.Context) (string, int, error) { return "new", 1, nil })
		if got != "new" || err != nil {
			t.Errorf("who comes afterwards gets %q, %v", got, err)
		}
	})
}

func TestCache_Do_panics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		compute func(context.Context) (int, int, error)
		want    string
	}{
		"panic":  {func(context.Context) (int, int, error) { panic("ouch") }, "ouch"},
		"Goexit": {func(context.Context) (int, int, error) { runtime.Goexit(); return 0, 0, nil }, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := cache.New[string, int](1000)
			if _, err := kept.Do(t.Context(), "k", c.compute); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			got, err := kept.Do(t.Context(), "k", func(context.Context) (int, int, error) { return 7, 1, nil })
			if got != 7 || err != nil {
				t.Errorf("afterwards: %d, %v", got, err)
			}
		})
	}
}

// The shared work has its own budget, in the pool of the caller: a large request that waits for large work does not
// keep the only permit from it, and needs one again to go on.
func TestCache_Do_budget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := budget.NewPool(1, time.Second)
		ctx, end := pool.Begin(t.Context())
		defer end()
		spend := func(ctx context.Context) (int, int, error) {
			m := budget.NewMeter(ctx)
			m.Charge(3 * budget.Second / 2)
			return 0, 0, m.Check()
		}
		if _, _, err := spend(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.New[string, int](1000).Do(ctx, "k", spend); err != nil {
			t.Errorf("large work: %v", err)
		}
		if steps, _ := budget.From(ctx).Spent(); steps != 3*budget.Second/2 {
			t.Errorf("the request pays %d steps", steps)
		}
		if err := budget.NewMeter(ctx).Check(); err != nil {
			t.Errorf("go on: %v", err)
		}
		other, endOther := pool.Begin(t.Context())
		defer endOther()
		if _, _, err := spend(other); err == nil {
			t.Error("the permit was given twice")
		}
	})
}

// Shared work does not wait behind the other work of the caller who asked for it first once another one waits too, and
// neither does what it waits for itself.
func TestCache_Do_owners(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		joiner string
		inner  bool // the second caller joins only what the work waits for
		passes bool
	}{
		"another caller":               {"b", false, true},
		"the same caller":              {"a", false, false},
		"another caller, further down": {"b", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				pool, outer, inner := budget.NewPool(2, time.Hour), cache.New[string, int](0), cache.New[string, int](0)
				as := func(owner string) context.Context {
					ctx, end := pool.Begin(budget.WithOwner(t.Context(), budget.Owner{User: owner}))
					t.Cleanup(end)
					return ctx
				}
				large := func(ctx context.Context) (int, int, error) { return 0, 0, budget.NewMeter(ctx).Admit() }
				around := func(ctx context.Context) (int, int, error) {
					_, err := inner.Do(ctx, "k", large)
					return 0, 0, err
				}
				ctx, end := pool.Begin(budget.WithOwner(t.Context(), budget.Owner{User: "a"}))
				if _, _, err := large(ctx); err != nil { // a keeps his share
					t.Fatal(err)
				}
				done := make(chan error, 2)
				ask := func(owner string, from *cache.Cache[string, int],
					compute func(context.Context) (int, int, error),
				) {
					go func() {
						_, err := from.Do(as(owner), "k", compute)
						done <- err
					}()
					synctest.Wait()
				}
				ask("a", outer, around)
				if c.inner {
					ask(c.joiner, inner, large)
				} else {
					ask(c.joiner, outer, around)
				}
				if passes := len(done) == 2; passes != c.passes {
					t.Errorf("done beside the other work of the first: %t", passes)
				}
				end()
				for range 2 {
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
