// Package budget bounds the cost of one request, and of all running requests together.
//
// Costs are counted while the work is done: in steps, each about a nanosecond of one core, and in bytes that are held
// in memory. A request begins with a fixed sum. Reading documents grants more, in proportion to their size. Work on
// documents of others, whose outcomes are kept, is counted apart (Meter.ForOthers): a request pays for what it brings,
// and does a bounded part of the rest.
//
// A request that turns out to be large waits for one of a few permits before it continues, which are shared among the
// users (Shares), with priority for changes. So small requests always find a free core, nobody keeps the large ones of
// others waiting for long, and the total memory is bounded:
//
//	begin ─► small: held ≤ 8 MiB, spent ≤ 0.2 s ─► permit ─► large: up to the request's own limits ─► end
//
// A budget travels in the context. Code that does the work takes a Meter from it, one for each goroutine.
package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"purser/internal/fault"
)

const (
	// Second is one second of one core, in steps.
	Second = 1_000_000_000
	// MiB is a unit of memory, in bytes.
	MiB = 1 << 20
)

// The limits of a request.
const (
	maxSteps = 2 * Second
	// MaxBytes is the memory that a request may hold in addition to the grants for its documents.
	MaxBytes = 256 * MiB
	// StepsPerByte and bytesPerByte are for each byte of documents that are read or rendered.
	StepsPerByte = Second / 2 / MiB
	bytesPerByte = 16
	// The limits of a request without a permit.
	smallSteps = Second / 5
	smallBytes = 8 * MiB
)

// Budget counts the steps and the memory of one request. It is safe for concurrent use.
type Budget struct {
	pool *Pool

	steps, others, bytes          atomic.Int64 // spent in all, and on documents of others; held
	maxSteps, maxOthers, maxBytes atomic.Int64

	large atomic.Bool // it has a permit

	mu      sync.Mutex // held while waiting for a permit
	release func()     // gives the permit back
	ended   bool
}

// Grant allows more work and memory for a number of bytes of documents that are read or rendered. A negative number
// revokes it.
func (b *Budget) Grant(bytes int) {
	b.maxSteps.Add(int64(bytes) * StepsPerByte)
	b.GrantMemory(bytes)
}

// GrantMemory is Grant without the work.
func (b *Budget) GrantMemory(bytes int) { b.maxBytes.Add(int64(bytes) * bytesPerByte) }

// Spent returns the number of steps counted so far and of bytes held now.
func (b *Budget) Spent() (steps, bytes int64) { return b.steps.Load(), b.bytes.Load() }

func (b *Budget) count(steps int64, others bool) {
	if others { // first, so that no other goroutine takes them for the request's own
		b.others.Add(steps)
	}
	b.steps.Add(steps)
	b.pool.steps.Add(steps)
}

// ErrLarge is the error of a request that has become large and has no permit yet.
var ErrLarge = errors.New("the request has become large")

// check returns an error if the budget is exceeded, and ErrLarge if the request needs a permit.
func (b *Budget) check(ctx context.Context) error {
	steps, bytes := b.Spent()
	switch {
	case steps-b.others.Load() > b.maxSteps.Load():
		return Exceeding(b.maxSteps.Load())
	case bytes > b.maxBytes.Load():
		return exceeded(false, "it takes more than %d MiB of memory", b.maxBytes.Load()/MiB)
	case b.large.Load() || steps <= smallSteps && bytes <= smallBytes || ctx.Value(exempt{}) != nil:
		return nil
	}
	return ErrLarge
}

// admit waits for a permit, unless the budget has one or has ended.
func (b *Budget) admit(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.large.Load() || b.ended {
		return nil
	}
	release, err := b.pool.acquire(ctx)
	if err != nil {
		return err
	}
	b.permit(release)
	return nil
}

// permit notes that the budget has a permit.
func (b *Budget) permit(release func()) {
	b.release = release
	b.large.Store(true)
}

// tryAdmit reports whether the budget has a permit, or has got one without waiting.
func (b *Budget) tryAdmit(ctx context.Context) bool {
	if !b.mu.TryLock() {
		return false // another goroutine waits for the permit
	}
	defer b.mu.Unlock()
	if !b.large.Load() && !b.ended {
		if release := b.pool.permits.Try(OwnerOf(ctx), 1); release != nil {
			b.permit(release)
		}
	}
	return b.large.Load() || b.ended
}

// end returns the permit for good.
func (b *Budget) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.yield()
}

// yield returns the permit.
func (b *Budget) yield() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.large.Swap(false) {
		b.release()
	}
}

// busy returns the error of a request that has done its part of the work on documents of others. Fault: Unavailable.
func (b *Budget) busy() error {
	busy := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "Documents that were there before have to be rendered "+
		"or checked first, because they depend on the change or are not in memory, which takes longer than one request "+
		"may; nothing was stored, send the request again: it goes on from there")
	busy.RetryAfter = time.Second
	return busy.Unstored()
}

// Exceeding returns the error of work that takes more than a number of steps.
func Exceeding(steps int64) error {
	return exceeded(false, "it takes more than %.1f s of work", float64(steps)/Second)
}

func exceeded(alone bool, format string, args ...any) error {
	return &Exceeded{fault.New(fault.TooLarge, "HTTPPayloadTooLarge", format, args...), alone}
}

// Exceeded is the error of a request that has spent its budget, a fault of kind TooLarge.
type Exceeded struct {
	fault *fault.Fault
	alone bool // see IsAlone
}

// IsAlone reports whether an error means that the work on one document exceeds its own limit, so that it will in any
// other request too.
func IsAlone(err error) bool {
	spent, ok := errors.AsType[*Exceeded](err)
	return ok && spent.alone
}

func (e *Exceeded) Error() string { return e.fault.Error() }

// Unwrap returns the fault.
func (e *Exceeded) Unwrap() error { return e.fault }

// About adds the current work to the fault of an exceeded budget. It returns other errors unchanged.
func About(err error, format string, args ...any) error {
	spent, ok := err.(*Exceeded) //nolint:errorlint // only the one that nothing has been added to
	if !ok {
		return err
	}
	return fault.New(spent.fault.Kind, spent.fault.Type, "%s: %w; simplify it, or send it in parts",
		fmt.Sprintf(format, args...), err)
}
