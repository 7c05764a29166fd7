package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"purser/internal/budget"
	"purser/internal/queries"
	"purser/internal/validations"
)

func at() time.Time { return time.UnixMilli(1_700_000_000_500) }

// scrape returns the lines of samples about a site.
func scrape(t *testing.T, registry *prometheus.Registry) []string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	var samples []string
	for line := range strings.Lines(text.String()) {
		if !strings.HasPrefix(line, "#") {
			samples = append(samples, strings.TrimSpace(line))
		}
	}
	return samples
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func registryOf(read func(context.Context) (queries.Overview, error)) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	Site(registry, budget.NewPool(1, time.Minute), Readings{
		Default: first,
		Overview: func(ctx context.Context, site string) (queries.Overview, error) {
			if site != first {
				return queries.Overview{}, fmt.Errorf("not asked for: %s", site)
			}
			return read(ctx)
		},
	})
	return registry
}

func TestSite(t *testing.T) {
	t.Parallel()
	overview := queries.Overview{
		Waivers: 2,
		Required: []queries.Watched{
			{Name: "mini", PostedAt: at(), ExpiresAt: at().Add(time.Hour)},
			{Name: "new", Status: validations.Missing},
			{Name: "let", Status: validations.Failure, Waived: true},
			{Name: "none", Status: validations.NotApplicable},
			{Name: "tried", Status: validations.Failure, Advisory: true, PostedAt: at()},
		},
		Counts: map[queries.Counted]queries.Number{
			{Validation: "new"}: {Findings: 1}, {Validation: "stray", Level: queries.LevelWarning}: {Findings: 2},
			{Validation: "tried", Level: queries.LevelWarning}:                      {Findings: 1},
			{Validation: "stray2", Level: queries.LevelWarning}:                     {Findings: 3},
			{Validation: validations.SchemaValidation, Level: queries.LevelWarning}: {Findings: 4},
		},
	}
	overview.ID, overview.CreatedAt, overview.Verdict.Status = 7, at(), validations.Failure
	uncounted := overview
	uncounted.Counts = nil
	counts := []string{
		`purser_newest_revision_findings{level="error",validation="mini"} 0`,
		`purser_newest_revision_findings{level="error",validation="let"} 0`,
		`purser_newest_revision_findings{level="error",validation="new"} 1`,
		`purser_newest_revision_findings{level="error",validation="none"} 0`,
		`purser_newest_revision_findings{level="error",validation="tried"} 0`,
		`purser_newest_revision_findings{level="warning",validation="tried"} 1`,
		`purser_newest_revision_findings{level="warning",validation="deckhand-schema-validation"} 4`,
		`purser_newest_revision_findings{level="warning",validation="other"} 5`,
	}
	others := []string{
		`purser_newest_revision_status{status="failure"} 1`,
		`purser_newest_revision_status{status="success"} 0`,
		`purser_required_result_expiry_timestamp_seconds{validation="mini"} 1.7000036005e+09`,
		`purser_required_result_timestamp_seconds{validation="mini"} 1.7000000005e+09`,
	}
	for name, is := range map[string]string{
		"mini": "success", "new": "missing", "let": "waived", "none": "not-applicable",
	} {
		for _, status := range []string{"success", "failure", "missing", "expired", "not-applicable", "waived"} {
			others = append(others, fmt.Sprintf(`purser_required_validation_status{status=%q,validation=%q} %d`, status, name,
				int(truth(is == status))))
		}
	}
	newest := []string{
		"purser_active_waivers 2", "purser_database_up 1", "purser_newest_revision 7", "purser_newest_revision_created_timestamp_seconds 1.7000000005e+09",
	}
	sum := func(lists ...[]string) (all []string) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	for name, c := range map[string]struct {
		overview queries.Overview
		err      error
		want     []string
	}{
		"all":               {overview, nil, sum(newest, counts, others)},
		"too much to count": {uncounted, nil, sum(newest, others)},
		"no revision":       {want: []string{"purser_database_up 1", "purser_newest_revision 0"}},
		"no database":       {err: errors.New("away"), want: []string{"purser_database_up 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scrape(t, registryOf(func(context.Context) (queries.Overview, error) { return c.overview, c.err }))
			if diff := cmp.Diff(sorted(c.want), sorted(got)); diff != "" {
				t.Errorf("samples (-want +got)\n%s", diff)
			}
		})
	}
}

// The number of series is bounded, however many validations policies name and whatever their names.
func TestSite_bounded(t *testing.T) {
	t.Parallel()
	overview := queries.Overview{Counts: map[queries.Counted]queries.Number{}}
	overview.ID = 1
	name := func(i int) string { return fmt.Sprintf("validation-%d", i) }
	for i := range 1000 {
		overview.Required = append(overview.Required, queries.Watched{Name: name(i), PostedAt: at(), ExpiresAt: at()})
		for level := queries.LevelError; level <= queries.LevelInfo; level++ {
			overview.Counts[queries.Counted{Validation: name(i), Level: level}] = queries.Number{Findings: 1}
		}
	}
	overview.Required = append([]queries.Watched{{Name: strings.Repeat("x", 1<<20)}, {Name: "\xff"}, {Name: "other"}}, overview.Required...)
	got := scrape(t, registryOf(func(context.Context) (queries.Overview, error) { return overview, nil }))
	const perName = 6 + 2 + 3
	if most := (maxNames + 2) * perName; len(got) > most {
		t.Errorf("%d series, want at most %d", len(got), most)
	}
	size := len(strings.Join(got, "\n"))
	if size > 100_000 {
		t.Errorf("%d bytes", size)
	}
	want := fmt.Sprintf(`purser_newest_revision_findings{level="error",validation="other"} %d`, 1000-maxNames)
	if !strings.Contains(strings.Join(got, "\n"), want) {
		t.Errorf("no %s", want)
	}
}

// Concurrent scrapes share one read, and none waits longer than patience.
func TestSite_sharedAndInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		registry := registryOf(func(ctx context.Context) (queries.Overview, error) {
			reads++
			<-ctx.Done()
			return queries.Overview{}, ctx.Err()
		})
		began := time.Now()
		var scrapes sync.WaitGroup
		for range 10 {
			scrapes.Go(func() {
				if diff := cmp.Diff([]string{"purser_database_up 0"}, scrape(t, registry)); diff != "" {
					t.Errorf("samples (-want +got)\n%s", diff)
				}
			})
		}
		scrapes.Wait()
		if took := time.Since(began); reads != 1 || took != patience {
			t.Errorf("%d readings in %v, want 1 in %v", reads, took, patience)
		}
	})
}
