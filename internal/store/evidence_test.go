package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/store"
	"purser/internal/store/storetest"
)

// Changes and verdicts about the newest revision read the policies in force, however many versions they have had.
func TestSource_policies(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	policy := func(name string, n int) string {
		return control("deckhand/ValidationPolicy/v1", name, fmt.Sprintf("{validations: [{name: v%d}]}", n))
	}
	const changes = 300
	put(t, s, "other", policy("q", 0)+widget("w", 0))
	for n := range changes {
		put(t, s, "a", policy("p", n))
	}
	const replaced = `INSERT INTO documents (id, since, until, fork, site, place, bucket, schema, layer, name, content,
			metadata)
		SELECT id + 1000 * n, since, until, fork, site, place, bucket, schema, layer, name, content, metadata
		FROM documents, generate_series(1, 9) n WHERE until IS NOT NULL` // ten versions in each revision
	for _, sql := range []string{
		replaced, "VACUUM ANALYZE documents", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("live", store.Statements.LivePolicies), store.Prepare("policies", store.Statements.PoliciesAbout),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	about := map[string]string{"site": "'default'", "numbers": fmt.Sprintf("'{%d}'", changes+1), "tag": "NULL"}
	for _, sql := range []string{
		store.Execute("live", store.Statements.LivePolicies, about),
		store.Execute("policies", store.Statements.PoliciesAbout, about),
	} {
		if pages := pagesRead(t, conn, sql); pages > 12 {
			t.Errorf("%s reads %d pages", sql, pages)
		}
	}
	for revisions, want := range map[string][]int64{
		"{301}": {1, 301}, "{1}": {1}, "{2}": {1, 2}, "{2,4,301}": {1, 2, 4, 301}, "{9,9}": {1, 9}, "{}": nil,
	} {
		var since []int64
		distinct := "SELECT array_agg(DISTINCT since ORDER BY since) FROM (" +
			store.Positional(store.Statements.PoliciesAbout) + ") p"
		if err := conn.QueryRow(t.Context(), distinct, revisions, nil, "default").Scan(&since); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, since); diff != "" {
			t.Errorf("%s (-want +got)\n%s", revisions, diff)
		}
	}
}
