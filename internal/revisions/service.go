package revisions

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document"
	"purser/internal/validations"
)

// Config holds the dependencies and limits of a Service. All fields must be set but Documents, Vault, ClientVersions.
type Config struct {
	Store  Store
	Engine *validations.Engine
	Limits document.Limits
	// Rendered keeps rendered revisions.
	Rendered *RenderCache
	// Documents has the documents of rendered revisions; nil keeps none.
	Documents *DocumentCache
	// Vault keeps secrets; nil refuses them.
	Vault Vault
	// ClientVersions are those of plugins that no document of a revision names.
	ClientVersions validations.ClientVersions
	// DefaultValidations count where no policy is in force.
	DefaultValidations Defaults
	// Compat selects the reference's behaviour where spec/api.md §0 says so.
	Compat bool
	Now    func() time.Time
	// Observe receives the duration of each phase of a change: split, decode, plan, check, pack, store; and turn,
	// which is how long it kept others from being stored.
	Observe func(phase string, took time.Duration)
}

// RenderCache keeps rendered revisions by what they were rendered from.
type RenderCache = cache.Cache[RenderKey, Rendering]

// Service changes the revisions of one site. It is safe for concurrent use.
type Service struct {
	Config

	writes chan struct{} // holds a token while no change of this process is being appended

	// whole says that judging the last change needed all documents: the next change reads them at once.
	whole atomic.Bool
}

// NewService returns a service over a store.
func NewService(config Config) *Service {
	s := &Service{Config: config, writes: make(chan struct{}, 1)}
	s.writes <- struct{}{}
	return s
}

// observe reports a phase that began at a time and ends now.
func (s *Service) observe(phase string, began time.Time) { s.Observe(phase, s.Now().Sub(began)) }

// beside does work in a goroutine of its own; wait waits until it has ended. A panic only ends the work.
func beside(work func()) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }()
		work()
	}()
	return func() { <-ended }
}

// forEach calls work for 0 to n-1 on all processors, each with a meter of the goroutine that calls it, until one
// returns an error. A panic becomes an error of this call alone.
func forEach(ctx context.Context, n int, work func(m *budget.Meter, i int) error) error {
	const fewest = 8 // that are worth a second goroutine
	workers := min(runtime.GOMAXPROCS(0), (n+fewest-1)/fewest)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range workers {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			meter := budget.NewMeter(ctx)
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
