package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// textOf returns the text of the newest version of the only document with a name, "" if none is kept.
func textOf(t *testing.T, s *store.Store, revision int64, name string) string {
	t.Helper()
	selected, err := s.Documents(t.Context(), revision, queries.Selection{Names: []string{name}, Page: queries.Page{Limit: -1}})
	if err != nil || len(selected.Documents) != 1 {
		t.Fatalf("%d documents %s, %v", len(selected.Documents), name, err)
	}
	id := selected.Documents[0].ID
	origins, err := s.Origins(t.Context(), []int64{id})
	if err != nil {
		t.Fatal(err)
	}
	texts, err := s.Texts(t.Context(), []int64{origins[id].Text}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(texts[origins[id].Text].Body)
}

// Texts are stored on a base that is still the newest one, or not at all.
func TestStore_Reread_stale(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, kept, conn := open(t, url), openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, s, "a", widget("w", 1))
	snapshot, err := kept.Snapshot(t.Context(), revisions.Need{Buckets: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	written := *snapshot.Buckets[0].Documents[0]
	written.Text, written.Path, written.Line = revisions.TextPlanned, "a.yaml", 3
	block := revisions.TextBlock{
		Body: revisions.AppendBlock(nil, []revisions.Text{{Body: []byte("other"), Documents: 1}}), Of: [][]int64{{written.ID}},
	}
	reread := func() error {
		return kept.Reread(t.Context(), snapshot.Head, revisions.Diff{Reread: []*revisions.Stored{&written}}, []revisions.TextBlock{block})
	}
	if err := reread(); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, kept, 1, "w"); got != "other" {
		t.Errorf("the text is %q", got)
	}
	before := countOf(t, conn, "SELECT count(*) FROM texts")
	put(t, s, "b", widget("other", 1))
	if err := reread(); !errors.Is(err, revisions.ErrStaleSnapshot) {
		t.Errorf("on an older base: %v", err)
	}
	if after := countOf(t, conn, "SELECT count(*) FROM texts"); after != before+1 {
		t.Errorf("%d blocks, want %d", after, before+1)
	}
	if _, err := s.Prune(t.Context(), 1, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := countOf(t, conn, "SELECT count(*) FROM texts"); got != 2 {
		t.Errorf("a prune leaves %d blocks of two documents with a text each", got)
	}
}

func countOf(t *testing.T, conn *pgx.Conn, sql string) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// While others prune, texts are given to documents that stay and to those that are added; each comes back.
func TestStore_Texts_concurrent(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	const writers, rounds = 3, 15
	var workers, pruner sync.WaitGroup
	done := make(chan struct{})
	pruning := open(t, url)
	put(t, pruning, "first", widget("first", 1))
	pruner.Go(func() {
		for {
			if _, err := pruning.Prune(t.Context(), 1, revisions.Options{}); err != nil {
				t.Errorf("prune: %v", err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for n := range writers {
		s, name := open(t, url), fmt.Sprint("w", n)
		workers.Go(func() {
			for i := range rounds {
				text := widget(name, i/3) + fmt.Sprintf("# %d\n", i)
				_, err := s.Put(t.Context(), name, []byte(text), document.YAML, revisions.Options{})
				if err != nil {
					t.Errorf("put: %v", err)
					return
				}
			}
		})
	}
	workers.Wait()
	close(done)
	pruner.Wait()
	kept := openStore(t, url, defaults())
	latest, err := kept.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range writers {
		if got := textOf(t, kept, latest, fmt.Sprint("w", n)); !strings.HasSuffix(got, fmt.Sprintf("# %d\n", rounds-1)) {
			t.Errorf("the text of w%d is %q", n, got)
		}
	}
	if _, err := pruning.Prune(t.Context(), 1, revisions.Options{}); err != nil {
		t.Fatal(err)
	}
	if n := countOf(t, storetest.Connect(t, url), "SELECT count(*) FROM texts"); n != writers+1 {
		t.Errorf("%d blocks are left of %d documents", n, writers+1)
	}
}

// A block is read whole, and by its number; damage is an error.
func TestStore_Texts_damaged(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, kept, conn := open(t, url), openStore(t, url, defaults()), storetest.Connect(t, url)
	put(t, s, "a", widget("w", 1))
	for _, body := range []string{`\x`, `\x01`, `\x0100`, `\x02010000`, `\x0101ff0100`, `\x28b52ffd00`} {
		storetest.Execute(t, conn, "UPDATE texts SET body = '"+body+"'")
		if got, err := kept.Texts(t.Context(), []int64{32}, nil); err == nil || !strings.Contains(err.Error(), "block 1 ") {
			t.Errorf("%s: %v, %v", body, got, err)
		}
	}
	storetest.Execute(t, conn, "UPDATE texts SET body = '\\x010101010041'")
	for number, want := range map[int64]bool{32: true, 33: false} {
		if got, err := kept.Texts(t.Context(), []int64{number}, nil); (err == nil) != want || want && string(got[32].Body) != "A" {
			t.Errorf("%d: %v, %v", number, got, err)
		}
	}
	if got, err := kept.Texts(t.Context(), []int64{64}, nil); len(got) != 0 || err != nil {
		t.Errorf("a block that does not exist: %v, %v", got, err)
	}
}

// Texts and where documents were written are read, and written, by index.
func TestStore_manyTexts(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	s, conn := open(t, url), storetest.Connect(t, url)
	const documents = 2000
	var body strings.Builder
	for i := range documents {
		body.WriteString(widget(fmt.Sprintf("w%d", i), 1))
	}
	put(t, s, "a", body.String())
	for _, sql := range []string{
		"VACUUM ANALYZE documents", "VACUUM ANALYZE texts", "VACUUM ANALYZE buckets", "SET plan_cache_mode = force_generic_plan",
		store.Prepare("origins", store.Statements.OriginsOf), store.Prepare("blocks", store.Statements.TextBlocks),
		store.Prepare("outdated", store.Statements.OutdatedTexts), store.Prepare("reread", store.Statements.RereadDocuments),
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, statement string
		args            map[string]string
		most            int
	}{
		{"origins", store.Statements.OriginsOf, map[string]string{"ids": "'{1000, 2000}'"}, 10},
		{"blocks", store.Statements.TextBlocks, map[string]string{"blocks": "'{7, 60}'"}, 10},
		{"outdated", store.Statements.OutdatedTexts, map[string]string{"prefix": "'x'", "after": "0", "limit": "100"}, 4},
		{"reread", store.Statements.RereadDocuments, map[string]string{
			"ids": "'{1000, 2000}'", "segments": "'{a, b}'", "texts": "'{NULL, 64}'", "paths": "'{p, p}'", "lines": "'{1, 2}'",
			"mark": "1",
		}, 150},
	} {
		c.args["site"] = "'default'"
		if pages := pagesRead(t, conn, store.Execute(c.name, c.statement, c.args)); pages > c.most {
			t.Errorf("%s reads %d pages", c.name, pages)
		}
	}
	if countOf(t, conn, "SELECT count(*) FROM documents WHERE text IS NOT NULL") != documents {
		t.Error("documents have no texts")
	}
}
