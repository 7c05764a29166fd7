package store_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/changes"
	"purser/internal/events"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/sitefile"
	"purser/internal/sites"
	"purser/internal/store"
	"purser/internal/store/storetest"
	"purser/internal/webhooks"
)

// Keys of the secrets of the sites of these tests, and texts that look as if sealed by them.
const firstKey, secondKey = 0x01020304, 0x05060708

var firstSealed, secondSealed = []byte("\x01\x01\x02\x03\x04 x"), []byte("\x01\x05\x06\x07\x08 x")

func anyKey(uint32) bool { return true }

// movable fills all tables of the default site, with values that are hard to write.
func movable(t *testing.T, url string) {
	t.Helper()
	s, conn := open(t, url), storetest.Connect(t, url)
	put(t, s, "schemas", widgetSchema)
	put(t, s, "a", widget("p", 1)+widget("q", 2)+requiring("v", "w"))
	put(t, s, "a", widget("p", 3)+requiring("v", "w"))
	fillTables(t, conn)
	for _, sql := range []string{
		`UPDATE contents SET sealed = '\x010102030420' WHERE digest = (SELECT min(digest::text)::bytea FROM contents)`,
		`INSERT INTO texts (site, block, body, reference) VALUES ('default', 99, '\x010506070820', 'secret://x')`,
		`UPDATE webhooks SET secret = '\x01010203042020', previous = '\x0100'`,
		`INSERT INTO river_job (args, kind, max_attempts, attempt, state, scheduled_at) VALUES
			('{"webhook": 1, "name": "1-7", "event": {"a": "\\"}}', 'purser_webhook', 9, 9, 'running', now()),
			('{"site": "default", "webhook": 1, "name": "1-8", "event": {}}', 'purser_webhook', 9, 2, 'retryable', now()),
			('{"site": "other", "webhook": 1, "name": "1-9", "event": {}}', 'purser_webhook', 9, 2, 'retryable', now())`,
		`UPDATE tags SET data = E'{"a":\t"\\r\n\r\\\\."}'`,
		`UPDATE results SET message = E'\\.\n\\N\tä\r\n', inputs = '[]' WHERE id % 7 = 0`,
		`INSERT INTO entries (site, revision, entry, document, rule) VALUES ('default', 1, 77, 1, '\x00ff0a0d')`,
		`INSERT INTO violations (site, since, document, rule) VALUES ('default', 1, 7, '')`,
		`UPDATE sites SET labels = '{"wave": "1"}', keep = 7, settled = 1, prunes = 2`,
	} {
		storetest.Execute(t, conn, sql)
	}
	for table, rows := range rowsOf(t, conn, "default") {
		if rows == 0 {
			t.Errorf("%s has no row", table)
		}
	}
}

// exported returns the file of a site.
func exported(t *testing.T, url, name string) []byte {
	t.Helper()
	var file bytes.Buffer
	out, err := openStore(t, url, defaults()).ExportSite(t.Context(), name, &file, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if out.Archived != (name == "x") {
		t.Errorf("it is said to be archived: %v", out.Archived)
	}
	return file.Bytes()
}

func imported(t *testing.T, url, name string, file io.Reader) error {
	t.Helper()
	_, err := openStore(t, url, defaults()).ImportSite(t.Context(), name, file, store.Import{HasKey: anyKey})
	return err
}

// allRows returns the rows of a site by table, as text. Texts are counted from elsewhere after an import, and the feed has
// another time; of deliveries there is what an import keeps of pending ones.
func allRows(t *testing.T, conn *pgx.Conn, name string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, table := range tablesOfSites(t, conn) {
		rows[table] = selected[string](t, conn, "SELECT (to_jsonb(t) - '{"+map[string]string{"sites": "texts", "feeds": "at"}[table]+
			"}'::text[])::text FROM "+table+" t WHERE site = $1 ORDER BY 1", name)
	}
	rows["river_job"] = selected[string](t, conn, `SELECT concat_ws(' ', args - 'site', least(attempt, 8), scheduled_at, metadata)
		FROM river_job WHERE kind = 'purser_webhook' AND coalesce(args->>'site', 'default') = $1
		AND finalized_at IS NULL ORDER BY 1`, name)
	return rows
}

// A site moves with all its rows, to a database where it exists and is empty, and others have theirs. Nothing of others
// changes, but for ids of the audit of the site that was empty.
func TestDatabase_ImportSite(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	movable(t, from)
	source, target, kept := storetest.Connect(t, from), storetest.Connect(t, to), openStore(t, to, defaults())
	makeSite(t, kept, "other")
	storetest.Execute(t, target, `INSERT INTO audit (site, at, user_id, user_name, project, end_user, rule, method, target,
		status, error, remote, request) SELECT site, now(), 'early', n::text, '', '', 'r', 'PUT', '/', 403, '', '', ''
		FROM generate_series(1, 3) n, sites`)
	other := allRows(t, target, "other")
	file := exported(t, from, "default")
	moved, err := kept.ImportSite(t.Context(), "default", iotest.OneByteReader(bytes.NewReader(file)), store.Import{
		HasKey: func(key uint32) bool { return key == firstKey || key == secondKey },
		Audit:  &revisions.AuditEvent{At: time.Now(), UserName: "anna", Rule: "r", Method: "PUT", Status: 201},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := allRows(t, source, "default")
	for _, table := range moved {
		if int(table.Rows) != len(want[table.Name]) || table.Rows > 0 && table.Bytes == 0 {
			t.Errorf("%+v, want %d rows", table, len(want[table.Name]))
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(names(moved)))); diff != "" {
		t.Errorf("tables (-want +got)\n%s", diff)
	}
	early := `user_id": "early"`
	got := allRows(t, target, "default")
	var others []string
	got["audit"] = slices.DeleteFunc(got["audit"], func(row string) bool {
		isOther := strings.Contains(row, early) || strings.Contains(row, `"anna"`)
		if isOther {
			others = append(others, row)
		}
		return isOther
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(others) != 4 || !strings.Contains(strings.Join(others, ""), "#documents=5&imported=2") {
		t.Errorf("the audit of before, and of the import: %s", others)
	}
	if order := selected[string](t, target, `SELECT user_name FROM audit WHERE site = 'default' AND user_id = 'early'
		ORDER BY id`); !slices.Equal(order, []string{"1", "2", "3"}) {
		t.Errorf("the audit of before is in the order %s", order)
	}
	if diff := cmp.Diff(other, allRows(t, target, "other")); diff != "" {
		t.Errorf("another site (-want +got)\n%s", diff)
	}
	if again := exported(t, to, "other"); bytes.Contains(again, []byte("anna")) {
		t.Error("the entry is of another site")
	}
}

func names(tables []store.MovedTable) (all []string) {
	for _, table := range tables {
		all = append(all, table.Name)
	}
	return all
}

// Every table with a column for the site is in the file, and every column.
func TestDatabase_ExportSite_tables(t *testing.T) {
	t.Parallel()
	conn := storetest.Connect(t, storetest.URL(t))
	got := store.MovedColumns()
	delete(got, "river_job")
	want := map[string][]string{}
	for _, table := range tablesOfSites(t, conn) {
		want[table] = selected[string](t, conn, `SELECT column_name::text FROM information_schema.columns
			WHERE table_schema = 'public' AND table_name = $1 AND column_name <> 'site'
			AND (table_name <> 'sites' OR column_name NOT LIKE 'deleted%') ORDER BY column_name COLLATE "C"`, table)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// timeOfExport is in the manifest and in the headers.
var timeOfExport = regexp.MustCompile(`"at": "[^"]*"`)

// Two exports of the same site differ in their time, and in the digest of all.
func TestDatabase_ExportSite_deterministic(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	movable(t, url)
	one, two := members(t, exported(t, url, "default")), members(t, exported(t, url, "default"))
	for _, file := range []map[string]string{one, two} {
		file["manifest.json"] = timeOfExport.ReplaceAllString(file["manifest.json"], "")
		delete(file, "sha256")
	}
	if diff := cmp.Diff(one, two); diff != "" {
		t.Errorf("(-one +two)\n%s", diff)
	}
}

// Whatever a site that was moved is asked, it answers as before; and it goes on: with revisions, rollbacks, prunes,
// results of claims that were made before, waivers, tags and ids in their order.
func TestDatabase_ImportSite_goesOn(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	source, old := open(t, from), openStore(t, from, defaults())
	put(t, source, "schemas", widgetSchema)
	put(t, source, "policy", requiring("v-validation", "w-validation"))
	put(t, source, "a", widget("p", 1)+widget("q", 2))
	if _, _, err := source.PutPackage(t.Context(), "pkg", "x.A", packed(t, "x.A", 1), revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	numbering(t, old)()
	ask := asking("worker", "v-validation")
	held, err := old.Claim(t.Context(), ask)
	if err != nil || !held.Found {
		t.Fatalf("%+v, %v", held, err)
	}
	if _, err := old.AddWebhook(t.Context(), webhooks.Webhook{URL: "https://a.example", Enabled: true, Secret: firstSealed}, 9); err != nil {
		t.Fatal(err)
	}
	// Ids of the target's sequences are behind those of the site, and the site's webhook has the id of another one's.
	target, kept := open(t, to), openStore(t, to, defaults())
	makeSite(t, kept, "other")
	other := kept.Site("other")
	id, err := other.AddWebhook(t.Context(), webhooks.Webhook{URL: "https://b.example", Enabled: true, Secret: secondSealed}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Enqueue(t.Context(), id, events.Event{Type: events.WebhookPing, At: time.Now(), Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := imported(t, to, "default", bytes.NewReader(exported(t, from, "default"))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asked(t, source, old), asked(t, target, kept)); diff != "" {
		t.Errorf("answers (-want +got)\n%s", diff)
	}
	if of, _, err := kept.Deliveries(t.Context(), id, queries.Page{Limit: 9}); err != nil || len(of) != 0 {
		t.Errorf("deliveries of another site's webhook: %v, %v", of, err)
	}
	if second, err := kept.AddWebhook(t.Context(), webhooks.Webhook{URL: "https://c.example", Secret: firstSealed}, 9); err != nil || second <= id {
		t.Errorf("the next webhook has id %d, %v", second, err)
	}
	if refused := postFor(t, kept, held.Work, ask.Token); refused != "" {
		t.Errorf("the result of a claim that was made before: %s", refused)
	}
	written := put(t, target, "a", widget("p", 5))
	if written.Revision != 5 {
		t.Errorf("the next revision is %d", written.Revision)
	}
	if _, err := target.Rollback(t.Context(), 3, revisions.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := target.Prune(t.Context(), 2, revisions.Options{}); err != nil {
		t.Error(err)
	}
	numbering(t, kept)()
	if err := imported(t, to, "other", bytes.NewReader(exported(t, to, "default"))); fault.KindOf(err) != fault.Invalid {
		t.Errorf("import of another site's file: %v", err)
	}
}

// asked returns answers about a site.
func asked(t *testing.T, s site, kept *store.Store) (all []string) {
	t.Helper()
	ctx, page := t.Context(), queries.Page{Limit: 100}
	for revision := int64(1); revision <= 4; revision++ {
		status, err := s.Show(ctx, revision)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(status.Revision), fmt.Sprint(shown(t, s, revision)))
	}
	hooks, err := kept.Webhooks(ctx)
	work, _, workErr := kept.Work(ctx, page)
	audit, _, auditErr := kept.AuditEvents(ctx, queries.AuditQuery{Page: page})
	packages, packagesErr := s.Packages(ctx, 4)
	if err := errors.Join(err, workErr, auditErr, packagesErr); err != nil {
		t.Fatal(err)
	}
	return append(all, fmt.Sprint(hooks), fmt.Sprint(work), fmt.Sprint(audit), fmt.Sprint(packages))
}

// members returns the entries of a file.
func members(t *testing.T, file []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	archive := tar.NewReader(bytes.NewReader(file))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = string(text)
	}
}

// remade returns a file with changed manifest and parts, and the digest of these.
func remade(t *testing.T, file []byte, change func(*sitefile.Manifest, map[string]string)) []byte {
	t.Helper()
	all := members(t, file)
	var manifest sitefile.Manifest
	if err := json.Unmarshal([]byte(all["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	change(&manifest, all)
	var made bytes.Buffer
	w, err := sitefile.NewWriter(&made, manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range manifest.Tables {
		if err := w.Begin(table.Name); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, all[table.Name+"/00000001"]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return made.Bytes()
}

// table returns a table of a manifest.
func tableOf(m *sitefile.Manifest, name string) *sitefile.Table {
	return &m.Tables[slices.IndexFunc(m.Tables, func(t sitefile.Table) bool { return t.Name == name })]
}

// What cannot be imported changes nothing in any table, and the error says why.
func TestDatabase_ImportSite_refused(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	movable(t, from)
	conn, kept := storetest.Connect(t, to), openStore(t, to, defaults())
	makeSite(t, kept, "other")
	if _, err := kept.AddWebhook(t.Context(), webhooks.Webhook{URL: "https://a.example", Secret: firstSealed}, 9); err != nil {
		t.Fatal(err)
	}
	file := exported(t, from, "default")
	storetest.Execute(t, conn, "DELETE FROM webhooks")
	before := storetest.Tables(t, conn)
	changed := func(change func(*sitefile.Manifest, map[string]string)) []byte { return remade(t, file, change) }
	all := members(t, file)
	damaged := bytes.Clone(file)
	damaged[bytes.Index(file, []byte(all["tags/00000001"]))+len("1\t")]++
	for name, c := range map[string]struct {
		file []byte
		keys []uint32
		want string
	}{
		"empty":          {nil, nil, "it is not a file of"},
		"no tar":         {[]byte(strings.Repeat("x", 2000)), nil, "it is not a file of"},
		"truncated":      {file[:len(file)/2], nil, "its end is missing"},
		"without digest": {file[:bytes.LastIndex(file, []byte("sha256"))], nil, "its end is missing"},
		"damaged":        {damaged, nil, ""},
		"a key missing": {file, []uint32{firstKey}, "secrets of the site are sealed with keys that this keyset does not have: " +
			"84281096; name the keyset of the source with --secrets-keyset"},
		"no keys":    {file, []uint32{}, "16909060, 84281096"},
		"untold key": {changed(func(m *sitefile.Manifest, _ map[string]string) { m.Keys = nil }), []uint32{firstKey}, "84281096"},
		"format":     {changed(func(m *sitefile.Manifest, _ map[string]string) { m.Format = 2 }), nil, "its format is 2"},
		"schema":     {changed(func(m *sitefile.Manifest, _ map[string]string) { m.Schema-- }), nil, "version 23 of the schema"},
		"site":       {changed(func(m *sitefile.Manifest, _ map[string]string) { m.Site = "other" }), nil, `the site "other", not`},
		"table":      {changed(func(m *sitefile.Manifest, _ map[string]string) { m.Tables[1].Name = "pg_authid" }), nil, `"pg_authid"`},
		"further table": {changed(func(m *sitefile.Manifest, _ map[string]string) {
			m.Tables = append(m.Tables, sitefile.Table{Name: "more"})
		}), nil, "tables"},
		"column": {changed(func(m *sitefile.Manifest, _ map[string]string) {
			tableOf(m, "tags").Columns[0] = "site"
		}), nil, `its table tags has the columns ["site"`},
		"two sites": {changed(func(m *sitefile.Manifest, all map[string]string) {
			tableOf(m, "sites").Rows = 2
			all["sites/00000001"] += all["sites/00000001"]
		}), nil, "its table sites has 2 rows"},
		"a row too few": {
			changed(func(_ *sitefile.Manifest, all map[string]string) { all["tags/00000001"] = "" }), nil,
			"its table tags has 0 rows, 1 were expected",
		},
		"a row twice": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] += all["tags/00000001"]
		}), nil, "its table tags has rows that do not fit"},
		"a column of its own": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] = "other\t" + all["tags/00000001"]
		}), nil, "its table tags has rows that do not fit"},
		"a return": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] = strings.TrimSuffix(all["tags/00000001"], "\n") + "\rother\t{}\t1\tt\n"
		}), nil, "carriage return"},
		"an end": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] += "\\.\n"
		}), nil, "its table tags has rows that do not fit"},
		"a line in a row": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] = strings.TrimSuffix(all["tags/00000001"], "\n") + "\\\nmore\n"
		}), nil, "its table tags has rows that do not fit"},
		"no newline": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] = strings.TrimSuffix(all["tags/00000001"], "\n")
		}), nil, "the last row of a table does not end"},
		"a foreign key": {changed(func(_ *sitefile.Manifest, all map[string]string) {
			all["tags/00000001"] = strings.Replace(all["tags/00000001"], "\t1\t", "\t99\t", 1)
		}), nil, "its table tags has rows that do not fit"},
		"ids": {changed(func(m *sitefile.Manifest, _ map[string]string) { tableOf(m, "results").Newest = 3 }), nil, "has ids up to"},
	} {
		how := store.Import{HasKey: anyKey}
		if c.keys != nil {
			how.HasKey = func(key uint32) bool { return slices.Contains(c.keys, key) }
		}
		_, err := kept.ImportSite(t.Context(), "default", bytes.NewReader(c.file), how)
		if err == nil || !strings.Contains(err.Error(), c.want) || fault.KindOf(err) == fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, storetest.Tables(t, conn)); diff != "" {
			t.Fatalf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A site that has or had anything is not replaced, and neither is one that is being deleted.
func TestDatabase_ImportSite_notEmpty(t *testing.T) {
	t.Parallel()
	from := storetest.URL(t)
	movable(t, from)
	file := exported(t, from, "default")
	for name, prepare := range map[string]func(t *testing.T, url string){
		"documents": func(t *testing.T, url string) {
			t.Helper()
			put(t, open(t, url), "a", widget("w", 1))
		},
		"purged": func(t *testing.T, url string) {
			t.Helper()
			if err := open(t, url).Purge(t.Context(), revisions.Options{}); err != nil {
				t.Fatal(err)
			}
		},
		"in webhooks": func(t *testing.T, url string) {
			t.Helper()
			storetest.Execute(t, storetest.Connect(t, url), `INSERT INTO webhooks (site, url, types, enabled, reason, secret)
				VALUES ('default', 'https://a', '{}', true, '', 'x')`)
		},
		"in river_job": func(t *testing.T, url string) {
			t.Helper()
			storetest.Execute(t, storetest.Connect(t, url), `INSERT INTO river_job (args, kind, max_attempts, state, finalized_at)
				VALUES ('{"webhook": 1}', 'purser_webhook', 9, 'completed', now())`)
		},
		"is being deleted": func(t *testing.T, url string) {
			t.Helper()
			storetest.Execute(t, storetest.Connect(t, url), "UPDATE sites SET deleted = pg_current_xact_id()")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := storetest.URL(t)
			prepare(t, to)
			conn := storetest.Connect(t, to)
			before := storetest.Tables(t, conn)
			err := imported(t, to, "default", bytes.NewReader(file))
			if kind := fault.KindOf(err); kind != fault.Conflict && kind != fault.Gone {
				t.Error(err)
			}
			if strings.HasPrefix(name, "in ") && !strings.Contains(err.Error(), name) {
				t.Error(err)
			}
			if diff := cmp.Diff(before, storetest.Tables(t, conn)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Of two imports at once one is made, and a change of the empty site is made before the import, which is refused, or
// after it.
func TestDatabase_ImportSite_races(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	put(t, open(t, from), "a", widget("w", 1))
	copySite(t, storetest.Connect(t, from), "x")
	file := exported(t, from, "x")
	var group sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		kept := openStore(t, to, defaults())
		group.Go(func() {
			_, errs[i] = kept.ImportSite(context.Background(), "x", bytes.NewReader(file), store.Import{HasKey: anyKey})
		})
	}
	group.Wait()
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case fault.KindOf(err) != fault.Conflict:
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d imports were made", made)
	}
}

// An import makes no site beyond the most that there may be, also if others are made meanwhile.
func TestDatabase_ImportSite_bound(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	put(t, open(t, from), "a", widget("w", 1))
	copySite(t, storetest.Connect(t, from), "x")
	file, kept, conn := exported(t, from, "x"), openStore(t, to, defaults()), storetest.Connect(t, to)
	storetest.Execute(t, conn, fmt.Sprintf("INSERT INTO sites (site, epoch, head, documents, stamp) SELECT 's' || n, 1, 0, 0, 0 "+
		"FROM generate_series(1, %d) AS n", sites.MaxSites-2)) // beside the default one
	meanwhile := readerFunc(func([]byte) (int, error) {
		makeSite(t, kept, "last")
		return 0, io.EOF
	})
	end := len(file) - 1500
	parts := io.MultiReader(bytes.NewReader(file[:end]), meanwhile, bytes.NewReader(file[end:]))
	if err := imported(t, to, "x", parts); fault.KindOf(err) != fault.Conflict {
		t.Errorf("while another one is made: %v", err)
	}
	if err := imported(t, to, "x", bytes.NewReader(file)); fault.KindOf(err) != fault.Conflict {
		t.Errorf("afterwards: %v", err)
	}
	storetest.Execute(t, conn, "DELETE FROM feeds WHERE site = 'last'; DELETE FROM sites WHERE site = 'last'")
	if err := imported(t, to, "x", bytes.NewReader(file)); err != nil {
		t.Error(err)
	}
}

// A change waits for an import that is under way, and is then one of the site that came; one that was made before the
// import takes the lock makes that fail.
func TestDatabase_ImportSite_changes(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	put(t, open(t, from), "a", widget("w", 1))
	file := exported(t, from, "default")
	s, conn, kept := open(t, to), storetest.Connect(t, to), openStore(t, to, defaults())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := kept.ImportSite(context.Background(), "default", read, store.Import{HasKey: anyKey})
		_ = read.CloseWithError(err) // nil is the end
		ended <- err
	}()
	if _, err := write.Write(file[:len(file)-3000]); err != nil {
		t.Fatal(err)
	}
	written := make(chan changes.Written)
	go func() { written <- put(t, s, "b", widget("other", 1)) }()
	storetest.Waiting(t, conn, 1)
	if _, err := write.Write(file[len(file)-3000:]); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := <-written; got.Revision != 2 {
		t.Errorf("the change is revision %d", got.Revision)
	}
	if diff := cmp.Diff([]string{`a/w={"x":1}@1`, `b/other={"x":1}@2`}, shown(t, s, 2)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An import that is interrupted leaves nothing.
func TestDatabase_ImportSite_interrupted(t *testing.T) {
	t.Parallel()
	from, to := storetest.URL(t), storetest.URL(t)
	movable(t, from)
	conn := storetest.Connect(t, to)
	before := storetest.Tables(t, conn)
	file := exported(t, from, "default")
	for _, part := range []int{2, 3, 5, 9} {
		ctx, cancel := context.WithCancel(t.Context())
		rest := iotest.ErrReader(context.Canceled)
		r := io.MultiReader(bytes.NewReader(file[:len(file)/part]), readerFunc(func(p []byte) (int, error) {
			cancel()
			return rest.Read(p)
		}))
		_, err := openStore(t, to, defaults()).ImportSite(ctx, "default", r, store.Import{HasKey: anyKey})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
		if diff := cmp.Diff(before, storetest.Tables(t, conn)); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
