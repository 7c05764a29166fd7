package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/cache"
)

// Sites registers the number of sites by their status, which read returns. Concurrent scrapes share one call of read.
// If it fails, the scrape has all other metrics.
func Sites(registry *prometheus.Registry, read func(context.Context) (map[string]int, error)) {
	registry.MustRegister(&counted{
		read: read, shared: cache.New[struct{}, map[string]int](0),
		desc: prometheus.NewDesc("purser_sites", "Sites by the verdict on the newest revision, unknown if there is none "+
			"(yet), and archived ones.", []string{"status"}, nil),
	})
}

// counted collects numbers by a label.
type counted struct {
	read   func(context.Context) (map[string]int, error)
	shared *cache.Cache[struct{}, map[string]int] // stores nothing; only shares concurrent reads
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *counted) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c *counted) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	counts, err := c.shared.Do(ctx, struct{}{}, func(ctx context.Context) (map[string]int, int, error) {
		counts, err := c.read(ctx)
		return counts, 0, err
	})
	if err != nil {
		return
	}
	for value, n := range counts {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, float64(n), value)
	}
}
