package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/claims"
	"purser/internal/queries"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// The pages of the list, the counts and what workers are given have the same work, whatever is known about it: that of the
// definition, name by name.
func TestStore_Work_law(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site, conn := openStore(t, url, defaults()), open(t, url), storetest.Connect(t, url)
	const made = 12
	for i := range made {
		put(t, site, "x", widget("w", i))
	}
	numbering(t, s)()
	for seed := range 12 {
		for _, sql := range []string{
			"DELETE FROM claims", "DELETE FROM verdicts", "DELETE FROM tags", "DELETE FROM outbox",
			fmt.Sprint("SELECT setseed(", seed, "/100.0)"),
			"INSERT INTO tags SELECT site, revision, 't', '{}' FROM revisions WHERE random() < 0.7",
			`INSERT INTO verdicts (site, revision, stamp, status, open, judged)
				SELECT site, revision, CASE WHEN random() < 0.1 THEN 0 ELSE stamp END, '', CASE WHEN random() < 0.9 THEN
					ARRAY(SELECT chr(96 + n) FROM generate_series(1, 6) n WHERE (n + revision) % 4 > 0) ELSE '{}' END, now()
				FROM revisions`,
			`INSERT INTO outbox (site, type, revision, subject, data) SELECT site, 'purser.validation.posted', revision,
				'revisions/' || revision || '/validations/' || chr(96 + n), '{}' FROM revisions, generate_series(1, 7) n
				WHERE revision % 3 = 0 AND random() < 0.2`,
			`INSERT INTO claims (site, revision, validation, tokens, held, attempt, worker, expires_at, requested_at, ended_at)
				SELECT site, revision, chr(96 + n), ARRAY[gen_random_uuid()], ended IS NULL AND random() < 0.7, 1, 'w',
					now() + CASE WHEN random() < 0.5 THEN interval '1 hour' ELSE interval '-1 hour' END,
					CASE WHEN ended IS NULL AND random() < 0.3 THEN now() END, ended
				FROM revisions, generate_series(1, 7) n, LATERAL (SELECT CASE WHEN random() < 0.3 THEN now() - interval '1 hour'
					WHEN random() < 0.5 THEN now() + interval '1 hour' END + n * interval '1 second' AS ended) e
				WHERE revision % 2 = 0 AND random() < 0.4`,
		} {
			storetest.Execute(t, conn, sql)
		}
		want := workByName(t, conn)
		for _, limit := range []int{1, 7, 1000} {
			if diff := cmp.Diff(want, allWork(t, s, limit)); diff != "" {
				t.Fatalf("seed %d, pages of %d (-want +got)\n%s", seed, limit, diff)
			}
		}
		checkCounts(t, s, want)
		checkClaimable(t, conn, want)
	}
}

// workByName returns the work as it is defined.
func workByName(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT r.revision || '/' || n.name || ' ' || CASE WHEN NOT coalesce(c.held, false) THEN 'open'
			WHEN c.expires_at >= now() THEN 'claimed' ELSE 'lapsed' END
		FROM revisions r CROSS JOIN (SELECT chr(96 + n) FROM generate_series(1, 7) n) n (name)
		LEFT JOIN claims c ON c.revision = r.revision AND c.validation = n.name
		LEFT JOIN verdicts v ON v.revision = r.revision AND v.stamp = r.stamp
			AND (r.revision = (SELECT head FROM sites) OR EXISTS (SELECT FROM tags t WHERE t.revision = r.revision))
		WHERE n.name = ANY(v.open) AND (c.ended_at IS NULL OR c.ended_at < v.judged) AND NOT EXISTS (
				SELECT FROM outbox o WHERE o.revision = r.revision AND o.subject LIKE '%/' || n.name)
			OR c.ended_at IS NULL AND (c.requested_at IS NOT NULL OR c.held AND c.expires_at >= now())
		ORDER BY r.revision DESC, n.name`)
	if err != nil {
		t.Fatal(err)
	}
	work, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return work
}

// allWork returns the work of all pages.
func allWork(t *testing.T, s *store.Store, limit int) (all []string) {
	t.Helper()
	for more := true; more; {
		var page []claims.Work
		var err error
		if page, more, err = s.Work(t.Context(), queries.Page{Offset: len(all), Limit: limit}); err != nil {
			t.Fatal(err)
		}
		for _, w := range page {
			all = append(all, fmt.Sprintf("%d/%s %s", w.Revision, w.Validation, w.State))
		}
	}
	return all
}

// checkCounts checks that CountWork counts the work.
func checkCounts(t *testing.T, s *store.Store, work []string) {
	t.Helper()
	want := map[string]int{"open": 0, "claimed": 0, "lapsed": 0}
	for _, w := range work {
		_, state, _ := strings.Cut(w, " ")
		want[state]++
	}
	got, err := s.CountWork(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// checkClaimable checks that SelectWork selects the work that nobody holds.
func checkClaimable(t *testing.T, conn *pgx.Conn, work []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), store.Positional(store.Statements.SelectWork),
		store.InOrder(store.Statements.SelectWork, map[string]any{
			"site": "default", "names": []string{"a", "b", "c", "d", "e", "f", "g"}, "each": 1000,
		})...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		if values[1] != int64(0) {
			got = append(got, fmt.Sprintf("%d/%s %s", values[1], values[3], values[4]))
		}
	}
	want := slices.DeleteFunc(slices.Clone(work), func(w string) bool { return strings.HasSuffix(w, " claimed") })
	if diff := cmp.Diff(want, got); rows.Err() != nil || diff != "" {
		t.Errorf("claimable: %v (-want +got)\n%s", rows.Err(), diff)
	}
}

// A page and the count read no claims of each name that verdicts lack.
func TestStore_Work_pages(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site, conn := openStore(t, url, defaults()), open(t, url), storetest.Connect(t, url)
	put(t, site, "x", widget("w", 1))
	numbering(t, s)()
	const tagged, names, most = 40, 200, 1500
	for _, sql := range []string{
		fmt.Sprint(`INSERT INTO revisions (site, revision, created_at, buckets, entries, stamp)
			SELECT 'default', i, now(), '{}', 0, i FROM generate_series(2, `, tagged, `) i`),
		"INSERT INTO tags SELECT site, revision, 't', '{}' FROM revisions",
		fmt.Sprint(`INSERT INTO verdicts (site, revision, stamp, status, open, judged) SELECT site, revision, stamp, 'failure',
			ARRAY(SELECT n || '-validation' FROM generate_series(1, `, names, `) n), now() FROM revisions
			ON CONFLICT (site, revision) DO UPDATE SET open = excluded.open`),
		`INSERT INTO claims (site, revision, validation, tokens, held, since, expires_at)
			SELECT site, revision, '1-validation', ARRAY[gen_random_uuid()], true, now(), now() + interval '1 hour' FROM revisions`,
		"VACUUM ANALYZE", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("list", store.Statements.ListWork), store.Prepare("count", store.Statements.CountWork),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{
		store.Execute("list", store.Statements.ListWork, map[string]string{"site": "'default'", "offset": "4000", "limit": "101"}),
		store.Execute("count", store.Statements.CountWork, map[string]string{"site": "'default'"}),
	} {
		if pages := pagesRead(t, conn, sql); pages > most {
			t.Errorf("%s reads %d pages, and %d names are open", sql, pages, tagged*names)
		}
	}
}
