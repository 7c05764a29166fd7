package api_test

import (
	"net/http"
	"testing"

	"purser/api"
)

// Whatever makes a revision counts as a change of the site; dry runs, prunes and reads do not.
func TestSite_changesInAMinute(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(config *api.Config) {
		config.Bounds.Changes = 4
		config.Pool.Uses("another")
	})
	dryRun := func() {
		t.Helper()
		s.do(t, http.MethodPut, "buckets/a/documents?dry-run=true", widget("w2", "{}"), inYAML...).is(t, http.StatusOK)
	}
	dryRun()
	s.put(t, "a", widget("w1", "{}")).is(t, http.StatusOK)
	s.changeSet(t, "?buckets=b", "").is(t, http.StatusOK)
	s.putPackage(t, "p", "a.Cache", library(t, "a.Cache", "1", "")).is(t, http.StatusOK)
	s.post(t, "rollback/1", "").is(t, http.StatusCreated)
	for path, method := range map[string]string{
		"buckets/a/documents": http.MethodPut, "buckets/p/packages/a.Cache": http.MethodPut, "changesets": http.MethodPut,
		"rollback/2": http.MethodPost,
	} {
		got := s.do(t, method, path, "", asJSON...)
		got.fails(t, http.StatusTooManyRequests, "HTTPTooManyRequests")
		if after := got.Header.Get("Retry-After"); after != "60" {
			t.Errorf("%s: Retry-After: %q", path, after)
		}
	}
	dryRun()
	s.prune(t, "keep=3").is(t, http.StatusOK)
	s.isRevision(t, 3)
}
