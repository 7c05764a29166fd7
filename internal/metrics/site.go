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

// At most maxNames validations, with names of at most maxName bytes, have their own label; all others share otherName.
const maxNames, maxName, otherName = 50, 128, "other"

// Readings reads what metrics show of sites.
type Readings struct {
	Default string // the name of the default site
	// Select returns the sites that have metrics with their names as a label, and how many there would be without a
	// limit. If it is nil, only the default site has metrics, without that label.
	Select func(context.Context) (names []string, selected int, err error)
	// Overview returns the newest revision of a site and its verdict, for a viewer who may not see secrets.
	Overview func(ctx context.Context, site string) (queries.Overview, error)
	// Work returns the number of results that revisions of a site lack, by the state of the work; nil if there is no such
	// work.
	Work func(ctx context.Context, site string) (map[string]int, error)
}

// Site registers metrics of sites: of the newest revision and its verdict, and of the work of validators. Concurrent
// scrapes share the readings, with a budget from the pool for each site. If they fail, the scrape has all other
// metrics.
func Site(registry *prometheus.Registry, pool *budget.Pool, readings Readings) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		if readings.Select != nil {
			labels = append(labels, "site")
		}
		return prometheus.NewDesc(name, help, labels, nil)
	}
	registry.MustRegister(&site{
		Readings: readings, pool: pool, shared: cache.New[struct{}, scraped](0),
		up: prometheus.NewDesc("purser_database_up",
			"Whether the database answered this scrape; if not, the metrics of the newest revision are absent.", nil, nil),
		sites: prometheus.NewDesc("purser_metrics_sites", "Sites that --metrics-sites selects, with the default one, and "+
			"those of them that have metrics in this scrape.", []string{"state"}, nil),
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
		claims: desc("purser_claims", "Results that the newest revision and tagged ones lack, by the state of "+
			"the work: open, claimed, lapsed (its claim ran out, and nobody else has claimed it).", "state"),
	})
}

// site collects the metrics of sites.
type site struct {
	Readings

	pool   *budget.Pool
	shared *cache.Cache[struct{}, scraped] // stores nothing; only shares concurrent reads

	up, sites, newest, createdAt, status, findings, validation, postedAt, expiresAt, waivers, claims *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *site) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		s.up, s.sites, s.newest, s.createdAt, s.status, s.findings, s.validation, s.postedAt, s.expiresAt, s.waivers,
		s.claims,
	} {
		ch <- desc
	}
}

// gauge collects a sample.
type gauge func(desc *prometheus.Desc, value float64, labels ...string)

// Collect implements prometheus.Collector.
func (s *site) Collect(ch chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	found, err := s.scrape()
	shown := 0
	for _, one := range found.sites {
		of := send
		if s.Select != nil {
			of = func(desc *prometheus.Desc, value float64, labels ...string) {
				send(desc, value, append(labels, one.name)...)
			}
		}
		for state, n := range one.work {
			of(s.claims, float64(n), state)
		}
		if one.isRead {
			shown++
			s.collect(of, one.overview)
		}
	}
	send(s.up, truth(err == nil && (shown > 0 || len(found.sites) == 0)))
	if s.Select != nil && err == nil {
		send(s.sites, float64(found.selected), "selected")
		send(s.sites, float64(shown), "shown")
	}
}

// collect collects the metrics of the newest revision of a site.
func (s *site) collect(send gauge, overview queries.Overview) {
	send(s.newest, float64(overview.ID))
	if overview.ID == 0 {
		return
	}
	send(s.createdAt, seconds(overview.CreatedAt))
	send(s.waivers, float64(overview.Waivers))
	for _, status := range []validations.Status{validations.Success, validations.Failure} {
		send(s.status, truth(overview.Verdict.Status == status), status.String())
	}
	named := s.collectRequired(send, overview.Required)
	if overview.Counts == nil {
		return
	}
	for of, n := range countsOf(overview, named) {
		send(s.findings, float64(n), of.Validation, of.Level.String())
	}
}

// collectRequired collects the validations that decide a verdict, and returns those that are shown by name. One that is
// waived has that as its status.
func (s *site) collectRequired(send gauge, required []queries.Watched) map[string]bool {
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
			send(s.validation, truth(one.Status == status && !one.Waived), one.Name, status.String())
		}
		send(s.validation, truth(one.Waived), one.Name, "waived")
		if !one.PostedAt.IsZero() {
			send(s.postedAt, seconds(one.PostedAt), one.Name)
		}
		if !one.ExpiresAt.IsZero() {
			send(s.expiresAt, seconds(one.ExpiresAt), one.Name)
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
