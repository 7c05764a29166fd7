package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chronicle records the changes that writers tried and those that were acknowledged.
type chronicle struct {
	mutex sync.Mutex
	acked [][]string // by writer, in order
	tried map[string]bool
	newer atomic.Int64 // the newest acknowledged revision
}

func (c *chronicle) try(key string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.tried[key] = true
}

func (c *chronicle) ack(writer int, key string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.acked[writer] = append(c.acked[writer], key)
}

func (c *chronicle) size() (n int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, list := range c.acked {
		n += len(list)
	}
	return n
}

// write makes changes, each with a unique key in its event, until ctx ends.
func (c *chronicle) write(ctx context.Context, writer int, on func() *server) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("w%d-%d", writer, n)
		revision := max(1, c.newer.Load()-rand.Int64N(3))
		r := request{method: http.MethodPost, header: yamlBody()}
		switch kind := rand.IntN(10); {
		case kind < 4:
			r.method, r.path = http.MethodPut, fmt.Sprintf("buckets/%d/documents?message=%s", writer, key)
			r.body = widget(fmt.Sprintf("w%d", writer), "{token: t"+key+"}")
		case kind < 7:
			r.path, r.body = fmt.Sprintf("revisions/%d/validations/%s-validation", revision, key), "{status: success, validator: {name: v}}"
		default:
			r.path = fmt.Sprintf("revisions/%d/tags/%s", revision, key)
		}
		switch {
		case writer == 0 && n%20 == 10:
			r.path, r.body, key = "revisions/prune?keep=5", "", ""
		case writer == 1 && n == 30:
			r.method, r.path, r.body, key = http.MethodDelete, "revisions", "", "purge"
		}
		c.try(key)
		a, err := on().try(ctx, r)
		if err != nil || a.status >= 300 {
			time.Sleep(5 * time.Millisecond) // the server is down, or the revision was deleted
			continue
		}
		if _, after, found := strings.Cut(a.text, "\n  revision: "); r.method == http.MethodPut && found {
			number, _, _ := strings.Cut(after, "\n")
			if revision, err := strconv.ParseInt(number, 10, 64); err == nil {
				c.newer.Store(revision)
			}
		}
		if key != "" {
			c.ack(writer, key)
		}
	}
}

// keyOf returns the key of the change in an event, "" for derived events and prunes.
func keyOf(e received) string {
	for _, key := range []string{"message", "tag", "name"} {
		if text, _ := e.Data[key].(string); text != "" {
			return strings.TrimSuffix(text, "-validation")
		}
	}
	if e.Type == "purser.site.purged" {
		return "purge"
	}
	return ""
}

// follow reads the feed from its beginning, from alternating servers, up to the cursor end.
func follow(ctx context.Context, end *atomic.Int64, on func() *server) (events []received, err error) {
	for cursor := 0; ; {
		a, err := on().try(ctx, request{
			method: http.MethodGet, header: map[string]string{"Accept": "application/json"},
			path: fmt.Sprintf("events?since=%d&limit=%d&wait=%dms", cursor, 1+rand.IntN(50), rand.IntN(300)),
		})
		var p page
		switch {
		case ctx.Err() != nil:
			return events, ctx.Err()
		case err != nil, a.status == http.StatusServiceUnavailable:
			time.Sleep(20 * time.Millisecond) // the server is down
			continue
		case a.status != http.StatusOK:
			return events, fmt.Errorf("since %d: %d %s", cursor, a.status, a.text)
		}
		if err := json.Unmarshal([]byte(a.text), &p); err != nil {
			return events, err
		}
		events = append(events, p.Events...)
		if cursor, err = strconv.Atoi(p.Cursor); err != nil {
			return events, err
		}
		if last := end.Load(); last > 0 && int64(cursor) >= last {
			return events, nil
		}
	}
}

// All readers read the same events: each acknowledged change exactly once, without gaps and in commit order, even if
// processes are killed meanwhile.
func TestEvents_order(t *testing.T) {
	t.Parallel()
	const writers, readers = 8, 10
	h := startPrivate(t) // a server with its own Postgres
	var other atomic.Pointer[server]
	database := (&url.URL{Scheme: "postgres", Path: "/purser", RawQuery: url.Values{
		"host": {filepath.Join(h.state, "socket")}, "port": {"5432"}, "user": {"purser"}, "sslmode": {"disable"},
	}.Encode()}).String()
	begin := func() *server {
		s := launch(t, program, &http.Client{Transport: &http.Transport{}, Timeout: patience}, database)
		s.ready(t)
		return s
	}
	other.Store(begin())
	t.Cleanup(func() { other.Load().stop(t) })
	either := func() *server {
		if rand.IntN(2) == 0 {
			return h.server
		}
		return other.Load()
	}
	c := &chronicle{acked: make([][]string, writers), tried: map[string]bool{}}
	writing, stop := context.WithCancel(t.Context())
	defer stop()
	var writes, reads sync.WaitGroup
	for w := range writers {
		writes.Go(func() {
			c.write(writing, w, func() *server {
				if w%2 == 0 {
					return h.server
				}
				return other.Load()
			})
		})
	}
	var end atomic.Int64
	sequences := make([][]received, readers)
	for i := range readers {
		reads.Go(func() {
			var err error
			if sequences[i], err = follow(t.Context(), &end, either); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	more := func(what string) {
		t.Helper()
		goal := c.size() + 60
		eventually(t, what, func() bool { return c.size() >= goal })
	}
	more("changes at first")
	killed := other.Load()
	_ = killed.process.Process.Kill()
	<-killed.ended
	other.Store(begin())
	more("changes after a server was killed")
	kill(t, filepath.Join(h.state, "postgres", "postmaster.pid"))
	more("changes after Postgres was killed")
	eventually(t, "the purge", func() bool {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		return c.tried["purge"]
	})
	more("changes after the purge")
	stop()
	writes.Wait()
	cursor, err := strconv.ParseInt(h.now(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	end.Store(cursor)
	reads.Wait()
	isChronicle(t, c, sequences[0])
	// What follows was still being committed when its writer gave up, so that only some readers have seen it.
	upToEnd := func(sequence []received) []received { return sequence[:min(len(sequence), int(cursor))] }
	for i, sequence := range sequences {
		if diff := cmp.Diff(upToEnd(sequences[0]), upToEnd(sequence)); diff != "" {
			t.Fatalf("reader %d reads something else than reader 0 (-want +got):\n%s", i, brief(diff))
		}
	}
	t.Logf("%d events of %d changes", len(sequences[0]), c.size())
}

// isChronicle checks a sequence of events against the recorded changes.
func isChronicle(t *testing.T, c *chronicle, sequence []received) {
	t.Helper()
	at := map[string]int{}
	newest := 0.
	for i, e := range sequence {
		if e.ID != strconv.Itoa(i+1) {
			t.Fatalf("event %d has the id %s", i+1, e.ID)
		}
		key := keyOf(e)
		if _, twice := at[key]; twice && key != "" {
			t.Errorf("%s is told twice", key)
		}
		if key != "" && !c.tried[key] {
			t.Errorf("%v is told, but nobody did it", e)
		}
		at[key] = i
		revision, _ := e.Data["revision"].(float64)
		switch e.Type {
		case "purser.site.purged":
			newest = 0
		case "purser.revision.created":
			if revision != newest+1 {
				t.Errorf("%v comes after revision %v", e, newest)
			}
			newest = revision
		default:
			if revision > newest {
				t.Errorf("%v comes before its revision", e)
			}
		}
	}
	for writer, acked := range c.acked {
		var order []int
		for _, key := range acked {
			place, isTold := at[key]
			if !isTold {
				t.Errorf("%s was acknowledged, but is not told", key)
			}
			order = append(order, place)
		}
		if !slices.IsSorted(order) {
			t.Errorf("the changes of writer %d are told in another order: %v", writer, order)
		}
	}
}
