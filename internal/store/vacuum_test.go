package store_test

import (
	"fmt"
	"strings"
	"testing"

	"purser/internal/revisions"
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
