package api_test

import (
	"net/http"
	"testing"

	"purser/api"
)

// Whatever makes a revision counts as a change of the site; dry runs, prunes and reads do not.
func TestSite_changesInAMinute(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) { config.Bounds.Changes = 4 })
	dryRun := func() {
		t.Helper()
		s.do(t, http.MethodPut, "buckets/a/documents?dry-run=true", widget("w2", "{}"), asYAML...).is(t, http.StatusOK)
	}
	dryRun()
	s.put(t, "a", widget("w1", "{}")).is(t, http.StatusOK)
	s.changeSet(t, "buckets=a,b", placed("b", widget("w3", "{}"))).is(t, http.StatusOK)
	s.putPackage(t, "p", "a.Cache", packageOf("a.Cache")).is(t, http.StatusOK)
	s.post(t, "rollback/1", "").is(t, http.StatusCreated)
	for method, path := range map[string]string{
		"PUT": "buckets/a/documents", http.MethodPut: "changesets", http.MethodPost: "rollback/2",
	} {
		got := s.do(t, method, path, "", asJSON...)
		got.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests",
			"The site default had 4 changes by this server within a minute, the most that --site-changes allows")
		if after, stored := got.Header.Get("Retry-After"), got.Header.Get("Purser-Stored"); after != "60" || stored != "no" {
			t.Errorf("%s: Retry-After: %q, Purser-Stored: %q", path, after, stored)
		}
	}
	dryRun()
	s.prune(t, "keep=3").is(t, http.StatusOK)
	s.isRevision(t, 4)
}
