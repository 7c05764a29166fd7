package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
)

// Servers that change a site at the same time do not exceed its limit of documents together: it is checked against the
// counters that the transaction locks.
func TestStore_siteDocuments_concurrently(t *testing.T) {
	t.Parallel()
	const servers, each, most = 3, 6, 7
	url := storetest.URL(t)
	var all sync.WaitGroup
	var stored, refused atomic.Int64
	for i := range servers {
		s := open(t, url)
		s.SiteDocuments = most
		all.Go(func() {
			for j := range each {
				name := fmt.Sprintf("w-%d-%d", i, j)
				_, err := s.Put(t.Context(), name, []byte(widget(name, 1)), document.YAML, revisions.Options{})
				switch full, ok := errors.AsType[*fault.Fault](err); {
				case err == nil:
					stored.Add(1)
				case ok && full.Type == "SiteFull":
					refused.Add(1)
				default:
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	all.Wait()
	if stored.Load() != most || refused.Load() != servers*each-most {
		t.Errorf("%d documents were stored and %d refused, where %d are allowed", stored.Load(), refused.Load(), most)
	}
}

// A server that keeps a number of revisions prunes when a tenth of that can be pruned, and keeps tagged ones; it does
// nothing in an archived site.
func TestStore_KeepPruned(t *testing.T) {
	t.Parallel()
	const keep = 20
	p := newPruner(t)
	p = p.begin(t)
	service := changing(p.store)
	keepPruned := func(keep int, gone ...int64) {
		t.Helper()
		pruned, err := service.KeepPruned(t.Context(), keep)
		if err != nil || fmt.Sprint(pruned.Revisions) != fmt.Sprint(gone) {
			t.Errorf("with %d revisions kept, %v were pruned, want %v: %v", keep, pruned.Revisions, gone, err)
		}
	}
	put := func(n int) {
		for range n {
			p.put("a", widget("w", int(p.head)))
		}
	}
	put(keep + 1)
	if _, err := service.Tag(t.Context(), 2, revisions.Options{}, "held", nil); err != nil {
		t.Fatal(err)
	}
	keepPruned(keep) // one is too few
	keepPruned(0)
	put(1)
	keepPruned(keep) // the tag holds the other one
	put(1)
	archive := func(sql string) {
		t.Helper()
		if _, err := p.conn.Exec(t.Context(), "UPDATE sites SET archived_at = "+sql); err != nil {
			t.Fatal(err)
		}
	}
	archive("now()")
	keepPruned(keep)
	archive("NULL")
	keepPruned(keep, 1, 3)
	keepPruned(keep)
	var told int
	err := p.conn.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE type = 'purser.revision.pruned'").Scan(&told)
	if err != nil || told != 1 {
		t.Errorf("%d events tell of prunes: %v", told, err)
	}
	for revision := range p.views {
		if was := p.views[revision]; revision != 1 && revision != 3 && p.view(revision) != was {
			t.Errorf("revision %d has changed", revision)
		}
	}
}
