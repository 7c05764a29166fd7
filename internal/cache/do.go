package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"purser/internal/budget"
)

// call is a computation under way.
type call[V any] struct {
	cancel  context.CancelFunc
	join    func(context.Context) // takes part in the call
	waiters int
	done    chan struct{} // closed once value and err are set
	value   V
	err     error
}

// Do returns the value of a key, which it computes if the value is not kept. Callers that ask for the same key
// meanwhile wait for the same call of compute and share its result. The value is kept as by Add unless compute returns
// an error.
//
// compute runs in a goroutine of its own. Its context has the values of the first caller's and a new budget in the same
// pool; its owner is the first caller's until another owner waits too (budget.Joint). It is cancelled once every
// waiting caller's context has ended. A panic of compute is an error of its callers. A caller that holds a permit for
// large requests gives it back while it waits, because compute may need one.
func (c *Cache[K, V]) Do(ctx context.Context, key K, compute func(context.Context) (value V, size int, err error)) (
	V, error,
) {
	value, pending := c.join(ctx, key, compute)
	if pending == nil {
		return value, nil
	}
	budget.Yield(ctx)
	select {
	case <-pending.done:
		return pending.value, pending.err
	case <-ctx.Done():
		c.leave(key, pending)
		return value, fmt.Errorf("wait for a shared result: %w", context.Cause(ctx))
	}
}

// join returns the value of a key, or the call to wait for, which it starts if there is none.
func (c *Cache[K, V]) join(ctx context.Context, key K, compute func(context.Context) (V, int, error)) (V, *call[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries.Get(key)
	if ok {
		return found.value, nil
	}
	pending := c.calls[key]
	if pending == nil {
		pending = &call[V]{done: make(chan struct{})}
		var work context.Context
		work, pending.join = budget.Joint(context.WithoutCancel(ctx))
		work, pending.cancel = context.WithCancel(work) //nolint:gosec // run calls it
		c.calls[key] = pending
		go c.run(work, key, pending, compute)
	}
	pending.join(ctx)
	pending.waiters++
	return found.value, pending
}

// run computes a value for the callers that wait for it.
func (c *Cache[K, V]) run(ctx context.Context, key K, pending *call[V],
	compute func(context.Context) (V, int, error),
) {
	defer pending.cancel()
	ctx, end := budget.Begin(ctx)
	defer end()
	var value V
	size, err := 0, errors.New("the computation ended its goroutine")
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		c.finish(key, pending, value, size, err)
	}()
	value, size, err = compute(ctx)
}

func (c *Cache[K, V]) finish(key K, pending *call[V], value V, size int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pending.value, pending.err = value, err
	close(pending.done)
	if c.calls[key] == pending {
		delete(c.calls, key)
	}
	if err == nil {
		c.add(key, value, size)
	}
}

// leave cancels a call without waiting callers. The next caller starts another one.
func (c *Cache[K, V]) leave(key K, pending *call[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pending.waiters--; pending.waiters > 0 {
		return
	}
	pending.cancel()
	if c.calls[key] == pending {
		delete(c.calls, key)
	}
}
