package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/store/storetest"
)

// Every primary key, unique index and foreign key begins with the site, so that the tables can be partitioned or sharded
// by it. Those that do not are of River, whose tables hold the deliveries of all sites and stay in one place, or of the
// table with the version of the schema, which has one row and is there in each database.
func TestKeys_bySite(t *testing.T) {
	t.Parallel()
	const others = `
		SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a
			ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
		WHERE c.relnamespace = 'public'::regnamespace AND (i.indisunique OR i.indisexclusion) AND a.attname <> 'site'
		UNION ALL
		SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND i.indkey[0] = 0
		UNION ALL
		SELECT k.conname::text FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
			JOIN pg_attribute f ON f.attrelid = k.confrelid AND f.attnum = k.confkey[1]
		WHERE k.connamespace = 'public'::regnamespace AND k.contype = 'f' AND (a.attname <> 'site' OR f.attname <> 'site')
		ORDER BY 1`
	rows, err := storetest.Connect(t, storetest.URL(t)).Query(t.Context(), others)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"river_job_pkey", "river_job_unique_idx", "river_leader_pkey", "river_notification_pkey", "river_queue_pkey",
		"schema_migrations_pkey",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("keys that do not begin with the site (-want +got)\n%s", diff)
	}
}
