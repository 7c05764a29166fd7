package revisions

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// rendition is a revision as services read it. It never changes.
type rendition struct {
	documents []*Stored // rendered, in order of output; their digests are those of what was submitted
	fault     error     // of the rendered documents against their schemas, nil if they pass
	size      int       // in bytes
	passing   bool      // that what is rendered later may come out differently
}

// renditionKey names a revision; numbers begin again after a purge.
type renditionKey struct {
	epoch, revision int64
	cleartext       bool // without encrypted documents
}

// renditions keeps what was rendered lately. Those who ask for the same revision at once wait for one rendering of it,
// which ends early only when all of them have gone away.
type renditions struct {
	mu      sync.Mutex
	limit   int // in bytes
	size    int
	kept    *simplelru.LRU[renditionKey, rendition]
	flights map[renditionKey]*flight
}

// flight is a rendering under way.
type flight struct {
	cancel  context.CancelFunc
	waiting int
	done    chan struct{}
	outcome rendition
	err     error
}

func newRenditions(limit int) *renditions {
	const most = 1 << 16 // the limit in bytes is reached before
	r := &renditions{limit: limit, flights: map[renditionKey]*flight{}}
	kept, err := simplelru.NewLRU(most, func(_ renditionKey, gone rendition) { r.size -= gone.size })
	if err != nil {
		panic(fmt.Sprintf("revisions: %v", err)) // only for a size below one
	}
	r.kept = kept
	return r
}

// of returns what was rendered of a revision, or renders it now.
func (r *renditions) of(ctx context.Context, key renditionKey, render func(context.Context) (rendition, error)) (
	rendition, error,
) {
	kept, f := r.join(ctx, key, render)
	if f == nil {
		return kept, nil
	}
	select {
	case <-f.done:
		return f.outcome, f.err
	case <-ctx.Done():
		r.leave(key, f)
		return rendition{}, fmt.Errorf("wait for the rendering: %w", ctx.Err())
	}
}

// join finds what is kept, or a rendering to wait for, which begins now if there is none.
func (r *renditions) join(ctx context.Context, key renditionKey, render func(context.Context) (rendition, error)) (
	rendition, *flight,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept, ok := r.kept.Get(key); ok {
		return kept, nil
	}
	f := r.flights[key]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		r.flights[key] = f
		go r.fly(ctx, key, f, render)
	}
	f.waiting++
	return rendition{}, f
}

// fly renders on behalf of all who wait; a panic is the error of these alone.
func (r *renditions) fly(ctx context.Context, key renditionKey, f *flight,
	render func(context.Context) (rendition, error),
) {
	outcome, err := rendition{}, error(nil)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		r.land(key, f, outcome, err)
	}()
	outcome, err = render(ctx)
}

func (r *renditions) leave(key renditionKey, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if r.flights[key] == f { // who comes now begins anew
			delete(r.flights, key)
		}
	}
}

func (r *renditions) land(key renditionKey, f *flight, outcome rendition, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.outcome, f.err = outcome, err
	close(f.done)
	f.cancel()
	if r.flights[key] == f {
		delete(r.flights, key)
	}
	if err == nil {
		r.add(key, outcome)
	}
}

// keep remembers what was rendered elsewhere.
func (r *renditions) keep(key renditionKey, outcome rendition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(key, outcome)
}

func (r *renditions) add(key renditionKey, outcome rendition) {
	if outcome.passing || outcome.size > r.limit || r.kept.Contains(key) {
		return
	}
	r.kept.Add(key, outcome)
	for r.size += outcome.size; r.size > r.limit; {
		r.kept.RemoveOldest()
	}
}
