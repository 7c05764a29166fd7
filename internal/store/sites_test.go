package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// noted returns an audit that counts outcomes, and adds an entry for each.
func noted(outcomes *[]sites.Outcome) sites.Audit {
	return func(outcome sites.Outcome) *revisions.AuditEvent {
		*outcomes = append(*outcomes, outcome)
		return &revisions.AuditEvent{At: time.Unix(0, 0), UserID: "u", Rule: "r", Method: "PUT", Target: "/sites/x", Status: 200}
	}
}

func TestDatabase_SetSite(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	const most = 3 // with the default one
	labels := map[string]string{"region": "eu"}
	full := sites.Settings{
		Labels: labels, Limits: sites.Limits{Documents: new(int64(5)), Changes: new(int64(6)), Keep: new(int64(7))},
		Archived: true,
	}
	for i, c := range []struct {
		name      string
		settings  sites.Settings
		mustBeNew bool
		want      sites.Outcome
		fault     fault.Kind // Internal for none
	}{
		{"a", sites.Settings{}, false, sites.Made, fault.Internal},
		{"a", sites.Settings{}, false, sites.Unchanged, fault.Internal},
		{"a", sites.Settings{Labels: map[string]string{}}, false, sites.Unchanged, fault.Internal},
		{"a", full, true, 0, fault.Stale},
		{"a", full, false, sites.Changed, fault.Internal},
		{"a", full, false, sites.Unchanged, fault.Internal},
		{"b", full, true, sites.Made, fault.Internal},
		{"c", full, false, 0, fault.Conflict},
		{"a", sites.Settings{Labels: labels}, false, sites.Changed, fault.Internal},
		{"default", sites.Settings{Archived: true}, false, sites.Changed, fault.Internal},
	} {
		var told []sites.Outcome
		got, err := s.SetSite(t.Context(), c.name, c.settings, sites.Condition{New: c.mustBeNew}, most, noted(&told))
		if got != c.want || fault.KindOf(err) != c.fault {
			t.Errorf("%d: %v, %v", i, got, err)
		}
		if audited := err == nil && c.want != sites.Unchanged; audited != slices.Contains(told, c.want) {
			t.Errorf("%d: audited %v", i, told)
		}
		if err != nil {
			continue
		}
		settings, err := s.Settings(t.Context(), c.name)
		if diff := cmp.Diff(c.settings, settings, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%d: %v (-want +got)\n%s", i, err, diff)
		}
	}
	if names, err := s.SiteNames(t.Context()); err != nil || !slices.Equal(names, []string{"a", "b", "default"}) {
		t.Errorf("%v, %v", names, err)
	}
	var entries int
	err := conn.QueryRow(t.Context(), "SELECT count(*) FROM audit WHERE site = 'default' AND target = '/sites/x'").Scan(&entries)
	if err != nil || entries != 5 {
		t.Errorf("%d entries in the audit, %v", entries, err)
	}
	if _, err := s.Settings(t.Context(), "c"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// There are never more sites than there may be: who makes the last one at the same time as another waits for him.
func TestDatabase_SetSite_bound(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	const most = 2 // with the default one
	second := make(chan error, 1)
	_, err := s.SetSite(t.Context(), "a", sites.Settings{}, sites.Condition{}, most, func(sites.Outcome) *revisions.AuditEvent {
		go func() {
			_, err := s.SetSite(context.Background(), "b", sites.Settings{}, sites.Condition{}, most, noAudit)
			second <- err
		}()
		const blocked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		for waits := false; !waits && len(second) == 0; {
			waits = selected[bool](t, conn, "SELECT EXISTS ("+blocked+")")[0]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; fault.KindOf(err) != fault.Conflict {
		t.Error(err)
	}
	if names, err := s.SiteNames(t.Context()); err != nil || len(names) != most {
		t.Errorf("%v, %v", names, err)
	}
}

// A new site is as the default one was when it began, but for its stamp.
func TestDatabase_SetSite_asTheFirst(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	makeSite(t, s, "a")
	const rows = `SELECT (to_jsonb(s) - '{site,stamp,created_at,changed_at}'::text[] || to_jsonb(f) - 'site')::text
		FROM sites s JOIN feeds f USING (site) WHERE site = $1`
	var first, second string
	if err := conn.QueryRow(t.Context(), rows, "default").Scan(&first); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), rows, "a").Scan(&second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func makeSite(t *testing.T, s *store.Store, name string) {
	t.Helper()
	if _, err := s.SetSite(t.Context(), name, sites.Settings{}, sites.Condition{}, sites.MaxSites, noAudit); err != nil {
		t.Fatal(err)
	}
}

func noAudit(sites.Outcome) *revisions.AuditEvent { return nil }

func TestDatabase_FindSites(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, open(t, url), "b", widget("w", 1)) // revision 1 of default
	for _, sql := range []string{
		`INSERT INTO sites (site, epoch, head, documents, live, stamp, labels, archived_at, created_at, changed_at, deleted)
		VALUES ('a', 1, 3, 9, 9, 7, '{"region": "eu", "wave": "1"}', NULL, '2020-01-01', '2020-01-02', NULL),
			('b', 1, 1, 1, 1, 7, '{"region": "eu", "wave": "2"}', now(), '2020-01-01', '2020-01-04', NULL),
			('c', 1, 0, 0, 0, 7, '{"region": "us"}', NULL, '2020-01-01', '2020-01-03', NULL),
			('gone', 1, 1, 1, 1, 7, '{}', now(), '2020-01-01', '2020-01-01', '7')`,
		`INSERT INTO feeds (site, newest, oldest, status, judged) VALUES ('a', 0, 1, 'success', 3), ('b', 0, 1, 'failure', 1),
			('c', 0, 1, 'failure', 0), ('gone', 0, 1, 'failure', 1)`,
		`INSERT INTO revisions (site, revision, created_at, buckets, entries, stamp)
		VALUES ('a', 3, '2020-01-05', '{}', 0, 7), ('a', 2, '2020-01-09', '{}', 0, 6)`,
		"UPDATE sites SET changed_at = '2020-01-06', created_at = '2020-01-01' WHERE site = 'default'",
		"UPDATE revisions SET created_at = '2020-01-05' WHERE site = 'default'",
	} {
		storetest.Execute(t, conn, sql)
	}
	for name, c := range map[string]struct {
		query sites.Query
		want  string // names; a plus sign for more
	}{
		"all":                 {sites.Query{}, "a b c default"},
		"backwards":           {sites.Query{Backwards: true}, "default c b a"},
		"page":                {sites.Query{Limit: 2, Offset: 1}, "b c+"},
		"last page":           {sites.Query{Limit: 2, Offset: 2}, "c default"},
		"no rows":             {sites.Query{Offset: 9}, ""},
		"by status":           {sites.Query{Sort: sites.ByStatus}, "b a c default"},
		"by status backwards": {sites.Query{Sort: sites.ByStatus, Backwards: true}, "c default a b"},
		"by change":           {sites.Query{Sort: sites.ByChange}, "c b a default"},
		"by documents":        {sites.Query{Sort: sites.ByDocuments, Backwards: true}, "a b default c"},
		"failures":            {sites.Query{Status: "failure"}, "b"},
		"labels":              {sites.Query{Labels: map[string]string{"region": "eu"}}, "a b"},
		"two labels":          {sites.Query{Labels: map[string]string{"region": "eu", "wave": "2"}}, "b"},
		"archived":            {sites.Query{Archived: new(true)}, "b"},
		"not archived":        {sites.Query{Archived: new(false)}, "a c default"},
		"among":               {sites.Query{Among: []string{"c", "a", "gone", "none"}}, "a c"},
		"among none":          {sites.Query{Among: []string{}}, ""},
	} {
		if c.query.Limit == 0 {
			c.query.Limit = 10
		}
		found, more, err := s.FindSites(t.Context(), c.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var names []string
		for _, site := range found {
			names = append(names, site.Name)
			one, err := s.FindSite(t.Context(), site.Name)
			if diff := cmp.Diff(site, one); err != nil || diff != "" {
				t.Errorf("%s: %s alone: %v\n%s", name, site.Name, err, diff)
			}
		}
		got := strings.Join(names, " ")
		if more {
			got += "+"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	got, err := s.FindSite(t.Context(), "a")
	day := func(n int) time.Time { return time.Date(2020, 1, n, 0, 0, 0, 0, time.Local) }
	want := sites.Site{
		Settings: sites.Settings{Labels: map[string]string{"region": "eu", "wave": "1"}}, Name: "a", Revision: 3, Stamp: 7,
		Status: "success", Documents: 9, CreatedAt: day(1), ChangedAt: day(5),
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(24*time.Hour)); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := s.FindSite(t.Context(), "c"); err != nil || got.Stamp != 0 || got.Status != "" {
		t.Errorf("a site without a revision: %+v, %v", got, err)
	}
	for name, want := range map[string]fault.Kind{"gone": fault.Gone, "none": fault.NotFound} {
		if _, err := s.FindSite(t.Context(), name); fault.KindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// manySites adds a number of sites by SQL, of which every hundredth fails.
const manySites = `INSERT INTO sites (site, epoch, head, documents, live, stamp, labels)
	SELECT 'site-' || n, 1, 1, 100, 100, n, jsonb_build_object('region', 'r' || n % 10) FROM generate_series(1, %d) n;
	INSERT INTO feeds (site, newest, oldest, status, judged)
	SELECT 'site-' || n, 0, 1, CASE WHEN n %% 100 = 0 THEN 'failure' ELSE 'success' END, 1 FROM generate_series(1, %[1]d) n;
	INSERT INTO revisions (site, revision, created_at, buckets, entries, stamp)
	SELECT 'site-' || n, 1, now(), '{}', 0, n FROM generate_series(1, %[1]d) n`

// The failing ones of many sites are found by index.
func TestDatabase_FindSites_many(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	for sql := range strings.SplitSeq(fmt.Sprintf(strings.ReplaceAll(manySites, "n % 10", "n %% 10"), 10_000), ";") {
		storetest.Execute(t, conn, sql)
	}
	for _, sql := range []string{"VACUUM ANALYZE sites", "VACUUM ANALYZE feeds", "VACUUM ANALYZE revisions"} {
		storetest.Execute(t, conn, sql)
	}
	found, more, err := s.FindSites(t.Context(), sites.Query{Status: "failure", Limit: 99})
	if err != nil || len(found) != 99 || !more {
		t.Fatalf("%d, %v, %v", len(found), more, err)
	}
	sql, args, err := store.SitesOf(sites.Query{Status: "failure", Limit: 99})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Execute(t, conn, "SET plan_cache_mode = force_generic_plan")
	storetest.Execute(t, conn, "SET enable_seqscan = off")
	storetest.Execute(t, conn, "PREPARE found AS "+sql)
	if pages := pagesRead(t, conn, fmt.Sprintf("EXECUTE found(%d, %d)", args...)); pages > 1200 {
		t.Errorf("%d pages are read", pages)
	}
}

// Sites are selected by labels for metrics, and counted by their status.
func TestDatabase_sitesOfMetrics(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := openStore(t, url, defaults()), storetest.Connect(t, url)
	for name, settings := range map[string]sites.Settings{
		"b": {Labels: map[string]string{"watch": "yes", "region": "eu"}}, "a": {Labels: map[string]string{"watch": "yes"}},
		"e": {Labels: map[string]string{"watch": "no"}}, "c": {Labels: map[string]string{"watch": "yes"}, Archived: true},
		"d": {Labels: map[string]string{"watch": "yes"}, Archived: true}, "due": {}, "old": {},
	} {
		var told []sites.Outcome
		if _, err := s.SetSite(t.Context(), name, settings, sites.Condition{New: true}, sites.MaxSites, noted(&told)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.DeleteSite(t.Context(), "d", sites.Condition{}, &revisions.AuditEvent{}); err != nil {
		t.Fatal(err)
	}
	for site, set := range map[string]string{
		"default": "status = 'failure'", "b": "status = 'success', due = now() + interval '1 hour'", "a": "status = 'failure'",
		"c": "status = 'failure'", "due": "status = 'success', due = now() - interval '1 second'",
		"old": "status = 'success', judged = 1",
	} {
		if _, err := conn.Exec(t.Context(), "UPDATE feeds SET "+set+" WHERE site = $1", site); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		labels map[string]string
		most   int
		want   []string
		all    int
	}{
		{map[string]string{"watch": "yes"}, 3, []string{"default", "a", "b"}, 3},
		{map[string]string{"watch": "yes"}, 2, []string{"default", "a"}, 3},
		{map[string]string{"watch": "yes", "region": "eu"}, 9, []string{"default", "b"}, 2},
		{map[string]string{"watch": "never"}, 9, []string{"default"}, 1},
	} {
		names, all, err := s.SitesWithLabels(t.Context(), c.labels, c.most)
		if err != nil || all != c.all || !slices.Equal(names, c.want) {
			t.Errorf("%v: %v of %d, %v", c.labels, names, all, err)
		}
	}
	counts, err := s.CountSites(t.Context())
	want := map[string]int{"success": 1, "failure": 2, "unknown": 3, "archived": 1}
	if diff := cmp.Diff(want, counts); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
