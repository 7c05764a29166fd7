package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// families returns the types of the metrics in an exposition, by name.
func families(text string) map[string]string {
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`).FindAllStringSubmatch(text, -1) {
		found[line[1]] = line[2]
	}
	return found
}

// exposed returns the metrics of a server with some flags, whose newest revision has all kinds of results.
func exposed(t *testing.T, flags ...string) string {
	t.Helper()
	s := startFresh(t, flags...)
	s.put(t, "site", layeringPolicy("lp")+sizes()+widget("w1", "{size: 177}")+
		policy("p", "{name: mini-validation, expiresAfter: P1D}", own)).is(t, http.StatusOK)
	s.report(t, 1, "mini-validation", "success")
	s.report(t, 1, "stray", "failure")
	return s.get(t, "/metrics").is(t, http.StatusOK).text
}

// Metrics follow Prometheus' conventions. docs/monitoring.md lists each of them, and the dashboard and the alerts use
// no others.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	var all []string
	for _, flags := range [][]string{nil, {"--metrics-sites", "watch=yes"}} {
		one := exposed(t, flags...)
		problems, err := promlint.New(strings.NewReader(one)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
		all = append(all, one)
	}
	text := strings.Join(all, "")
	known := map[string]bool{"purser_": true} // a pattern for all of them
	for name, kind := range families(text) {
		known[name] = true
		if kind == "histogram" {
			known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = true, true, true
		}
	}
	metric := regexp.MustCompile(`\b(purser|go|process)_\w+`)
	for _, file := range []string{
		"docs/monitoring.md", "docs/monitoring/dashboard.json", "docs/monitoring/alerts.yaml", "docs/monitoring/alerts_test.yaml",
	} {
		content, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Compact(slices.Sorted(slices.Values(metric.FindAllString(string(content), -1)))) {
			if !known[name] {
				t.Errorf("%s uses %s, which the server does not expose", file, name)
			}
		}
		if strings.HasSuffix(file, ".json") && !json.Valid(content) {
			t.Errorf("%s is no JSON", file)
		}
		if strings.HasSuffix(file, ".md") {
			for name := range families(text) {
				if strings.HasPrefix(name, "purser_") && !strings.Contains(string(content), "| `"+name+"` |") {
					t.Errorf("%s does not list %s", file, name)
				}
			}
		}
	}
}

// Metrics about the newest revision agree with its status and findings.
func TestMonitoring_newestRevision(t *testing.T) {
	t.Parallel()
	var got []string
	for line := range strings.Lines(exposed(t)) {
		at := strings.Contains(line, "timestamp")
		if strings.HasPrefix(line, "purser_newest") || strings.HasPrefix(line, "purser_required") && !strings.Contains(line, "} 0") {
			if line = strings.TrimSpace(line); at {
				line, _, _ = strings.Cut(line, " ")
			}
			got = append(got, line)
		}
	}
	want := []string{
		"purser_newest_revision 1",
		"purser_newest_revision_created_timestamp_seconds",
		`purser_newest_revision_findings{level="error",validation="deckhand-schema-validation"} 1`,
		`purser_newest_revision_findings{level="error",validation="mini-validation"} 0`,
		`purser_newest_revision_findings{level="warning",validation="other"} 1`,
		`purser_newest_revision_status{status="failure"} 1`,
		`purser_newest_revision_status{status="success"} 0`,
		`purser_required_result_expiry_timestamp_seconds{validation="mini-validation"}`,
		`purser_required_result_timestamp_seconds{validation="mini-validation"}`,
		`purser_required_validation_status{status="failure",validation="deckhand-schema-validation"} 1`,
		`purser_required_validation_status{status="success",validation="mini-validation"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got)\n%s", diff)
	}
}

// Selected sites have metrics with their names, from the next scrape on, and all count by their status.
func TestMonitoring_sites(t *testing.T) {
	t.Parallel()
	s := startFresh(t, "--metrics-sites", "watch=yes", "--metrics-sites", "region=eu")
	ask := func(method, path, body string, want int) { // below a site's path, which openapi.yaml does not list
		t.Helper()
		got, err := s.try(t.Context(), request{method: method, path: path, body: body, header: yamlBody()})
		if err != nil {
			t.Fatal(err)
		}
		got.is(t, want)
	}
	put := func(path, body string, want int) { ask(http.MethodPut, path, body, want) }
	put("/sites/atl1", "labels: {watch: 'yes', region: eu}", http.StatusCreated)
	put("/sites/bos1", "labels: {watch: 'yes'}", http.StatusCreated)
	put("/sites/old", "labels: {watch: 'yes', region: eu}\narchived: true", http.StatusCreated)
	for _, prefix := range []string{"", "/sites/atl1", "/sites/bos1"} {
		put(prefix+"/api/v1.0/buckets/b/documents", layeringPolicy("lp"), http.StatusOK)
		ask(http.MethodGet, prefix+"/api/v1.0/events", "", http.StatusOK) // numbers the events, from which statuses follow
	}
	text := s.get(t, "/metrics").is(t, http.StatusOK).text
	for _, line := range []string{
		`purser_newest_revision{site="default"} 1`, `purser_newest_revision{site="atl1"} 1`,
		`purser_newest_revision_status{site="atl1",status="success"} 1`,
		`purser_metrics_sites{state="selected"} 2`, `purser_metrics_sites{state="shown"} 2`, "purser_database_up 1",
		`purser_claims{site="atl1",state="open"} 0`,
		`purser_sites{status="archived"} 1`, `purser_sites{status="success"} 3`, `purser_sites{status="unknown"} 0`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	for _, name := range []string{"bos1", "old"} {
		if strings.Contains(text, name) {
			t.Errorf("there are metrics of %s", name)
		}
	}
}
