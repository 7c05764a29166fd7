package main

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"purser/api"
	"purser/internal/authz"
	"purser/internal/budget"
	"purser/internal/metrics"
	"purser/internal/queries"
	"purser/internal/sites"
	"purser/internal/store"
)

func (c *serveCommand) validateMetrics() error {
	if c.Compat == "deckhand" && len(c.MetricsSites) > 0 {
		return errors.New("--metrics-sites: there are no sites with --compat=deckhand")
	}
	return nil
}

// measureSites registers the metrics of sites, whose services at returns.
func (c *serveCommand) measureSites(registry *prometheus.Registry, pool *budget.Pool, db *store.Database,
	at func(site string) *api.Services,
) {
	readings := metrics.Readings{Default: sites.Default}
	readings.Overview = func(ctx context.Context, site string) (queries.Overview, error) {
		return at(site).Queries.For(authz.Viewer{}).Overview(ctx)
	}
	if c.Compat != "deckhand" {
		metrics.Sites(registry, db.CountSites)
		readings.Work = func(ctx context.Context, site string) (map[string]int, error) {
			return at(site).Claims.CountWork(ctx)
		}
	}
	if len(c.MetricsSites) > 0 {
		readings.Select = func(ctx context.Context) (names []string, selected int, err error) {
			return db.SitesWithLabels(ctx, c.MetricsSites, metrics.MaxSites)
		}
	}
	metrics.Site(registry, pool, readings)
}

// poolOf returns a function that returns the state of a store's connection pool.
func poolOf(s *store.Database) func() metrics.Pool {
	return func() metrics.Pool {
		stat := s.Stat()
		return metrics.Pool{
			Idle: stat.IdleConns(), Used: stat.AcquiredConns(), Max: stat.MaxConns(),
			Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(),
		}
	}
}
