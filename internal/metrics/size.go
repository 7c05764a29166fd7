package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/cache"
)

// sizeInterval is the least time between two reads of the size of the database.
const sizeInterval = time.Minute

// Size registers the size of the database, which read returns. Scrapes call read once a minute; while it fails, they
// have no size.
func Size(registry *prometheus.Registry, read func(context.Context) (int64, error)) {
	registry.MustRegister(&size{
		read: read, shared: cache.New[struct{}, int64](0),
		desc: prometheus.NewDesc("purser_database_size_bytes",
			"The size of the database on disk, with its indexes.", nil, nil),
	})
}

// size collects the size of the database.
type size struct {
	read   func(context.Context) (int64, error)
	shared *cache.Cache[struct{}, int64] // stores nothing; only shares concurrent reads
	desc   *prometheus.Desc

	mutex  sync.Mutex
	readAt time.Time
	bytes  int64 // 0 if it is not known
}

// Describe implements prometheus.Collector.
func (s *size) Describe(ch chan<- *prometheus.Desc) { ch <- s.desc }

// Collect implements prometheus.Collector.
func (s *size) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if bytes, err := s.shared.Do(ctx, struct{}{}, s.current); err == nil && bytes > 0 {
		ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(bytes))
	}
}

// known returns the size that was read last, and whether that is recent.
func (s *size) known() (bytes int64, isRecent bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.bytes, !s.readAt.IsZero() && time.Since(s.readAt) < sizeInterval
}

// current returns the size, which it reads and keeps for the next scrapes if the one that it has is not recent.
func (s *size) current(ctx context.Context) (bytes int64, cost int, err error) {
	if bytes, isRecent := s.known(); isRecent {
		return bytes, 0, nil
	}
	if bytes, err = s.read(ctx); err != nil {
		bytes = 0
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.bytes, s.readAt = bytes, time.Now()
	return bytes, 0, err
}
