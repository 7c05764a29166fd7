package storetest

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { Main(m) }

// count returns the number of tables in the database, after making one more.
func count(t *testing.T, url string) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	// Not closed before the database is dropped, as a test that fails would do.
	var n int
	const sql = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE mine ()"); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestURL(t *testing.T) {
	t.Parallel()
	for i := range 4 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			if count(t, URL(t)) == 0 {
				t.Error("the database is not migrated")
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(0, count(t, Empty(t))); diff != "" {
		t.Error(diff)
	}
}

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for conn, want := range map[string]string{
		"postgres://u:p@h:1/old?host=%2Ftmp%20x": "postgres://u:p@h:1/new?host=%2Ftmp%20x",
		"postgresql://h":                         "postgresql://h/new",
		"host=/tmp dbname=old":                   "host=/tmp dbname=old dbname=new",
	} {
		if diff := cmp.Diff(want, withDatabase(conn, "new")); diff != "" {
			t.Error(diff)
		}
	}
}
