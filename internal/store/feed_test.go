package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/feed"
	"purser/internal/store/storetest"
	"purser/internal/webhooks"
)

// Old events are deleted, the oldest first: those older than an age and not among a number of the newest.
func TestStore_DeleteOldEvents(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	site := open(t, url)
	const all = 6
	for i := range all {
		put(t, site, "a", widget("w", i))
	}
	numbered, more, err := s.Number(t.Context(), func(feed.Batch) feed.Derived { return feed.Derived{} })
	if err != nil || numbered.Newest != all || more {
		t.Fatalf("%+v is the position, more: %v, %v", numbered, more, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	// 1 to 3 and 5 are two hours old.
	if _, err := conn.Exec(t.Context(), `UPDATE events SET at = at - interval '2 hours' WHERE number IN (1, 2, 3, 5)`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		age    time.Duration
		keep   int
		gone   int
		remain []int64
	}{
		{"none is that old", 3 * time.Hour, 1, 0, []int64{1, 2, 3, 4, 5, 6}},
		{"all are among the newest", time.Hour, all, 0, []int64{1, 2, 3, 4, 5, 6}},
		{"the newest four are kept", time.Hour, 4, 2, []int64{3, 4, 5, 6}},
		{"a younger one keeps those after it", time.Hour, 1, 1, []int64{4, 5, 6}},
		{"nothing is left to do", time.Hour, 1, 0, []int64{4, 5, 6}},
	} {
		gone, err := s.DeleteOldEvents(t.Context(), c.age, c.keep)
		if err != nil || gone != c.gone {
			t.Errorf("%s: %d are gone, want %d: %v", c.name, gone, c.gone, err)
		}
		found, err := s.Events(t.Context(), feed.Query{Limit: all, Scan: all, Bytes: 1 << 20})
		if err != nil || found.Newest != all || found.Oldest != c.remain[0] {
			t.Errorf("%s: from %d to %d: %v", c.name, found.Oldest, found.Newest, err)
		}
		var remain []int64
		for _, event := range found.Events {
			remain = append(remain, event.Number)
		}
		if diff := cmp.Diff(c.remain, remain); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// Fewer events are numbered at once where each has many deliveries, and none is lost.
func TestStore_Number_deliveries(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s := openStore(t, url, defaults())
	site := open(t, url)
	const hooks, changes = 100, 25
	for range hooks {
		id, err := s.AddWebhook(t.Context(), webhooks.Webhook{URL: "http://x.example", Enabled: true, Secret: []byte("s")}, hooks)
		if id == 0 || err != nil {
			t.Fatalf("webhook %d: %v", id, err)
		}
	}
	for i := range changes {
		put(t, site, "a", widget("w", i))
	}
	for _, want := range []struct {
		newest int64
		more   bool
	}{{20, true}, {changes, false}} {
		var head int64
		at, more, err := s.Number(t.Context(), func(batch feed.Batch) feed.Derived {
			head = batch.Head
			return feed.Derived{}
		})
		if at.Newest != want.newest || head != want.newest || more != want.more || err != nil {
			t.Errorf("numbered to %+v, the newest revision being %d, more: %v, %v; want %+v", at, head, more, err, want)
		}
		var jobs int64
		err = storetest.Connect(t, url).QueryRow(t.Context(), "SELECT count(*) FROM river_job").Scan(&jobs)
		if jobs != want.newest*hooks || err != nil {
			t.Errorf("%d deliveries, %v; want %d", jobs, err, want.newest*hooks)
		}
	}
}
