package e2e_test

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
	"purser/migrations"
)

func siteFile(version int) string {
	return filepath.Join("testdata", "upgrade", fmt.Sprintf("%04d.sql", version))
}

// oldDatabase returns a database as a server of an earlier schema version left it.
func oldDatabase(t *testing.T, version int) string {
	t.Helper()
	site, err := os.ReadFile(siteFile(version))
	if err != nil {
		t.Fatalf("go test ./test/e2e -run TestUpgrade -record writes it: %v", err)
	}
	files, err := fs.Glob(migrations.FS, "*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	url := storetest.Empty(t)
	conn := storetest.Connect(t, url)
	statements := []string{
		"CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)",
		fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, false)", version),
	}
	for _, file := range files[:version] {
		text, err := migrations.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		statements = append(statements, string(text))
	}
	for _, sql := range append(statements, string(site)) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return url
}

// recordSite records the site as the present server stores it.
func recordSite(t *testing.T, version int) {
	t.Helper()
	s := startOn(t, storetest.Empty(t), schemasOnly) // the default of earlier versions
	for _, step := range oldSite() {
		s.put(t, step.bucket, step.body).is(t, http.StatusOK)
	}
	s.report(t, 1, "a-validation", "success")
	if err := os.WriteFile(siteFile(version), []byte(inserts(t, storetest.Connect(t, s.database))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// inserts returns statements that insert the rows of a migrated database.
func inserts(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	tables := map[string][]string{}
	for _, row := range texts(t, conn, `SELECT table_name || ' ' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name <> 'schema_migrations' ORDER BY table_name, ordinal_position`) {
		table, column, _ := strings.Cut(row, " ")
		tables[table] = append(tables[table], column)
	}
	names := slices.Sorted(maps.Keys(tables))
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(first(a), first(b)) })
	var sql strings.Builder
	sql.WriteString("DELETE FROM sites;\n")
	for _, table := range names {
		columns := strings.Join(tables[table], ", ")
		literals := "quote_nullable(" + strings.Join(tables[table], "::text), quote_nullable(") + "::text)"
		for _, row := range texts(t, conn, "SELECT concat_ws(', ', "+literals+") FROM "+table+" ORDER BY 1") {
			fmt.Fprintf(&sql, "INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s);\n", table, columns, row)
		}
	}
	for _, row := range texts(t, conn, `SELECT table_name || ' ' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND is_identity = 'YES' ORDER BY 1`) {
		table, column, _ := strings.Cut(row, " ")
		fmt.Fprintf(&sql, "SELECT setval(pg_get_serial_sequence('%s', '%s'), 1000);\n", table, column)
	}
	return sql.String()
}

// first returns a sort key that puts a table before those that refer to it.
func first(table string) string {
	if table == "sites" || table == "revisions" {
		return ""
	}
	return "others"
}

func texts(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}
