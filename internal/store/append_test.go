package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// If another server appends between a change's snapshot and its Append, the change is planned again.
func TestStore_Append_afterAnother(t *testing.T) {
	t.Parallel()
	const bucket = "a"
	body := widget("p", 2) + widget("new", 1)
	for _, c := range []struct {
		name     string
		between  func(t failer, other site)
		body     string
		options  revisions.Options
		attempts int
		want     []string // the documents afterwards
		fault    string   // of the change; "" for none
		failed   bool     // the revision fails
	}{
		{
			"another bucket", func(t failer, other site) { put(t, other, "b", widget("q", 1)+widget("r", 1)) }, body,
			revisions.Options{},
			2,
			[]string{"a/p={\"x\":2}@3", "b/q={\"x\":1}@2", "b/r={\"x\":1}@2", "a/new={\"x\":1}@3"},
			"",
			false,
		},
		{
			"the same bucket", func(t failer, other site) { put(t, other, "a", widget("p", 1)+widget("z", 1)) }, body,
			revisions.Options{},
			2,
			[]string{"a/p={\"x\":2}@3", "a/new={\"x\":1}@3"},
			"", false,
		},
		{
			"a DataSchema", func(t failer, other site) { put(t, other, "b", widgetSchema) }, body,
			revisions.Options{},
			2,
			[]string{"a/p={\"x\":2}@3", "b/acme/Widget/v1={\"properties\":{\"x\":{\"type\":\"string\"}}}@2", "a/new={\"x\":1}@3"},
			"", true,
		},
		{
			"an expected revision", func(t failer, other site) { put(t, other, "b", widget("q", 1)) }, body,
			revisions.Options{Expected: revisions.Expected{{Revision: 1}}},
			1,
			[]string{"a/p={\"x\":1}@1", "b/q={\"x\":1}@2"},
			"HTTPPreconditionFailed", false,
		},
		{
			"any expected revision", func(t failer, other site) { put(t, other, "b", widget("q", 1)) }, widget("p", 1) +
				widget("new", 1),
			revisions.Options{Expected: revisions.Expected{{Revision: -1}}},
			2,
			[]string{"a/p={\"x\":1}@1", "b/q={\"x\":1}@2", "a/new={\"x\":1}@3"},
			"", false,
		},
		{"before a DataSchema", func(t failer, other site) { put(t, other, "b", widget("q", 1)) }, widget("p", 1) +
			widgetSchema, revisions.Options{}, 2, []string{
			"a/p={\"x\":1}@1", "b/q={\"x\":1}@2", "a/acme/Widget/v1={\"properties\":{\"x\":{\"type\":\"string\"}}}@3",
		}, "", true},
		{
			"the same identity", func(t failer, other site) { put(t, other, "b", widget("new", 7)) }, body,
			revisions.Options{},
			1,
			[]string{"a/p={\"x\":1}@1", "b/new={\"x\":7}@2"},
			"DuplicateDocumentExists", false,
		},
		{"a purge", func(t failer, other site) {
			if err := other.Purge(context.Background(), revisions.Options{}); err != nil {
				t.Fatalf("%v", err)
			}
		}, body, revisions.Options{}, 2, []string{"a/p={\"x\":2}@1", "a/new={\"x\":1}@1"}, "", false},
		{"a prune that deletes nothing", func(t failer, other site) {
			if _, err := other.Prune(context.Background(), 1, revisions.Options{}); err != nil {
				t.Fatalf("%v", err)
			}
		}, body, revisions.Options{}, 1, []string{"a/p={\"x\":2}@2", "a/new={\"x\":1}@2"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			other := open(t, url)
			put(t, other, bucket, widget("p", 1))
			mine := &late{Store: openStore(t, url, defaults()), Before: func() { c.between(t, other) }}
			_, err := changing(mine).Put(t.Context(), bucket, []byte(c.body), document.YAML, c.options)
			var refused *fault.Fault
			if errors.As(err, &refused); (c.fault == "") != (err == nil) || c.fault != "" && refused.Type != c.fault {
				t.Fatalf("change: %v, want %q", err, c.fault)
			}
			for i, err := range mine.Outcomes {
				if again := c.fault != "" || i < len(mine.Outcomes)-1; again != errors.Is(err, revisions.ErrStaleSnapshot) {
					t.Errorf("attempt %d: %v", i+1, err)
				}
			}
			if len(mine.Outcomes) != c.attempts {
				t.Errorf("%d attempts, want %d", len(mine.Outcomes), c.attempts)
			}
			newest, err := other.Resolve(t.Context(), "latest")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, shown(t, other, newest)); diff != "" {
				t.Errorf("documents (-want +got)\n%s", diff)
			}
			revision, err := other.Show(t.Context(), newest)
			if err != nil || revision.Failed != c.failed {
				t.Errorf("the revision fails: %v, %v", revision.Failed, err)
			}
		})
	}
}

// A change that is planned again is judged with the numbers that its documents get in the end.
func TestStore_Append_movedFailures(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	other := open(t, url)
	put(t, other, "schemas", widgetSchema)
	mine := &late{Store: openStore(t, url, defaults())}
	mine.Before = func() { put(t, other, "b", strings.ReplaceAll(widget("good", 1)+widget("too", 1), "{x: 1}", "{x: y}")) }
	written, err := changing(mine).Put(t.Context(), "a", []byte(widget("bad", 1)), document.YAML, revisions.Options{})
	if err != nil || len(mine.Outcomes) != 2 {
		t.Fatalf("%d attempts, %v", len(mine.Outcomes), err)
	}
	of := revisions.Revision{ID: written.Revision, Stamp: written.Stamp}
	rows, err := mine.FailedEntries(t.Context(), of, queries.EntryQuery{})
	if err != nil || len(rows) != 1 || rows[0].About.Name != "bad" || rows[0].About.ID != 4 {
		t.Errorf("failed entries %+v, %v", rows, err)
	}
	snapshot, err := mine.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil || snapshot.Live != 4 || snapshot.LastDocument != 4 {
		t.Errorf("head %+v, %v", snapshot.Head, err)
	}
	if got := snapshot.Buckets[0].Documents; len(got) != 1 || got[0].ID != 4 || got[0].Revision != 3 {
		t.Errorf("the bucket as it was kept: %+v", got)
	}
}

// The audit event of a change is stored with it, with the number that the revision got in the end, and not without it.
func TestStore_Append_audit(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	other := open(t, url)
	mine := &late{Store: openStore(t, url, defaults())}
	mine.Before = func() { put(t, other, "b", widget("q", 1)) }
	at := time.Now().UTC().Truncate(time.Microsecond)
	event := revisions.AuditEvent{
		At: at, UserID: "u", UserName: "n", Project: "p", EndUser: "e", Rule: "r", Method: "PUT", Target: "/a?b", Status: 200,
		Remote: "::1", Request: "id",
	}
	s := changing(mine)
	written, err := s.Put(t.Context(), "a", []byte(widget("p", 1)), document.YAML, revisions.Options{Audit: &event})
	if err != nil || !written.Audited || written.Revision != 2 {
		t.Fatalf("written %+v, %v", written, err)
	}
	expected := revisions.Options{Audit: &event, Expected: revisions.Expected{{Revision: 1}}}
	if _, err := s.Put(t.Context(), "a", []byte(widget("p", 2)), document.YAML, expected); fault.KindOf(err) != fault.Stale {
		t.Fatalf("a stale change: %v", err)
	}
	got, more, err := mine.AuditEvents(t.Context(), queries.AuditQuery{Page: queries.Page{Limit: 5}})
	if err != nil || more || len(got) != 1 {
		t.Fatalf("events %+v, more %v, %v", got, more, err)
	}
	event.ID, event.Revision = got[0].ID, 2
	if diff := cmp.Diff(event, got[0]); diff != "" {
		t.Errorf("event (-want +got)\n%s", diff)
	}
}

// A change that fails half-way leaves nothing, and its connection can be used again.
func TestStore_Append_halfway(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, storetest.Separated(url)+"pool_max_conns=1", defaults())
	service := changing(s)
	conn := storetest.Connect(t, url)
	if _, err := conn.Exec(t.Context(), "ALTER TABLE revisions ADD CONSTRAINT refusing CHECK (message <> 'refused')"); err != nil {
		t.Fatal(err)
	}
	var many strings.Builder
	for i := range 40 { // so many are copied
		many.WriteString(widget(fmt.Sprintf("w%d", i), i))
	}
	options := revisions.Options{Reason: revisions.Reason{Message: "refused"}}
	_, err := service.Put(t.Context(), "a", []byte(many.String()), document.YAML, options)
	if err == nil || fault.KindOf(err) != fault.Internal {
		t.Fatalf("a refused change: %v", err)
	}
	var documents int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM documents").Scan(&documents); err != nil || documents != 0 {
		t.Errorf("%d documents, %v", documents, err)
	}
	written, err := service.Put(t.Context(), "a", []byte(many.String()), document.YAML, revisions.Options{})
	if err != nil || written.Revision != 1 {
		t.Errorf("the change after it: %+v, %v", written.Revision, err)
	}
}

// A change that is given up while it is committed is not cancelled: with a synchronous standby missing, that would show
// it to others before the standby has it.
func TestStore_Append_givenUp(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	conn := storetest.Connect(t, url)
	storetest.Execute(t, conn, `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$`)
	storetest.Execute(t, conn, `CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON revisions DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION wait()`)
	storetest.Execute(t, conn, "SELECT pg_advisory_lock(1)")
	s := openStore(t, url, defaults())
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var group sync.WaitGroup
	group.Go(func() {
		_, err := changing(s).Put(ctx, "a", []byte(widget("w", 1)), document.YAML, revisions.Options{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	await(t, conn, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'")
	giveUp()
	group.Wait()
	s.Close() // a request to cancel would have been sent by now
	storetest.Execute(t, conn, "SELECT pg_advisory_unlock(1)")
	await(t, conn, "SELECT FROM revisions")
}

// await waits until a query finds something.
func await(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	const patience, pause = 10 * time.Second, 5 * time.Millisecond
	for began, found := time.Now(), false; !found; time.Sleep(pause) {
		if err := conn.QueryRow(t.Context(), "SELECT EXISTS ("+sql+")").Scan(&found); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > patience {
			t.Fatalf("nothing after %v: %s", patience, sql)
		}
	}
}

// A key that the site's counters give out again is not taken for a concurrent change: the change is not repeated, and
// its fault names the key.
func TestStore_Append_wrongCounters(t *testing.T) {
	t.Parallel()
	for counter, want := range map[string]string{
		"documents = 0": "documents_pkey", "head = 1": "revisions_pkey",
	} {
		url := storetest.URL(t)
		put(t, open(t, url), "a", widget("w", 1))
		put(t, open(t, url), "a", widget("w", 2))
		storetest.Execute(t, storetest.Connect(t, url), "UPDATE sites SET "+counter)
		kept := &late{Store: openStore(t, url, defaults())}
		_, err := changing(kept).Put(t.Context(), "b", []byte(widget("v", 3)), document.YAML, revisions.Options{})
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), want) || len(kept.Outcomes) != 1 {
			t.Errorf("%s: %v, after %d attempts; want one that names %s", counter, err, len(kept.Outcomes), want)
		}
	}
}
