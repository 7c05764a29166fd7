package budget

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"purser/internal/fault"
)

// Pool holds the permits of large requests. It is safe for concurrent use.
type Pool struct {
	permits  *Shares
	patience time.Duration
	steps    atomic.Int64 // of all budgets
}

// Steps returns the number of steps counted so far in all budgets.
func (p *Pool) Steps() int64 { return p.steps.Load() }

// NewPool returns a pool for a number of concurrent large requests, each of which waits at most patience for its
// permit.
func NewPool(permits int64, patience time.Duration) *Pool {
	return &Pool{permits: NewShares(max(1, permits)), patience: patience}
}

// Uses notes that a site is in use: small requests, which need no permit, want a free processor, too. From now on the
// large ones of other sites have their share, as if this one had asked for a permit (Shares).
func (p *Pool) Uses(site string) {
	p.permits.mu.Lock()
	defer p.permits.mu.Unlock()
	p.permits.ask(site)
}

// IsShared reports whether a site has others beside it that are in use (Shares).
func (p *Pool) IsShared(site string) bool { return p.permits.IsShared(site) }

// Permits returns how many large requests may run concurrently on this machine: together they use at most half of the
// cores, or two of them, and the given number of bytes.
func Permits(bytes int64) int64 {
	const two = 2 // so that one user leaves one to the others
	return max(1, min(max(two, int64(runtime.GOMAXPROCS(0))/2), bytes/MaxBytes))
}

// Begin returns a context with the budget of a request. The caller must call end when the request is done.
func (p *Pool) Begin(ctx context.Context) (_ context.Context, end func()) {
	b := &Budget{pool: p}
	b.maxSteps.Store(maxSteps)
	b.maxOthers.Store(maxSteps)
	b.maxBytes.Store(MaxBytes)
	return context.WithValue(ctx, key{}, b), b.end
}

// Begin returns a context with a new budget in the same pool as the one in ctx, for work that several requests share,
// so that none of them pays for it. The caller must call end when the work is done.
func Begin(ctx context.Context) (_ context.Context, end func()) { return From(ctx).pool.Begin(ctx) }

// Confined returns a context with a separate budget of a number of steps, without a permit: for work whose cost must
// not affect the request.
func Confined(ctx context.Context, steps int64) context.Context {
	b := &Budget{pool: From(ctx).pool, release: func() {}, ended: true}
	b.maxSteps.Store(steps)
	b.maxBytes.Store(MaxBytes)
	b.large.Store(true)
	return context.WithValue(ctx, key{}, b)
}

// Yield returns the permit of the budget in ctx, if it has one, before the request waits for work that may itself need
// a permit. The next check of a large budget waits for a permit again.
func Yield(ctx context.Context) { From(ctx).yield() }

// Exempt returns a context in which the budget of ctx needs no permit. It is for a request that others wait for: if it
// waited for their permits, they would deadlock.
func Exempt(ctx context.Context) context.Context { return context.WithValue(ctx, exempt{}, true) }

type exempt struct{}

// First returns a context whose requests for permits have the priority of a change over all others.
func First(ctx context.Context) context.Context { return context.WithValue(ctx, first{}, true) }

type first struct{}

// acquire waits for a permit, which release returns. Fault: Unavailable.
func (p *Pool) acquire(ctx context.Context) (release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	release, err = p.permits.Acquire(waiting, Claim{Weight: 1, Urgent: ctx.Value(first{}) != nil})
	switch {
	case err == nil:
		return release, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("wait for other large requests: %w", context.Cause(ctx))
	}
	busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"Other large requests have kept the server busy for %v; nothing was stored, send the request again", p.patience)
	busy.RetryAfter = p.patience
	return nil, busy.Unstored()
}

type key struct{}

// shared is the pool of work without a request, such as tests.
var shared = NewPool(1<<30, time.Minute) //nolint:gochecknoglobals // it bounds nothing

// From returns the budget in a context, or a new one that shares nothing with others if there is none.
func From(ctx context.Context) *Budget {
	if b, ok := ctx.Value(key{}).(*Budget); ok {
		return b
	}
	ctx, _ = shared.Begin(ctx)
	return ctx.Value(key{}).(*Budget) //nolint:forcetypeassert // just put there
}
