//go:build linux

package faults_test

import (
	"syscall"
	"testing"
	"time"
)

// TestMutants runs servers with deliberate faults, each of which the suite must find. The first two are found quickly;
// without -times, only they are run.
func TestMutants(t *testing.T) {
	t.Parallel()
	const usual = 6 // clients
	nothing := func(*testing.T, *site) {}
	for i, m := range []struct {
		mutant
		clients int
		happens func(*testing.T, *site)
	}{
		{mutant{
			"a cache that is always trusted", "internal/store/snapshot.go",
			"case known && entry.Stamp == bucket.Stamp && entry.Reread == bucket.Reread:", "case known:",
		}, usual, nothing},
		{mutant{
			"a cache without stamps", "internal/store/snapshot.go",
			"case known && entry.Stamp == bucket.Stamp && entry.Reread == bucket.Reread:", "case known && entry.Changed == bucket.Changed:",
		}, 0, sameNumber}, // with busy clients, such a server may refuse all writes of sameNumber
		{mutant{
			"a change that does not look at what has changed since it was planned", "internal/store/append.go",
			"head != a.commit.Base ||", "head.Revision < a.commit.Base.Revision ||",
		}, usual, nothing},
		{mutant{
			"a commit that is acknowledged before it lasts", "internal/store/connections.go",
			"var settings = map[string]string{", `var settings = map[string]string{"synchronous_commit": "off",`,
		}, usual, killPostgres},
		{mutant{
			"a change without its audit event", "internal/store/append.go",
			"if commit.Audit != nil {", "if commit.Audit != nil && commit.Revision.ID%50 != 0 {",
		}, usual, nothing},
	} {
		if i > 1 && *times == 1 {
			break
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			const rounds = 20
			s := newSite(t, m.build(t), newPostgres(t))
			s.clients = m.clients
			for round := range rounds {
				if problems := s.try(t, m.name, time.Second, func() { m.happens(t, s) }); len(problems) > 0 {
					t.Logf("found in round %d: %.1000s", round+1, problems[0])
					return
				}
			}
			t.Errorf("not found in %d rounds", rounds)
		})
	}
}

// killPostgres kills the database and starts it again.
func killPostgres(t *testing.T, s *site) {
	t.Helper()
	s.db.stop(t, syscall.SIGKILL)
	s.db.start(t)
	s.db.ready(t)
}
