package migration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/store/migration"
	"purser/internal/store/storetest"
	"purser/migrations"
)

// Two buckets of a database of the first version: one that was emptied and filled again, one that is empty now.
const firstVersion = `
	UPDATE sites SET head = 5, documents = 4;
	INSERT INTO documents (site, id, place, since, until, fork, bucket, schema, layer, name, content, metadata) VALUES
		('default', 1, 1, 1, 2, 1, 'a', 's/S/v1', 'l', 'p', '\x01', '{"labels": {"k": "v", "n": 1}}'),
		('default', 2, 2, 3, NULL, null, 'a', 's/S/v1', 'l', 'p', '\x01', '{"layeringDefinition": {"abstract": true}}'),
		('default', 3, 3, 2, 4, 2, 'b', 's/S/v1', 'l', 'q', '\x01', '{"labels": ["odd"]}'),
		('default', 4, 3, 4, 5, 4, 'b', 's/S/v1', 'l', 'q', '\x02', '{}')`

// Data that a later version derives from documents is computed for the documents of an earlier one.
func TestMigrate_fromFirstVersion(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	conn := storetest.Connect(t, url)
	schema, err := migrations.FS.ReadFile("0001_init.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		string(schema), firstVersion, "CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)",
		"INSERT INTO schema_migrations VALUES (1, false)",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := migration.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string][]string{
		"SELECT bucket || ' ' || since || '-' || coalesce(until::text, '') FROM occupancies ORDER BY bucket, since": {
			"a 1-2", "a 3-", "b 2-5",
		},
		"SELECT live::text FROM sites": {"1"},
		"SELECT id || ' ' || abstract || ' ' || coalesce(labels::text, '') FROM documents ORDER BY id": {
			`1 false {"k": "v"}`, "2 true ", "3 false ", "4 false ",
		},
	} {
		rows, err := conn.Query(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sql, diff)
		}
	}
}
