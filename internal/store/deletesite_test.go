package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// tablesOfSites returns the tables that have a column for the site, without their partitions.
func tablesOfSites(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return selected[string](t, conn, `SELECT table_name::text FROM information_schema.columns
		WHERE table_schema = 'public' AND column_name = 'site'
			AND NOT (SELECT c.relispartition FROM pg_class c WHERE c.oid = table_name::regclass) ORDER BY 1`)
}

func selected[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every table with a column for the site is emptied when one is deleted, and the deliveries.
func TestDatabase_SweepDeleted_tables(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	want := append(slices.DeleteFunc(tablesOfSites(t, conn), func(name string) bool { return name == "sites" }), "river_job")
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(store.SiteTables()))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// rowsOf counts the rows of a site by table; deliveries are those of river_job.
func rowsOf(t *testing.T, conn *pgx.Conn, site string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range tablesOfSites(t, conn) {
		counts[table] = selected[int](t, conn, "SELECT count(*)::int FROM "+table+" WHERE site = $1", site)[0]
	}
	counts["river_job"] = selected[int](t, conn, "SELECT count(*)::int FROM river_job WHERE args->>'site' = $1", site)[0]
	return counts
}

// fillTables adds a row to each table of the default site that has none.
func fillTables(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"INSERT INTO archives SELECT site, digest, 'x' FROM contents LIMIT 7",
		`INSERT INTO checks (site, pair) VALUES ('default', 'pair') ON CONFLICT DO NOTHING`,
		"INSERT INTO claims (site, revision, validation) VALUES ('default', 1, 'v')",
		`INSERT INTO waivers (site, revision, validation, reason, created_at, until)
			VALUES ('default', 1, 'v', 'r', now(), now())`,
		`INSERT INTO results (site, revision, name, status, validator, errors, created_at)
			SELECT 'default', 1, 'v' || n, 'success', '{}', '[]', now() FROM generate_series(1, 1500) n`,
		"INSERT INTO reported (site, revision, name) VALUES ('default', 1, 'v') ON CONFLICT DO NOTHING",
		"INSERT INTO tags (site, revision, tag, data) VALUES ('default', 1, 't', '{}')",
		"INSERT INTO verdicts (site, revision, stamp, status) VALUES ('default', 1, 7, 'success') ON CONFLICT DO NOTHING",
		"INSERT INTO events (site, number, at, type, subject, data) VALUES ('default', 1, now(), 'x', 'x', '{}')",
		"INSERT INTO outbox (site, type, subject, data) VALUES ('default', 'x', 'x', '{}')",
		`INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target, status, error, remote,
			request) VALUES ('default', now(), 'u', '', '', '', 'r', 'PUT', '/', 200, '', '', '')`,
		`INSERT INTO webhooks (site, url, types, enabled, reason, secret) VALUES ('default', 'https://a', '{}', true, '', 'x')`,
		`INSERT INTO river_job (args, kind, max_attempts, queue, state, finalized_at)
			SELECT '{"site": "x", "webhook": 1}', 'purser_webhook', 9, 'default', 'completed', now() FROM generate_series(1, 3)`,
	} {
		storetest.Execute(t, conn, sql)
	}
}

// copySite copies all rows of the default site to another one, which is archived.
func copySite(t *testing.T, conn *pgx.Conn, to string) { //nolint:unparam // it reads better with the name
	t.Helper()
	storetest.Execute(t, conn, "SET session_replication_role = replica") // for any order
	for _, table := range tablesOfSites(t, conn) {
		columns := selected[string](t, conn, `SELECT column_name::text FROM information_schema.columns
			WHERE table_schema = 'public' AND table_name = $1 AND column_name <> 'site'`, table)
		list := strings.Join(columns, ", ")
		storetest.Execute(t, conn, fmt.Sprintf("INSERT INTO %s (site, %s) OVERRIDING SYSTEM VALUE SELECT '%s', %s FROM %s "+
			"WHERE site = 'default'", table, list, to, list, table))
	}
	storetest.Execute(t, conn, "SET session_replication_role = DEFAULT")
	storetest.Execute(t, conn, "UPDATE sites SET archived_at = now() WHERE site = '"+to+"'")
}

// largeSite returns the body of a change of many documents, all of which fail.
func largeSite(documents int) string {
	var body strings.Builder
	body.WriteString(widgetSchema)
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%d", i), i))
	}
	return body.String()
}

// Of a site that is deleted nothing is left in any table, while others change; they keep all they have. Its name is free
// after that.
func TestDatabase_DeleteSite(t *testing.T) {
	t.Parallel()
	at := storetest.URL(t)
	s, other, conn := openStore(t, at, defaults()), open(t, at), storetest.Connect(t, at)
	s.WithoutGrace()
	put(t, other, "a", largeSite(3000))
	put(t, other, "a", largeSite(2000))
	fillTables(t, conn)
	copySite(t, conn, "x")
	for table, rows := range rowsOf(t, conn, "x") {
		if rows == 0 {
			t.Errorf("%s has no row of the site", table)
		}
	}
	before := rowsOf(t, conn, "default")
	event := revisions.AuditEvent{
		At: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), UserID: "anna", Rule: "purser:manage_sites", Method: "DELETE",
		Target: "/sites/x?confirm=x", Status: 202, Remote: "192.0.2.1", Request: "req-1",
	}
	if err := s.DeleteSite(t.Context(), "x", sites.Condition{}, &event); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"read": second(s.Settings(t.Context(), "x")), "delete again": s.DeleteSite(t.Context(), "x", sites.Condition{}, &event),
		"make": second(s.SetSite(t.Context(), "x", sites.Settings{}, sites.Condition{New: true}, 9, noAudit)),
	} {
		if fault.KindOf(err) != fault.Gone {
			t.Errorf("%s: %v", what, err)
		}
	}
	var changing sync.WaitGroup
	changing.Go(func() {
		for i := range 20 {
			put(t, other, "b", widget("other", i))
		}
	})
	sweepAll(t, s)
	changing.Wait()
	for table, rows := range rowsOf(t, conn, "x") {
		if rows > 0 {
			t.Errorf("%d rows are left in %s", rows, table)
		}
	}
	after := rowsOf(t, conn, "default")
	for table, rows := range before {
		if after[table] < rows {
			t.Errorf("%s of the other site has %d rows of %d", table, after[table], rows)
		}
	}
	isEntryOf(t, s, event)
	makeSite(t, s, "x")
	got, err := s.FindSite(t.Context(), "x")
	if err != nil || got.Revision != 0 || got.Documents != 0 || got.Archived || len(got.Labels) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for table, rows := range rowsOf(t, conn, "x") {
		if want := table == "sites" || table == "feeds"; want != (rows == 1) && (want || rows > 0) {
			t.Errorf("the new site has %d rows in %s", rows, table)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// isEntryOf checks that the newest entry of the audit is that of a deletion of a site of 2001 documents and 2 revisions.
func isEntryOf(t *testing.T, s *store.Store, event revisions.AuditEvent) {
	t.Helper()
	found, _, err := s.AuditEvents(t.Context(), queries.AuditQuery{Page: queries.Page{Limit: 1}})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	got := found[0]
	target, err := url.Parse(got.Target)
	if err != nil {
		t.Fatal(err)
	}
	said, err := url.ParseQuery(target.Fragment)
	if err != nil || said.Get("bytes") == "0" || said.Get("bytes") == "" {
		t.Errorf("%s: %v", got.Target, err)
	}
	said.Del("bytes")
	want := url.Values{"documents": {"2001"}, "revisions": {"2"}, "since": {"2026-01-31T12:00:00Z"}}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !got.At.After(event.At) {
		t.Errorf("it is of %v", got.At)
	}
	event.ID, event.At, event.Target = got.ID, got.At, got.Target
	if diff := cmp.Diff(event, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDatabase_DeleteSite_refused(t *testing.T) {
	t.Parallel()
	s := openStore(t, storetest.URL(t), defaults())
	makeSite(t, s, "x")
	for name, want := range map[string]fault.Kind{"x": fault.Conflict, "none": fault.NotFound} {
		if err := s.DeleteSite(t.Context(), name, sites.Condition{}, nil); fault.KindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	sweepAll(t, s)
	if _, err := s.Settings(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

// sweepAll deletes the rows of marked sites. It waits for the transactions that are as old as the marks, which may be those
// of other tests in other databases.
func sweepAll(t *testing.T, s *store.Store) {
	t.Helper()
	for left := 1; left > 0; {
		var err error
		if left, err = s.SweepDeleted(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// archived makes a site that can be deleted.
func archived(t *testing.T, s *store.Store, name string) {
	t.Helper()
	settings := sites.Settings{Archived: true}
	if _, err := s.SetSite(t.Context(), name, settings, sites.Condition{}, sites.MaxSites, noAudit); err != nil {
		t.Fatal(err)
	}
}

// The row of a site stays until the end of transactions that may not have seen the mark, and of calls that knew the site
// from a cache; the row of one that another server works on stays too.
func TestDatabase_SweepDeleted_waits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grace bool
		sql   string // in a transaction that begins before the mark
		late  string // in one that begins after it
	}{
		"older transaction": {sql: "INSERT INTO outbox (site, type, subject, data) VALUES ('x', 'x', 'x', '{}')"},
		"other server":      {late: "SELECT FROM sites WHERE site = 'x' FOR UPDATE"},
		"cache":             {grace: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := storetest.URL(t)
			s, conn, holder := openStore(t, at, defaults()), storetest.Connect(t, at), storetest.Connect(t, at)
			if !c.grace {
				s.WithoutGrace()
			}
			archived(t, s, "x")
			tx, err := holder.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), c.sql); err != nil {
				t.Fatal(err)
			}
			if err := s.DeleteSite(t.Context(), "x", sites.Condition{}, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), c.late); err != nil {
				t.Fatal(err)
			}
			if left, err := s.SweepDeleted(t.Context()); left != 1 || err != nil {
				t.Fatalf("%d sites are left, %v", left, err)
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.WithoutGrace()
			sweepAll(t, s)
			for table, rows := range rowsOf(t, conn, "x") {
				if rows > 0 {
					t.Errorf("%d rows are left in %s", rows, table)
				}
			}
		})
	}
}

// A deletion that was interrupted goes on at another server, and its entry of the audit counts what both have deleted.
func TestDatabase_RunDeletions(t *testing.T) {
	t.Parallel()
	at := storetest.URL(t)
	s, other, conn := openStore(t, at, defaults()), open(t, at), storetest.Connect(t, at)
	s.WithoutGrace()
	put(t, other, "a", widget("w", 1))
	put(t, other, "a", widget("w", 2))
	copySite(t, conn, "x")
	if err := s.DeleteSite(t.Context(), "x", sites.Condition{}, &revisions.AuditEvent{At: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	storetest.Execute(t, conn, "DELETE FROM revisions WHERE site = 'x' AND revision = 1")
	storetest.Execute(t, conn, `UPDATE sites SET deleted_audit =
		(deleted_audit::jsonb || '{"revisions": 1}')::json WHERE site = 'x'`)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.RunDeletions(ctx, slog.New(slog.DiscardHandler)) })
	gone := func(name string) {
		for {
			if _, err := s.Settings(t.Context(), name); fault.KindOf(err) == fault.NotFound {
				return
			}
		}
	}
	gone("x") // which was marked before
	archived(t, s, "y")
	if err := s.DeleteSite(t.Context(), "y", sites.Condition{}, nil); err != nil {
		t.Fatal(err)
	}
	gone("y")
	cancel()
	running.Wait()
	entries := selected[string](t, conn, "SELECT target FROM audit WHERE site = 'default'")
	if len(entries) != 1 || !strings.Contains(entries[0], "revisions=2") {
		t.Error(entries)
	}
	var counted json.RawMessage
	if err := conn.QueryRow(t.Context(), "SELECT to_json(count(*)) FROM sites").Scan(&counted); err != nil || string(counted) != "1" {
		t.Errorf("%s, %v", counted, err)
	}
}
