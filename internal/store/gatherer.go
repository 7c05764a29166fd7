package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"purser/internal/budget"
)

// gatherer lets concurrent writers share a transaction: while one group is being written, the next one gathers. Many
// writers then cost one commit and one planned statement.
type gatherer[In, Out any] struct {
	most  int           // values in a group; 0 means maxGathered
	rest  time.Duration // from a write to the next one, at least; 0 for none
	ended time.Time     // when the last write ended; for the group that is next alone
	mutex sync.Mutex
	group *group[In, Out] // that can be joined; nil until the next caller begins one
	last  <-chan struct{} // closed when the group that began last is written; nil if there was none
}

// group has values that are written together.
type group[In, Out any] struct {
	in      []In
	bytes   int
	waiting int             // callers
	after   <-chan struct{} // closed when the group before is written; nil if there is none
	written chan struct{}   // closed when it is written, or could not be
	out     []Out           // for each of in; to be read after that, as err
	err     error
}

// Limits of a group, unless a single caller writes more.
const (
	maxGathered      = 128
	maxGatheredBytes = 4 << 20
)

// do writes a value of the given size with others, and returns its result: write returns one for each value of the
// group, in order. An error of write is returned to all callers of the group. The write does not depend on the context
// of the first caller.
func (g *gatherer[In, Out]) do(ctx context.Context, in In, bytes int,
	write func(ctx context.Context, in []In) ([]Out, error),
) (out Out, err error) {
	joined, place := g.join(in, bytes)
	if place == 0 {
		go g.write(budget.WithoutUser(context.WithoutCancel(ctx)), joined, write) // it is for others too
	}
	select {
	case <-joined.written:
		if joined.err == nil {
			out = joined.out[place]
		}
		return out, joined.err
	case <-ctx.Done():
		g.leave(joined)
		return out, fmt.Errorf("wait for a write: %w", context.Cause(ctx))
	}
}

var (
	errPanicked  = errors.New("a write panicked")
	errAbandoned = errors.New("nobody waits for the write")
)

// write writes a group once the one before it is written.
func (g *gatherer[In, Out]) write(ctx context.Context, of *group[In, Out],
	write func(ctx context.Context, in []In) ([]Out, error),
) {
	defer close(of.written)
	if of.after != nil {
		<-of.after
		time.Sleep(time.Until(g.ended.Add(g.rest)))
	}
	defer func() {
		if p := recover(); p != nil {
			of.err = fmt.Errorf("%w: %v\n%s", errPanicked, p, debug.Stack())
		}
	}()
	in, waiting := g.close(of)
	if waiting == 0 { // values must not pile up while the database hangs
		of.err = errAbandoned
		return
	}
	of.out, of.err = write(ctx, in)
	g.ended = time.Now()
}

// join adds to the group that gathers, or to a new one, and returns it with the place in it.
func (g *gatherer[In, Out]) join(in In, bytes int) (joined *group[In, Out], place int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.group == nil || len(g.group.in) == cmp.Or(g.most, maxGathered) || g.group.bytes+bytes > maxGatheredBytes {
		g.group = &group[In, Out]{after: g.last, written: make(chan struct{})}
		g.last = g.group.written
	}
	joined = g.group
	joined.in, joined.bytes, joined.waiting = append(joined.in, in), joined.bytes+bytes, joined.waiting+1
	return joined, len(joined.in) - 1
}

// leave records that a caller no longer waits.
func (g *gatherer[In, Out]) leave(joined *group[In, Out]) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	joined.waiting--
}

// close closes a group to further callers, and returns its values and the number of waiting callers.
func (g *gatherer[In, Out]) close(of *group[In, Out]) (in []In, waiting int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.group == of {
		g.group = nil
	}
	return of.in, of.waiting
}
