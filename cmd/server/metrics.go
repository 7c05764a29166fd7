package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/store"
)

// phases registers a histogram of the time that changes spend in each phase, and returns a function that adds to it.
func phases(registry *prometheus.Registry) func(phase string, took time.Duration) {
	histogram := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "purser_ingest_phase_seconds",
		Help:    "Time a change spent in a phase: split, decode, plan, check, store; turn is how long others waited for it.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
	}, []string{"phase"})
	registry.MustRegister(histogram)
	return func(phase string, took time.Duration) { histogram.WithLabelValues(phase).Observe(took.Seconds()) }
}

// pool reports the state of the connection pool.
type pool struct {
	*store.Store

	connections *prometheus.Desc
	waits       *prometheus.Desc
}

func poolCollector(s *store.Store) prometheus.Collector {
	return &pool{
		Store: s,
		connections: prometheus.NewDesc("purser_pool_connections", "Connections to the database, by state.",
			[]string{"state"}, nil),
		waits: prometheus.NewDesc("purser_pool_waits_total", "How often a request waited for a connection.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *pool) Describe(ch chan<- *prometheus.Desc) {
	ch <- p.connections
	ch <- p.waits
}

// Collect implements prometheus.Collector.
func (p *pool) Collect(ch chan<- prometheus.Metric) {
	stat := p.Stat()
	for state, n := range map[string]int32{
		"idle": stat.IdleConns(), "used": stat.AcquiredConns(), "limit": stat.MaxConns(),
	} {
		ch <- prometheus.MustNewConstMetric(p.connections, prometheus.GaugeValue, float64(n), state)
	}
	ch <- prometheus.MustNewConstMetric(p.waits, prometheus.CounterValue, float64(stat.EmptyAcquireCount()))
}
