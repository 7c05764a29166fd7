package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/store/storetest"
)

// Reads after a purge or a large prune do not scan deleted rows.
func TestStore_vacuum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		delete func(s site) error
	}{
		{"purge", func(s site) error { return s.Purge(t.Context(), revisions.Options{}) }},
		{"prune", func(s site) error {
			_, err := s.Prune(t.Context(), 1, revisions.Options{})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := storetest.URL(t)
			s, conn := open(t, url), storetest.Connect(t, url)
			const documents = 1000
			var body strings.Builder
			for i := range documents {
				body.WriteString(widget(fmt.Sprintf("w%d", i), 1))
			}
			put(t, s, "a", body.String())
			put(t, s, "a", widget("w", 2))
			if err := c.delete(s); err != nil {
				t.Fatal(err)
			}
			for _, off := range []string{"enable_seqscan", "enable_bitmapscan"} {
				if _, err := conn.Exec(t.Context(), "SET "+off+" = off"); err != nil {
					t.Fatal(err)
				}
			}
			pages := pagesRead(t, conn, "SELECT id FROM documents WHERE site = 'default' AND name > ''") +
				pagesRead(t, conn, "SELECT passed FROM contents WHERE site = 'default'")
			if pages > 20 {
				t.Errorf("%d pages are read", pages)
			}
		})
	}
}

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
		"PREPARE versions (text, bigint) AS " + store.LiveVersions,
		"PREPARE kinds (text, bigint, text[]) AS " + store.LiveOfKinds, "UPDATE sites SET stamp = 7",
	} {
		if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	for sql, most := range map[string]int{
		"EXECUTE versions ('default', 0)":                10,
		"EXECUTE kinds ('default', 0, '{acme/Rare/v1}')": 10,
		// of a site whose live documents are known
		"EXECUTE kinds ('default', 7, '{acme/Widget/v1}')": 4,
	} {
		if pages := pagesRead(t, conn, sql); pages > most {
			t.Errorf("%s reads %d pages", sql, pages)
		}
	}
}

// pagesRead returns how many pages of the database a statement reads.
func pagesRead(t *testing.T, conn *pgx.Conn, sql string) int {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	type plan struct {
		Hit  int `json:"Shared Hit Blocks"`
		Read int `json:"Shared Read Blocks"`
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]struct{ Plan plan }])
	if err != nil {
		t.Fatal(err)
	}
	return found[0].Plan.Hit + found[0].Plan.Read
}
