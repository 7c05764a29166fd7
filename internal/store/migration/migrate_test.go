package migration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/fault"
	"purser/internal/store/migration"
	"purser/internal/store/storetest"
)

// state returns the migration state of the database.
func state(t *testing.T, conn *pgx.Conn) (version int, dirty bool) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT version, dirty FROM schema_migrations").Scan(&version, &dirty)
	if err != nil {
		t.Fatal(err)
	}
	return version, dirty
}

// set says something else about the migrations of the database.
func set(t *testing.T, conn *pgx.Conn, version int, dirty bool) {
	t.Helper()
	const sql = "UPDATE schema_migrations SET version = $1, dirty = $2"
	if _, err := conn.Exec(t.Context(), sql, version, dirty); err != nil {
		t.Fatal(err)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()

	t.Run("again", func(t *testing.T) {
		t.Parallel()
		url := storetest.URL(t)
		conn := storetest.Connect(t, url)
		before, _ := state(t, conn)
		if err := migration.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		after, dirty := state(t, conn)
		if diff := cmp.Diff(before, after); diff != "" || dirty {
			t.Error(diff, dirty)
		}
	})

	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		url := storetest.Empty(t)
		const servers = 4
		failures := make(chan error, servers)
		for range servers {
			go func() { failures <- migration.Migrate(t.Context(), url) }()
		}
		for range servers {
			if err := <-failures; err != nil {
				t.Error(err)
			}
		}
		var others int
		const sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
		if err := storetest.Connect(t, url).QueryRow(t.Context(), sql+" AND backend_type = 'client backend'").Scan(&others); err != nil {
			t.Fatal(err)
		}
		if others > 0 { // a backend notices a closed connection a moment later; what leaks is also found by goleak
			t.Logf("%d connections are still known", others)
		}
	})
}

func TestMigrate_refused(t *testing.T) {
	t.Parallel()

	t.Run("newer database", func(t *testing.T) {
		t.Parallel()
		for _, dirty := range []bool{false, true} {
			url := storetest.URL(t)
			conn := storetest.Connect(t, url)
			newest, _ := state(t, conn)
			set(t, conn, 9999, dirty)
			err := migration.Migrate(t.Context(), url)
			want := fmt.Sprintf("the database was written by a newer Purser: it has version 9999, this server knows versions"+
				" up to %d; start the newer Purser, or use another database", newest)
			wantFault(t, err, want)
			if version, _ := state(t, conn); version != 9999 {
				t.Errorf("version is %d now", version)
			}
		}
	})

	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		if err := migration.Migrate(t.Context(), "postgres:///purser?host=/nowhere"); err == nil {
			t.Error("no error")
		}
	})
}

// wantFault checks that an error is a fault of kind Unavailable with a text.
func wantFault(t *testing.T, err error, text string) {
	t.Helper()
	if diff := cmp.Diff(fault.Unavailable, fault.KindOf(err)); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want one with %q", err, text)
	}
}

// The end of the context ends the wait for a table.
func TestMigrate_cancelled(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE schema_migrations"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- migration.Migrate(ctx, url) }()
	storetest.Waiting(t, storetest.Connect(t, url), 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) { // without the context it would not end
		t.Errorf("got error %v", err)
	}
}
