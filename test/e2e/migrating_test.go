package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
)

// A server that is killed or stopped during a migration leaves a database on which the next server continues. The test
// interrupts the migrations of the first version and of a random one while they wait for locks, each by one of the two
// signals; all versions are those of TestMigrate_interrupted.
func TestUpgrade_interrupted(t *testing.T) {
	t.Parallel()
	tables := []string{"revisions", "documents", "failures", "contents", "results"} // each is altered by a migration
	signals, first := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}, rand.IntN(2)
	for _, version := range []int{1, 2 + rand.IntN(newestVersion(t)-2)} {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			database := oldDatabase(t, version)
			for n, i := range rand.Perm(len(tables)) {
				signal := signals[(n+first)%2]
				t.Logf("waits for %s, ended by %v", tables[i], signal)
				interruptMigration(t, database, tables[i], signal)
			}
			s := startOn(t, database)
			s.hasOldSite(t)
			s.put(t, "site", widget("new", "{size: 1}")).isNames(t, "new@6")
		})
	}
}

// interruptMigration starts a server whose migration has to wait for a table, and then sends it a signal.
func interruptMigration(t *testing.T, database, table string, signal syscall.Signal) {
	t.Helper()
	watching := storetest.Connect(t, database) // outside a transaction, which would only see the activity at its start
	var exists bool
	if err := watching.QueryRow(t.Context(), "SELECT to_regclass($1) IS NOT NULL", table).Scan(&exists); err != nil {
		t.Fatal(err)
	}
	if !exists {
		t.Logf("%s has another name already, so that no migration is left", table)
		return
	}
	tx, err := storetest.Connect(t, database).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE "+table+" IN ACCESS SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	s := startWaiting(t, database)
	migrated := false
	eventually(t, "the server waits in a file, or has nothing to do with that table", func() bool {
		migrated = s.get(t, "/readyz").status == http.StatusOK
		return migrated || isBlocked(t, watching)
	})
	if !migrated {
		s.get(t, "health").is(t, http.StatusNoContent)
		s.get(t, "/readyz").fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "is migrating its database")
		s.put(t, "b", "").fails(t, http.StatusServiceUnavailable, "HTTPServiceUnavailable", "its database; nothing was stored")
	}
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	s.client.CloseIdleConnections()
	if signal == syscall.SIGTERM && !s.process.ProcessState.Success() {
		t.Errorf("the server ended with %v:\n%s", s.process.ProcessState, s.log.text())
	}
	if code := s.process.ProcessState.ExitCode(); code == raceExit {
		t.Errorf("the server had a data race:\n%s", s.log.text())
	}
}

// isBlocked reports whether a session waits for a lock on a table.
func isBlocked(t *testing.T, conn *pgx.Conn) bool {
	t.Helper()
	var blocked bool
	const sql = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
		AND wait_event_type = 'Lock' AND wait_event = 'relation')`
	if err := conn.QueryRow(t.Context(), sql).Scan(&blocked); err != nil {
		t.Fatal(err)
	}
	return blocked
}

// A server refuses to continue if another one has migrated its database to an unknown version, and says why.
func TestUpgrade_leftBehind(t *testing.T) {
	t.Parallel()
	s := startOn(t, storetest.URL(t))
	s.put(t, "mop", widget("w", "{}")).is(t, http.StatusOK)
	conn := storetest.Connect(t, s.database)
	if _, err := conn.Exec(t.Context(), "UPDATE schema_migrations SET version = version + 1"); err != nil {
		t.Fatal(err)
	}
	for _, got := range []answer{
		s.get(t, "/readyz"),
		s.put(t, "mop", widget("other", "{}")),
		s.post(t, "rollback/0", ""),
		s.post(t, "revisions/prune?keep=1", ""),
		s.send(t, request{method: http.MethodDelete, path: "revisions"}),
	} {
		got.fails(t, http.StatusServiceUnavailable, "DatabaseTooNew", "written by a newer Purser")
	}
	s.get(t, "revisions/latest/documents").isNames(t, "w@1")
}
