package deletion

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"

	"purser/internal/store/journal"
	"purser/internal/store/site"
)

// Sweeper prunes and purges a site. It is safe for concurrent use.
type Sweeper struct {
	site    *site.Site
	journal *journal.Journal
	// sweeps lets one prune or purge run at a time. The others wait without a connection.
	sweeps *semaphore.Weighted
	// stepped is called after each transaction of a prune with the number of rows that it deleted while it held the
	// site's counters; nil but in tests.
	stepped func(locked int) error
}

// New returns the sweeper of a site.
func New(s *site.Site, j *journal.Journal) *Sweeper {
	return &Sweeper{site: s, journal: j, sweeps: semaphore.NewWeighted(1)}
}

// sweeping runs a prune or a purge when no other one runs in this process.
func (s *Sweeper) sweeping(ctx context.Context, do func(ctx context.Context) error) error {
	return s.site.Within(ctx, s.site.Deadlines.Sweep, func(ctx context.Context) error {
		if err := s.sweeps.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("wait for another prune or purge: %w", err)
		}
		defer s.sweeps.Release(1)
		return do(ctx)
	})
}
