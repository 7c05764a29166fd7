package metrics

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"purser/internal/budget"
	"purser/internal/queries"
)

// patience is how long a scrape waits for the database. Prometheus' own timeout is ten seconds by default.
const patience = 2 * time.Second

// grace is how much longer a scrape waits for what was read within patience.
const grace = 100 * time.Millisecond

// MaxSites bounds the sites of a scrape, and readers those that are read at a time.
const MaxSites, readers = 100, 4

// scraped is what a scrape has read.
type scraped struct {
	sites    []reading
	selected int
}

// reading is what was read of a site. What could not be read in time is absent.
type reading struct {
	name     string
	work     map[string]int
	overview queries.Overview
	isRead   bool // the overview
}

// scrape reads what a scrape shows, or shares what another one reads.
func (s *site) scrape() (scraped, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience+grace)
	defer cancel()
	ctx, end := s.pool.Begin(ctx)
	defer end()
	return s.shared.Do(ctx, struct{}{}, func(ctx context.Context) (found scraped, size int, err error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		names := []string{s.Default}
		if s.Select != nil {
			if names, found.selected, err = s.Select(ctx); err != nil {
				return found, 0, err
			}
		}
		found.sites = make([]reading, len(names))
		var group errgroup.Group
		group.SetLimit(readers)
		for i, name := range names {
			group.Go(func() error {
				found.sites[i] = s.read(ctx, name, 1+(len(names)-i-1)/readers)
				return nil
			})
		}
		return found, 0, group.Wait()
	})
}

// read reads what is shown of a site. It takes no more than an equal part of the time that is left, of as many parts as
// the reader has sites to read, so that one whose findings take long to count does not hide others.
func (s *site) read(ctx context.Context, name string, parts int) reading {
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(parts))
	defer cancel()
	ctx, end := budget.Begin(ctx)
	defer end()
	of := reading{name: name}
	if s.Work != nil {
		if counts, err := s.Work(ctx, name); err == nil {
			of.work = counts
		}
	}
	if overview, err := s.Overview(ctx, name); err == nil {
		of.overview, of.isRead = overview, true
	}
	return of
}
