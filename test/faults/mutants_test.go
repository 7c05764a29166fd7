//go:build linux

package faults_test

import (
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestMutants runs servers with deliberate faults, each of which the suite must find. The first two are found quickly;
// without -times, only they are run.
func TestMutants(t *testing.T) {
	t.Parallel()
	const usual = 6 // clients of the default site
	nothing := func(*testing.T, *deployment) {}
	for i, m := range []struct {
		mutant
		sites, clients int
		happens        func(*testing.T, *deployment)
		says           []string // regular expressions; each must match a problem
	}{
		{mutant{
			"a cache that is always trusted", "internal/store/snapshot.go",
			"case known && entry.Stamp == bucket.Stamp && entry.Reread == bucket.Reread:", "case known:",
		}, 1, usual, nothing, nil},
		{mutant{
			"a cache without stamps", "internal/store/snapshot.go",
			"case known && entry.Stamp == bucket.Stamp && entry.Reread == bucket.Reread:", "case known && entry.Changed == bucket.Changed:",
		}, 1, 0, sameNumber, nil}, // with busy clients, such a server may refuse all writes of sameNumber
		{mutant{
			"a change that does not look at what has changed since it was planned", "internal/store/append.go",
			"head != a.commit.Base ||", "head.Revision < a.commit.Base.Revision ||",
		}, 1, usual, nothing, nil},
		{mutant{
			"a commit that is acknowledged before it lasts", "internal/store/connections.go",
			"var settings = map[string]string{", `var settings = map[string]string{"synchronous_commit": "off",`,
		}, 1, usual, killPostgres, nil},
		{mutant{
			"a change without its audit event", "internal/store/append.go",
			"if commit.Audit != nil {", "if commit.Audit != nil && commit.Revision.ID%50 != 0 {",
		}, 1, usual, nothing, nil},
		{mutant{
			"an audit event that is in the default site as well", "internal/store/audit.go",
			"batch.Queue(stmt.InsertAudit, auditEntry(s.site, e))",
			`for _, site := range map[string]string{s.site: s.site, "": "default"} {
				batch.Queue(stmt.InsertAudit, auditEntry(site, e))
			}`,
		}, 3, usual, nothing, []string{`the table audit has op\d+-s`}},
		{mutant{
			"a site that shares its services with another", "api/sitepath.go",
			"if site == sites.Default {", `if site == sites.Default || site == "s1" {`,
		}, 3, usual, nothing, []string{
			`site s1: the answer to GET revisions/N/documents has op\d+-default`,
			`site s1: the answer to GET revisions/N/validations has op\d+-default`,
		}},
	} {
		if i > 1 && *times == 1 {
			break
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			const rounds = 20
			d := newDeployment(t, m.build(t), newPostgres(t), m.sites)
			d.sites[0].clients = m.clients
			for _, s := range d.sites {
				s.read = d.sites[0].read
			}
			var problems []string
			for round := range rounds {
				problems = d.try(t, m.name, time.Second, func() { m.happens(t, d) })
				if len(problems) > 0 && allMatch(m.says, problems) {
					t.Logf("found in round %d: %.1000s", round+1, problems[0])
					return
				}
			}
			t.Errorf("not found in %d rounds; at last: %.1000q", rounds, problems)
		})
	}
}

// allMatch reports whether each of some regular expressions matches one of some texts.
func allMatch(expressions, texts []string) bool {
	for _, expression := range expressions {
		if !slices.ContainsFunc(texts, regexp.MustCompile(expression).MatchString) {
			return false
		}
	}
	return true
}

// killPostgres kills the database and starts it again.
func killPostgres(t *testing.T, d *deployment) {
	t.Helper()
	d.db.stop(t, syscall.SIGKILL)
	d.db.start(t)
	d.db.ready(t)
}
