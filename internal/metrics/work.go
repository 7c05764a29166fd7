package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/cache"
)

// Work registers the number of results that revisions lack, by the state of the work, which read returns. Concurrent
// scrapes share one call of read. If it fails, the scrape has all other metrics.
func Work(registry *prometheus.Registry, read func(context.Context) (map[string]int, error)) {
	registry.MustRegister(&work{
		read: read, shared: cache.New[struct{}, map[string]int](0),
		desc: prometheus.NewDesc("purser_claims", "Results that the newest revision and tagged ones lack, by the state of "+
			"the work: open, claimed, lapsed (its claim ran out, and nobody else has claimed it).", []string{"state"}, nil),
	})
}

// work collects the number of results that revisions lack.
type work struct {
	read   func(context.Context) (map[string]int, error)
	shared *cache.Cache[struct{}, map[string]int] // stores nothing; only shares concurrent reads
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (w *work) Describe(ch chan<- *prometheus.Desc) { ch <- w.desc }

// Collect implements prometheus.Collector.
func (w *work) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	counts, err := w.shared.Do(ctx, struct{}{}, func(ctx context.Context) (map[string]int, int, error) {
		counts, err := w.read(ctx)
		return counts, 0, err
	})
	if err != nil {
		return
	}
	for state, n := range counts {
		ch <- prometheus.MustNewConstMetric(w.desc, prometheus.GaugeValue, float64(n), state)
	}
}
