package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
)

// databaseAccepts allows or forbids connections to the server's database, and ends the existing ones. connections is
// true or false.
func (s *server) databaseAccepts(t *testing.T, connections string) {
	t.Helper()
	at, err := url.Parse(s.database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(at.Path, "/")
	conn, err := pgx.Connect(t.Context(), storetest.Empty(t)) // a session cannot forbid connections to its own database
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"ALTER DATABASE " + name + " ALLOW_CONNECTIONS " + connections,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

//nolint:paralleltest,tparallel // what is lost has to be found again
func TestDatabase_isLostAndFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.databaseAccepts(t, "false")
	t.Run("lost", func(t *testing.T) {
		s.get(t, "/readyz").fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "database")
		s.get(t, "health").is(t, http.StatusNoContent)
		metrics := s.get(t, "/metrics").is(t, http.StatusOK).text
		if !strings.Contains(metrics, "\npurser_database_up 0\n") || !strings.Contains(metrics, "\npurser_build_info{") ||
			strings.Contains(metrics, "\npurser_newest_revision") {
			t.Errorf("metrics without a database:\n%s", metrics)
		}
		for _, path := range []string{
			"revisions", "revisions/1", "revisions/1/documents", "revisions/1/status", "revisions/1/validations",
			"revisions/1/validations/detail", "revisions/1/validations/a", "revisions/1/validations/a/entries/0",
		} {
			got := s.get(t, path)
			got.fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "database", "again")
			if strings.Contains(got.text, "purser_test_") {
				t.Errorf("%s shows what is inside: %s", path, got.text)
			}
		}
		s.put(t, "mop", widget("w2", "{}")).fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
		s.post(t, "revisions/1/validations/a", "{status: success, validator: x}").
			fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable")
	})
	s.databaseAccepts(t, "true")
	t.Run("found", func(t *testing.T) {
		s.get(t, "/readyz").is(t, http.StatusOK)
		if metrics := s.get(t, "/metrics").text; !strings.Contains(metrics, "\npurser_newest_revision 1\n") {
			t.Errorf("metrics with the database again:\n%s", metrics)
		}
		s.put(t, "mop", widget("w2", "{}")).isNames(t, "w2@2")
		s.isRevision(t, 2)
	})
}

// Acknowledged changes survive the server process.
func TestDatabase_outlivesTheServer(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.put(t, "mop", widget("big", "{size: 177}")+sizes())
	first.report(t, 1, "a-validation", "success")
	second := startOn(t, first.database)
	second.get(t, "revisions/1/documents").isNames(t, "big@1", "acme/Widget/v1@1")
	second.isOutcomes(t, "1", "failure", "success")
	second.put(t, "mop", widget("big", "{size: 177}")+sizes()).isNames(t, "big@1", "acme/Widget/v1@1")
	// Two servers on one database see each other's revisions.
	first.put(t, "other", widget("w", "{size: 200}"))
	second.isOutcomes(t, "latest", "failure", "failure")
	second.put(t, "other", "")
	first.isOutcomes(t, "latest", "success", "failure")
	second.purge(t)
	first.put(t, "other", widget("big", "{}")).isNames(t, "big@1")
}
