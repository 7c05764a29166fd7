package revisions

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"purser/internal/budget"
	"purser/internal/document"
	"purser/internal/validations"
)

// Config is what a Service is made of. All fields must be set.
type Config struct {
	Store  Store
	Engine *validations.Engine
	Limits document.Limits
	// CacheSize is how many bytes of rendered documents are kept in memory.
	CacheSize int
	// Vault keeps secrets; nil refuses them.
	Vault Vault
	// ClientVersions hold for the plugins of which no document of a revision says the version.
	ClientVersions validations.ClientVersions
	// Compat switches rows C1-C5 of spec/api.md §0 to the reference's behaviour.
	Compat bool
	Now    func() time.Time
	// Observe is told how long each phase of an ingest took: split, decode, plan, check, store.
	Observe func(phase string, took time.Duration)
}

// Service answers for the revisions of one site. It is safe for concurrent use.
type Service struct {
	Config

	writer     chan struct{} // holds a token while nobody plans and appends
	workers    chan struct{} // holds a token for each worker that may decode or check
	renditions *renditions
}

// NewService returns a service over a store.
func NewService(config Config) *Service {
	s := &Service{
		Config:     config,
		writer:     make(chan struct{}, 1),
		workers:    make(chan struct{}, runtime.GOMAXPROCS(0)),
		renditions: newRenditions(config.CacheSize),
	}
	s.writer <- struct{}{}
	for range cap(s.workers) {
		s.workers <- struct{}{}
	}
	return s
}

// forEach runs work for 0 to n-1 on as many workers as all requests together have processors. It ends early with the
// context. Small amounts of work are not worth a goroutine. A panic of one worker is the error of this call alone.
func (s *Service) forEach(ctx context.Context, n int, work func(i int)) error {
	const worthSharing = 8
	if n < worthSharing {
		return s.work(ctx, 0, n, work)
	}
	group, ctx := errgroup.WithContext(ctx)
	size := (n + cap(s.workers) - 1) / cap(s.workers)
	for start := 0; start < n; start += size {
		group.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			return s.work(ctx, start, min(start+size, n), work)
		})
	}
	return group.Wait()
}

// countEach is forEach for work that is counted. It returns the first error.
func (s *Service) countEach(ctx context.Context, n int, work func(meter *budget.Meter, i int) error) error {
	errs := make([]error, n)
	err := s.forEach(ctx, n, func(i int) {
		meter := budget.NewMeter(ctx)
		if errs[i] = work(meter, i); errs[i] == nil {
			errs[i] = meter.Check()
		}
	})
	return cmp.Or(append([]error{err}, errs...)...) //nolint:wrapcheck // they are our own
}

func (s *Service) work(ctx context.Context, start, end int, work func(i int)) error {
	for start < end {
		next, err := s.turn(ctx, start, end, work)
		if err != nil {
			return err
		}
		start = next
	}
	return ctx.Err()
}

// turn works for a while, and then lets others. It returns where it got to.
func (s *Service) turn(ctx context.Context, start, end int, work func(i int)) (next int, err error) {
	select {
	case <-s.workers:
	case <-ctx.Done():
		return start, ctx.Err()
	}
	defer func() { s.workers <- struct{}{} }()
	const while = 20 * time.Millisecond
	began := s.Now()
	for next = start; next < end && ctx.Err() == nil; next++ {
		if next > start && s.Now().Sub(began) > while {
			break
		}
		work(next)
	}
	return next, ctx.Err()
}

// observe reports a phase that began at a time, and returns the time at which the next begins.
func (s *Service) observe(phase string, began time.Time) time.Time {
	now := s.Now()
	s.Observe(phase, now.Sub(began))
	return now
}
