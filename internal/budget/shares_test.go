package budget_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"purser/internal/budget"
)

// user is a user of a site that is not named.
func user(name string) budget.Owner { return budget.Owner{User: name} }

// One owner gets half of all, the next one half of the rest; who holds nothing gets whatever is left.
func TestShares_Try(t *testing.T) {
	t.Parallel()
	shares := budget.NewShares(20)
	take := func(owner string, weight int64) (n int) {
		for shares.Try(user(owner), weight) != nil {
			n++
		}
		return n
	}
	for _, c := range []struct {
		owner  string
		weight int64
		want   int
	}{
		{"a", 1, 10}, {"b", 1, 5}, {"c", 1, 3}, {"d", 3, 0}, {"d", 1, 1}, {"a", 1, 0}, {"", 1, 1}, {"e", 1, 0},
	} {
		if got := take(c.owner, c.weight); got != c.want {
			t.Errorf("%s took %d of weight %d, want %d", c.owner, got, c.weight, c.want)
		}
	}
	if held := shares.Held(); held != 20 {
		t.Errorf("%d are held", held)
	}
}

// A weight above the size is the whole size, and a second release changes nothing.
func TestShares_release(t *testing.T) {
	t.Parallel()
	shares := budget.NewShares(2)
	release := shares.Try(user("a"), 5)
	if release == nil || shares.Try(user("b"), 1) != nil {
		t.Fatal("the whole was not taken")
	}
	release()
	other := shares.Try(user("b"), 2)
	release()
	if other == nil || shares.Held() != 2 {
		t.Errorf("%d are held after a second release", shares.Held())
	}
}

// What a piece of work holds already is not held against it, but against the other work of its owner.
func TestShares_Acquire_kept(t *testing.T) {
	t.Parallel()
	shares := budget.NewShares(8)
	ctx := budget.WithOwner(t.Context(), user("a"))
	for _, of := range []budget.Claim{{Weight: 4}, {Weight: 3, Kept: 4}, {Weight: 9, Kept: 7}, {Weight: 1, Kept: 16}} {
		if _, err := shares.Acquire(ctx, of); err != nil {
			t.Fatal(err)
		}
	}
	if held := shares.Held(); held != 8 {
		t.Errorf("%d are held", held)
	}
	other := budget.NewShares(8)
	if other.Try(user("a"), 4) == nil {
		t.Fatal("nothing is free")
	}
	ended, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	if _, err := other.Acquire(ended, budget.Claim{Weight: 3, Kept: 2}); err == nil {
		t.Error("an owner got more than his share beside other work")
	}
}

// Claims are granted in their order, urgent ones first. One beyond its owner's share lets the others pass, and one for
// more than is free does not.
func TestShares_Acquire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := budget.NewShares(4)
		half, rest := shares.Try(user("a"), 2), shares.Try(user("b"), 2)
		var mu sync.Mutex
		var order []string
		claim := func(name, owner string, weight int64, urgent bool) {
			go func() {
				release, err := shares.Acquire(budget.WithOwner(t.Context(), user(owner)), budget.Claim{Weight: weight, Urgent: urgent})
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				release()
			}()
			synctest.Wait()
		}
		claim("more of a", "a", 1, false)
		claim("large", "c", 3, false)
		claim("small", "d", 1, false)
		claim("urgent", "e", 1, true)
		claim("next urgent", "f", 2, true)
		if len(order) > 0 {
			t.Fatalf("nothing is free, and %v were granted", order)
		}
		rest() // 2 are free, for the urgent ones; the large one then keeps the small one waiting
		synctest.Wait()
		if want := "[urgent next urgent]"; fmt.Sprint(order) != want {
			t.Errorf("granted with 2 free: %v, want %s", order, want)
		}
		half()
		synctest.Wait()
		if len(order) != 5 || shares.Held() != 0 {
			t.Errorf("granted in the end: %v; %d are held", order, shares.Held())
		}
	})
}

// A claim that is given up leaves its place to others.
func TestShares_Acquire_gone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shares := budget.NewShares(2)
		release := shares.Try(user("a"), 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone, failed, granted := errors.New("gone"), make(chan error), make(chan error)
		go func() {
			_, err := shares.Acquire(budget.WithOwner(ctx, user("b")), budget.Claim{Weight: 2})
			failed <- err
		}()
		synctest.Wait()
		go func() {
			_, err := shares.Acquire(budget.WithOwner(t.Context(), user("c")), budget.Claim{Weight: 1})
			granted <- err
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Errorf("given up: %v", err)
		}
		if err := <-granted; err != nil {
			t.Errorf("behind it: %v", err)
		}
		if release(); shares.Held() != 1 {
			t.Errorf("%d are held", shares.Held())
		}
	})
}
