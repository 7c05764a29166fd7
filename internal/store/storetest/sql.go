package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Execute runs statements.
func Execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// Lock keeps tables locked by another connection until release is called or the test ends.
func Lock(t *testing.T, url, mode string, tables ...string) (release func()) {
	t.Helper()
	tx, err := Connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE "+strings.Join(tables, ", ")+" IN "+mode+" MODE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.Background()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
			t.Error(err)
		}
	}
}

// Waiting waits until a number of connections wait for a lock.
func Waiting(t *testing.T, conn *pgx.Conn, want int) {
	t.Helper()
	const blocked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for n := 0; n < want; {
		if err := conn.QueryRow(t.Context(), blocked).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}

// Separated returns a connection string that a parameter can be appended to.
func Separated(url string) string {
	if strings.Contains(url, "?") {
		return url + "&"
	}
	return url + "?"
}

// Tables returns the rows of all tables but partitions as text, by the names of the tables.
func Tables(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := conn.Query(t.Context(),
		"SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition "+
			"AND relnamespace = 'public'::regnamespace")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range names {
		var text string
		sql := "SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM " + pgx.Identifier{name}.Sanitize() + " t"
		if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts[name] = text
	}
	return texts
}
