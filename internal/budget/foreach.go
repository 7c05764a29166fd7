package budget

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// ForEach calls work for 0 to n-1 on all processors, with a separate meter for each goroutine, until a call returns an
// error. A site that has others beside it uses half of the processors, so that theirs need not wait for one. A panic
// becomes an error of this ForEach alone.
func ForEach(ctx context.Context, n int, work func(m *Meter, i int) error) error {
	const fewest = 8 // that are worth a second goroutine
	workers := min(processors(ctx), (n+fewest-1)/fewest)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range workers {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			meter := NewMeter(ctx)
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := work(meter, int(i)); err != nil {
					return err
				}
				if ctx.Err() != nil {
					break
				}
			}
			return meter.Check()
		})
	}
	return group.Wait()
}

// processors returns how many processors one piece of work may use.
func processors(ctx context.Context) int {
	all := runtime.GOMAXPROCS(0)
	if From(ctx).pool.permits.IsShared(OwnerOf(ctx).Site) {
		const half = 2
		return max(1, all/half)
	}
	return all
}
