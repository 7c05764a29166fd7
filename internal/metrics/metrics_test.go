package metrics

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// Counters have all their samples from the start: the rate of one that appears with its first count misses that.
func TestCounters(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	refused, attempted := Refusals(registry), Deliveries(registry)
	want := []string{
		`purser_refused_sign_ins_total{credential="certificate"} 0`,
		`purser_refused_sign_ins_total{credential="token"} 0`,
		`purser_webhook_attempts_total{state="delivered"} 0`,
		`purser_webhook_attempts_total{state="failed"} 0`,
		`purser_webhook_attempts_total{state="pending"} 0`,
	}
	if diff := cmp.Diff(want, scrape(t, registry)); diff != "" {
		t.Errorf("at the start (-want +got)\n%s", diff)
	}
	refused("token")
	attempted("failed")
	attempted("failed")
	want[1], want[3] = `purser_refused_sign_ins_total{credential="token"} 1`, `purser_webhook_attempts_total{state="failed"} 2`
	if diff := cmp.Diff(want, scrape(t, registry)); diff != "" {
		t.Errorf("later (-want +got)\n%s", diff)
	}
}

// Each status has a sample, unless the sites cannot be counted.
func TestSites(t *testing.T) {
	t.Parallel()
	registry, err := prometheus.NewRegistry(), error(nil)
	Sites(registry, func(context.Context) (map[string]int, error) { return map[string]int{"failure": 2, "success": 0}, err })
	want := []string{`purser_sites{status="failure"} 2`, `purser_sites{status="success"} 0`}
	if diff := cmp.Diff(want, scrape(t, registry)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	err = errors.New("away")
	if got := scrape(t, registry); len(got) > 0 {
		t.Errorf("without the database: %q", got)
	}
}

// The size of the database is read once a minute, by one of the scrapes at that time, and none waits longer than
// patience. While it cannot be read, there is none, and it is not tried more often.
func TestSize(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads, bytes, err := 0, int64(1000), error(nil)
		registry := prometheus.NewRegistry()
		Size(registry, func(ctx context.Context) (int64, error) {
			if reads++; errors.Is(err, context.DeadlineExceeded) {
				<-ctx.Done()
			}
			return bytes, err
		})
		for _, c := range []struct {
			after time.Duration
			bytes int64
			err   error
			want  []string
			reads int
			took  time.Duration
		}{
			{0, 1000, nil, []string{"purser_database_size_bytes 1000"}, 1, 0},
			{sizeInterval - 1, 2000, nil, []string{"purser_database_size_bytes 1000"}, 1, 0},
			{1, 2000, nil, []string{"purser_database_size_bytes 2000"}, 2, 0},
			{sizeInterval, 0, errors.New("away"), nil, 3, 0},
			{time.Second, 3000, nil, nil, 3, 0},
			{sizeInterval, 3000, context.DeadlineExceeded, nil, 4, patience},
			{sizeInterval, 3000, nil, []string{"purser_database_size_bytes 3000"}, 5, 0},
		} {
			time.Sleep(c.after)
			bytes, err = c.bytes, c.err
			began := time.Now()
			var scrapes sync.WaitGroup
			for range 10 {
				scrapes.Go(func() {
					if diff := cmp.Diff(c.want, scrape(t, registry)); diff != "" {
						t.Errorf("after %v (-want +got)\n%s", c.after, diff)
					}
				})
			}
			scrapes.Wait()
			took := time.Since(began)
			synctest.Wait() // for a read that no scrape waits for
			if reads != c.reads || took != c.took {
				t.Errorf("after %v: %d reads, want %d, in %v, want %v", c.after, reads, c.reads, took, c.took)
			}
		}
	})
}
