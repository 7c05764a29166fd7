package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Callers who arrive while a group is being written form the next group, up to its limits.
func TestGatherer_do(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gatherer[int, int]
		var sizes []int
		release := make(chan struct{})
		write := func(_ context.Context, in []int) ([]int, error) { //nolint:unparam // its type
			<-release
			sizes = append(sizes, len(in))
			out := make([]int, len(in))
			for i := range in {
				out[i] = 2 * in[i]
			}
			return out, nil
		}
		var group sync.WaitGroup
		for i := range 1 + maxGathered + 2 {
			group.Go(func() {
				if got, err := g.do(t.Context(), i, 0, write); err != nil || got != 2*i {
					t.Errorf("%d: got %d, %v", i, got, err)
				}
			})
			if i == 0 {
				synctest.Wait() // the first one is being written
			}
		}
		synctest.Wait()
		for range 2 {
			group.Go(func() { _, _ = g.do(t.Context(), 0, maxGatheredBytes, write) })
			synctest.Wait()
		}
		close(release)
		group.Wait()
		// The first, as many as are taken, the other two with a large one, and another large one.
		if want := []int{1, maxGathered, 3, 1}; !slices.Equal(sizes, want) {
			t.Errorf("groups of %v, want %v", sizes, want)
		}
	})
}

func TestGatherer_do_fails(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong")
	for name, c := range map[string]struct {
		write func(context.Context, []int) ([]int, error)
		want  string
	}{
		"error": {func(context.Context, []int) ([]int, error) { return nil, wrong }, "wrong"},
		"panic": {func(context.Context, []int) ([]int, error) { panic("oops") }, "a write panicked: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g gatherer[int, int]
			for range 2 {
				if _, err := g.do(t.Context(), 1, 0, c.write); err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			}
		})
	}
}

// A group is not written once all of its callers have left; a single caller who leaves does not prevent the write.
func TestGatherer_do_abandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gatherer[int, int]
		var written [][]int
		release := make(chan struct{})
		write := func(_ context.Context, in []int) ([]int, error) { //nolint:unparam // its type
			<-release
			written = append(written, in)
			return make([]int, len(in)), nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		try := func(ctx context.Context, in int) {
			group.Go(func() { _, _ = g.do(ctx, in, 0, write) })
			synctest.Wait()
		}
		try(t.Context(), 1)
		try(ctx, 2)
		try(t.Context(), 3)
		g.mutex.Lock()
		g.group = nil // as if it were full
		g.mutex.Unlock()
		try(ctx, 4)
		cancel()
		synctest.Wait()
		close(release)
		group.Wait()
		synctest.Wait()
		if len(written) != 2 || len(written[1]) != 2 {
			t.Errorf("written: %v", written)
		}
	})
}
