package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/budget"
	"purser/internal/queries"
)

// first is the default site.
const first = "default"

// numbered returns a revision.
func numbered(id int64) (o queries.Overview) {
	o.ID, o.CreatedAt = id, at()
	return o
}

// withSites returns a registry with the metrics of sites of numbers.
func withSites(readings Readings) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	Site(registry, budget.NewPool(1, time.Minute), readings)
	return registry
}

// of returns the samples of metrics whose names begin with one of some prefixes.
func of(samples []string, prefixes ...string) (found []string) {
	for _, sample := range samples {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(sample, prefix) }) {
			found = append(found, sample)
		}
	}
	return found
}

// Metrics of selected sites have the label site. How many are not shown is told.
func TestSite_selected(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	overview := func(_ context.Context, site string) (queries.Overview, error) {
		switch site {
		case first:
			return numbered(7), nil
		case "a":
			return queries.Overview{}, nil
		}
		return queries.Overview{}, away
	}
	work := func(_ context.Context, site string) (map[string]int, error) {
		if site == "a" {
			return nil, away
		}
		return map[string]int{"open": 3}, nil
	}
	selects := func(selected int, err error, names ...string) func(context.Context) ([]string, int, error) {
		return func(context.Context) ([]string, int, error) { return names, selected, err }
	}
	for name, c := range map[string]struct {
		readings Readings
		want     []string
	}{
		"sites": {Readings{first, selects(9, nil, first, "a", "b"), overview, work}, []string{
			`purser_claims{site="b",state="open"} 3`, `purser_claims{site="default",state="open"} 3`, "purser_database_up 1",
			`purser_metrics_sites{state="selected"} 9`, `purser_metrics_sites{state="shown"} 2`,
			`purser_newest_revision{site="a"} 0`, `purser_newest_revision{site="default"} 7`,
			`purser_newest_revision_status{site="default",status="failure"} 0`,
			`purser_newest_revision_status{site="default",status="success"} 1`,
		}},
		"none": {Readings{first, selects(0, nil), overview, work}, []string{
			"purser_database_up 1", `purser_metrics_sites{state="selected"} 0`, `purser_metrics_sites{state="shown"} 0`,
		}},
		"none that can be read": {Readings{first, selects(1, nil, "b"), overview, nil}, []string{
			"purser_database_up 0", `purser_metrics_sites{state="selected"} 1`, `purser_metrics_sites{state="shown"} 0`,
		}},
		"no list": {Readings{first, selects(0, away), overview, work}, []string{"purser_database_up 0"}},
		"unlabelled": {Readings{first, nil, overview, work}, []string{
			`purser_claims{state="open"} 3`, "purser_database_up 1",
			"purser_newest_revision 7", `purser_newest_revision_status{status="failure"} 0`,
			`purser_newest_revision_status{status="success"} 1`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := of(scrape(t, withSites(c.readings)), "purser_claims", "purser_database_up", "purser_metrics_sites",
				"purser_newest_revision{", "purser_newest_revision ", "purser_newest_revision_status")
			if diff := cmp.Diff(sorted(c.want), sorted(got)); diff != "" {
				t.Errorf("samples (-want +got)\n%s", diff)
			}
		})
	}
}

// Some of a hundred sites take as long as they may: the others are shown, and the scrape ends in time. Few are read at
// once.
func TestSite_selectedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range MaxSites {
			names = append(names, fmt.Sprintf("site-%02d", i))
		}
		const slow = 10
		reading := make(chan struct{}, readers)
		registry := withSites(Readings{
			Select: func(context.Context) ([]string, int, error) { return names, MaxSites, nil },
			Overview: func(ctx context.Context, site string) (queries.Overview, error) {
				select {
				case reading <- struct{}{}:
					defer func() { <-reading }()
				default:
					t.Errorf("%s is read beside %d others", site, readers)
				}
				if site < names[slow] {
					<-ctx.Done()
					return queries.Overview{}, ctx.Err()
				}
				time.Sleep(10 * time.Millisecond)
				return numbered(1), nil
			},
		})
		began := time.Now()
		got := of(scrape(t, registry), "purser_metrics_sites")
		want := []string{
			fmt.Sprintf(`purser_metrics_sites{state="selected"} %d`, MaxSites),
			fmt.Sprintf(`purser_metrics_sites{state="shown"} %d`, MaxSites-slow),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("samples (-want +got)\n%s", diff)
		}
		if took := time.Since(began); took > patience {
			t.Errorf("it took %v", took)
		}
	})
}
