package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// The client versions, which hardly any site has, and the documents of a rare schema are found by index also where all
// others share a schema.
func TestStore_rareSchemas(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	const documents = 1000
	var body strings.Builder
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%d", i), 1))
	}
	body.WriteString(strings.Replace(widget("rare", 1), "acme/Widget/v1", "acme/Rare/v1", 1))
	put(t, s, "a", body.String())
	for _, sql := range []string{
		"VACUUM ANALYZE documents", "VACUUM ANALYZE contents", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("versions", store.Statements.LiveVersions), store.Prepare("kinds", store.Statements.LiveOfKinds),
		"UPDATE sites SET stamp = 7",
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	versions := store.Execute("versions", store.Statements.LiveVersions, map[string]string{
		"site": "'default'", "known": "0",
	})
	kinds := func(known, schema string) string {
		return store.Execute("kinds", store.Statements.LiveOfKinds, map[string]string{
			"site": "'default'", "known": known, "kinds": "'{" + schema + "}'",
		})
	}
	for sql, most := range map[string]int{
		versions:                     10,
		kinds("0", "acme/Rare/v1"):   10,
		kinds("7", "acme/Widget/v1"): 4, // of a site whose live documents are known
	} {
		if pages := pagesRead(t, conn, sql); pages > most {
			t.Errorf("%s reads %d pages", sql, pages)
		}
	}
}

// A violation is stored once, also where later revisions are about other documents. A page of entries is read by index,
// and without the violations that are not on it.
func TestStore_manyViolations(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	const documents, changes = 500, 6
	put(t, s, "schemas", widgetSchema)
	for n := range changes {
		var body strings.Builder
		for i := range documents {
			body.WriteString(widget(fmt.Sprintf("w%d", i), n))
		}
		put(t, s, "a", body.String())
	}
	for i := range 3 {
		put(t, s, "b", strings.Replace(widget("other", i), "acme/Widget/v1", "acme/Other/v1", 1))
	}
	var entries, violations int
	const count = "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM violations)"
	if err := conn.QueryRow(t.Context(), count).Scan(&entries, &violations); err != nil {
		t.Fatal(err)
	}
	if want := documents * changes; entries != want || violations != want {
		t.Errorf("%d entries and %d violations are stored, want %d of each", entries, violations, want)
	}
	for _, sql := range []string{
		"VACUUM ANALYZE entries", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("failures", store.Statements.Failures),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	failures := func(revision, from, to string) string {
		return store.Execute("failures", store.Statements.Failures, map[string]string{
			"site": "'default'", "revision": revision, "from": from, "to": to, "failures_only": "true", "limit": "10",
			"before": "'{}'", "after": "'{}'", "open": "true", "document": "''", "names": "'{}'",
		})
	}
	for _, sql := range []string{
		failures("2", "490", "500"), // of the payload
		failures("8", "0", "1"),     // before the violations
	} {
		if pages := pagesRead(t, conn, sql); pages > 9 {
			t.Errorf("%s reads %d pages", sql, pages)
		}
	}
}

// The first page of a document's history reads the revisions around its own versions, however many older ones there are.
func TestStore_longHistory(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	const versions = 500
	for i := range versions {
		put(t, s, "a", widget("w", i))
	}
	for _, sql := range []string{
		"VACUUM ANALYZE documents", "VACUUM ANALYZE contents", "VACUUM ANALYZE revisions",
		"SET plan_cache_mode = force_generic_plan",
		store.Prepare("boundaries", store.Statements.Boundaries),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	sql := store.Execute("boundaries", store.Statements.Boundaries, map[string]string{
		"site": "'default'", "name": "'w'", "schema": "'acme/Widget/v1'", "layer": "'site'", "cleartext": "false",
		"offset": "0", "limit": "5", "max_bytes": "1000000",
	})
	if pages := pagesRead(t, conn, sql); pages > 120 {
		t.Errorf("%s reads %d pages", sql, pages)
	}
}

// The documents of a rare schema or of a small bucket are found by index, also where all others share theirs.
func TestStore_rareSelections(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn, kept := open(t, url), storetest.Connect(t, url), openStore(t, url, defaults())
	const documents = 1000
	var body strings.Builder
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%d", i), 1))
	}
	put(t, s, "a", body.String())
	newest := put(t, s, "b", strings.Replace(widget("rare", 1), "acme/Widget/v1", "acme/Rare/v1", 1)).Revision
	for _, sql := range []string{
		"VACUUM ANALYZE documents", "VACUUM ANALYZE contents", "SET plan_cache_mode = force_generic_plan",
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	for i, selection := range []queries.Selection{
		{Schemas: []string{"acme/Rare/v1"}}, {Schemas: []string{"acme/Rare"}}, {Buckets: []string{"b", "b"}},
	} {
		selection.Page = queries.Page{Limit: 10}
		sql, args := kept.SelectionOf(newest, selection)
		name := fmt.Sprintf("selection%d", i)
		if _, err := conn.Exec(t.Context(), "PREPARE "+name+" AS "+sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		if pages := pagesRead(t, conn, "EXECUTE "+name+literals(args)); pages > 20 {
			t.Errorf("%v: %d pages are read", selection, pages)
		}
	}
}

// The revisions that were made from a commit are found by index, also the newest one, where all others have a source too.
func TestStore_rareSources(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn, kept := open(t, url), storetest.Connect(t, url), openStore(t, url, defaults())
	put(t, s, "a", widget("w", 1))
	const more = `INSERT INTO revisions (site, revision, created_at, buckets, entries, stamp, source, source_commit)
		SELECT site, n, created_at, buckets, entries, stamp, 'https://git.example/' || md5(n::text), md5(n::text)
		FROM revisions CROSS JOIN generate_series(2, 20000) n`
	for _, sql := range []string{more, "VACUUM ANALYZE revisions", "SET plan_cache_mode = force_generic_plan"} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	const commit = "e93028bdc1aacdfb3687181f2031765d" // of revision 3000
	newest := []queries.SortKey{queries.ByNumber}
	for i, query := range []queries.Query{
		{Commit: commit},
		{Commit: commit[:7]},
		{Commit: commit[:7], Sort: newest, Backwards: true},
		{Source: "https://git.example/" + commit},
		{Source: "https://git.example/" + commit, Sort: newest, Backwards: true},
	} {
		query.Page = queries.Page{Limit: 2}
		numbers, _, err := kept.List(t.Context(), query)
		if err != nil || len(numbers) != 1 || numbers[0] != 3000 {
			t.Errorf("%v: %v, %v", query, numbers, err)
		}
		sql, args := kept.ListedOf(query)
		name := fmt.Sprintf("listed%d", i)
		if _, err := conn.Exec(t.Context(), "PREPARE "+name+" AS "+sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
		if pages := pagesRead(t, conn, "EXECUTE "+name+literals(args)); pages > 20 {
			t.Errorf("%v: %d pages are read", query, pages)
		}
	}
}

// A search selects among some of the documents in the order in which they were added, whatever the order that it sorts
// those in.
func TestStore_Documents_among(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, site := openStore(t, url, defaults()), open(t, url)
	put(t, site, "a", widget("e", 1)+widget("d", 1)+widget("c", 1))
	put(t, site, "b", widget("b", 1)+widget("a", 1))
	newest := put(t, site, "a", widget("e", 2)+widget("d", 1)+widget("c", 1)).Revision
	byName := []queries.SortKey{queries.ByName}
	for want, selection := range map[string]queries.Selection{
		"e d":     {Among: 2},
		"d e":     {Among: 2, Sort: byName},
		"c d":     {Among: 2, Searched: 1, Sort: byName},
		"c b":     {Among: 2, Searched: 2},
		"a":       {Among: 2, Searched: 3, Schemas: []string{"acme"}, Names: []string{"a", "b", "c", "d"}},
		"a b":     {Among: 2, Backwards: true},
		"b c d e": {Among: 4, Sort: byName},
	} {
		selection.Page.Limit = -1
		found, err := s.Documents(t.Context(), newest, selection)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, doc := range found.Documents {
			names = append(names, doc.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%+v: %s, want %s", selection, got, want)
		}
	}
}

// After the first large change the database knows how many rows its tables have, also those that no plan was made for yet.
func TestStore_Append_analyzes(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	known := func(table string) (rows float64) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), "SELECT reltuples FROM pg_class WHERE relname = $1", table).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	const documents = 200
	var body strings.Builder
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%d", i), 1))
	}
	put(t, s, "b", widget("w", 1))
	if rows := known("documents"); rows >= 0 {
		t.Errorf("%v documents are known after a small change", rows)
	}
	put(t, s, "a", body.String())
	for _, table := range []string{"documents", "contents", "revisions"} {
		for known(table) < 1 {
			select {
			case <-t.Context().Done():
				t.Fatalf("the statistics of %s are not updated", table)
			case <-time.After(time.Millisecond):
			}
		}
	}
}

// refill gives tables the statistics of emptied ones, as they have after a purge that is followed by large changes.
func refill(t *testing.T, conn *pgx.Conn, tables ...string) {
	t.Helper()
	for _, table := range tables {
		for _, sql := range []string{
			"CREATE TEMPORARY TABLE kept AS TABLE " + table, "DELETE FROM " + table, "VACUUM ANALYZE " + table,
			"INSERT INTO " + table + " TABLE kept", "DROP TABLE kept",
		} {
			storetest.Execute(t, conn, sql)
		}
	}
}

// literals writes the arguments of a prepared statement.
func literals(args []any) string {
	texts := make([]string, len(args))
	for i, arg := range args {
		list := strings.NewReplacer("[", "{", "]", "}", " ", ",")
		texts[i] = "'" + list.Replace(fmt.Sprint(arg)) + "'"
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// Ranges of schemas contain each schema once.
func TestRangesOf(t *testing.T) {
	t.Parallel()
	for filters, want := range map[string]string{
		"":                              "",
		"acme/A/v1 acme/B/v1 acme/A/v1": "acme/A/v1-acme/A/v1 acme/B/v1-acme/B/v1",
		"acme/A acme/A/v1 acme/AB/v1":   "acme/A/-acme/A0 acme/AB/v1-acme/AB/v1",
		"acme/A/v1 acme acme/A acme0":   "acme/-acme0 acme0/-acme00",
	} {
		from, to := store.RangesOf(strings.Split(filters, " ")...)
		var got []string
		for i := range from {
			got = append(got, from[i]+"-"+to[i])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", filters, got, want)
		}
	}
}
