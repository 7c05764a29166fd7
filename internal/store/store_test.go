package store_test

import (
	"strings"
	"testing"

	"purser/internal/store"
	"purser/internal/store/migration"
	"purser/internal/store/storetest"
)

// The URL of the database may say how large the pool is to be, for every use of it.
func TestOpen_poolParameters(t *testing.T) {
	t.Parallel()
	url := storetest.Empty(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	url += separator + "pool_max_conns=3"
	if err := migration.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), url, store.Options{Deadlines: store.DefaultDeadlines()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Stat().MaxConns(); n != 3 {
		t.Errorf("the pool may have %d connections, want 3", n)
	}
}
