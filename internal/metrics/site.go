package metrics

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/queries"
	"purser/internal/validations"
)

// patience is how long a scrape waits for the database. Prometheus' own timeout is ten seconds by default.
const patience = 2 * time.Second

// At most maxNames validations, with names of at most maxName bytes, have their own label; all others share otherName.
const maxNames, maxName, otherName = 50, 128, "other"

// Site registers metrics of the newest revision and its verdict, which read returns for a viewer who may not see
// secrets. Concurrent scrapes share one call of read, with a budget from the pool. If it fails, the scrape has all
// other metrics.
func Site(registry *prometheus.Registry, pool *budget.Pool, read func(context.Context) (queries.Overview, error)) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	registry.MustRegister(&site{
		read: read, pool: pool, shared: cache.New[struct{}, queries.Overview](0),
		up: desc("purser_database_up",
			"Whether the database answered this scrape; if not, the metrics of the newest revision are absent."),
		newest:    desc("purser_newest_revision", "The number of the newest revision, 0 if there is none."),
		createdAt: desc("purser_newest_revision_created_timestamp_seconds", "When the newest revision was created."),
		status: desc("purser_newest_revision_status",
			"The verdict on the newest revision: 1 for the current status, 0 for the other.", "status"),
		findings: desc("purser_newest_revision_findings",
			"Findings of the newest revision, in its first thousand failing documents: an error makes it fail, a warning "+
				"is of a validation that does not count.", "validation", "level"),
		validation: desc("purser_required_validation_status",
			"The validations that decide the verdict on the newest revision: 1 for the current status of each, 0 for others.",
			"validation", "status"),
		postedAt: desc("purser_required_result_timestamp_seconds",
			"When the newest result of a required validation was posted about the newest revision.", "validation"),
		expiresAt: desc("purser_required_result_expiry_timestamp_seconds",
			"When the success of a required validation expires by a policy.", "validation"),
		waivers: desc("purser_active_waivers",
			"Waivers of all revisions that have neither ended nor expired: validations count as successes because of them."),
	})
}

// site collects the metrics of a site.
type site struct {
	read   func(context.Context) (queries.Overview, error)
	pool   *budget.Pool
	shared *cache.Cache[struct{}, queries.Overview] // stores nothing; only shares concurrent reads

	up, newest, createdAt, status, findings, validation, postedAt, expiresAt, waivers *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *site) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		s.up, s.newest, s.createdAt, s.status, s.findings, s.validation, s.postedAt, s.expiresAt, s.waivers,
	} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (s *site) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	overview, err := s.overview()
	gauge(s.up, truth(err == nil))
	if err != nil {
		return
	}
	gauge(s.newest, float64(overview.ID))
	if overview.ID == 0 {
		return
	}
	gauge(s.createdAt, seconds(overview.CreatedAt))
	gauge(s.waivers, float64(overview.Waivers))
	for _, status := range []validations.Status{validations.Success, validations.Failure} {
		gauge(s.status, truth(overview.Verdict.Status == status), status.String())
	}
	named := s.collectRequired(gauge, overview.Required)
	if overview.Counts == nil {
		return
	}
	for of, n := range countsOf(overview, named) {
		gauge(s.findings, float64(n), of.Validation, of.Level.String())
	}
}

func (s *site) overview() (queries.Overview, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ctx, end := s.pool.Begin(ctx)
	defer end()
	return s.shared.Do(ctx, struct{}{}, func(ctx context.Context) (queries.Overview, int, error) {
		overview, err := s.read(ctx)
		return overview, 0, err
	})
}

// collectRequired collects the validations that decide a verdict, and returns those that are shown by name. One that is
// waived has that as its status.
func (s *site) collectRequired(gauge func(*prometheus.Desc, float64, ...string), required []queries.Watched,
) map[string]bool {
	named := map[string]bool{}
	for _, one := range required {
		if len(named) == maxNames || len(one.Name) > maxName || one.Name == otherName || !utf8.ValidString(one.Name) {
			continue
		}
		if named[one.Name] = true; one.Advisory {
			continue
		}
		for _, status := range []validations.Status{
			validations.Success, validations.Failure, validations.Missing, validations.Expired, validations.NotApplicable,
		} {
			gauge(s.validation, truth(one.Status == status && !one.Waived), one.Name, status.String())
		}
		gauge(s.validation, truth(one.Waived), one.Name, "waived")
		if !one.PostedAt.IsZero() {
			gauge(s.postedAt, seconds(one.PostedAt), one.Name)
		}
		if !one.ExpiresAt.IsZero() {
			gauge(s.expiresAt, seconds(one.ExpiresAt), one.Name)
		}
	}
	return named
}

// countsOf returns the numbers of findings, including one of errors for each validation with its own label. The few
// validations of the server always have one.
func countsOf(overview queries.Overview, named map[string]bool) map[queries.Counted]int {
	own := append(validations.DefaultValidations(), validations.SchemaValidationAlias)
	own = append(own, validations.Optional()...)
	counts := map[queries.Counted]int{}
	for name := range named {
		counts[queries.Counted{Validation: name, Level: queries.LevelError}] = 0
	}
	for of, n := range overview.Counts {
		if !named[of.Validation] && !slices.Contains(own, of.Validation) {
			of.Validation = otherName
		}
		counts[of] += n.Findings
	}
	return counts
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// seconds returns a time in Prometheus' format: seconds since 1970.
func seconds(at time.Time) float64 {
	return float64(at.UnixMilli()) / float64(time.Second/time.Millisecond)
}
