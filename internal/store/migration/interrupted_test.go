package migration_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"purser/internal/store/migration"
	"purser/internal/store/storetest"
	"purser/migrations"
)

// oldDatabase returns a database as a server of a version left it, with a site in it; version 0 is an empty one.
func oldDatabase(t *testing.T, version int) (url string, conn *pgx.Conn) {
	t.Helper()
	url = storetest.Empty(t)
	conn = storetest.Connect(t, url)
	if version == 0 {
		return url, conn
	}
	for _, file := range migrationFiles(t)[:version] {
		storetest.Execute(t, conn, file)
	}
	site, err := os.ReadFile(fmt.Sprintf("../../../test/e2e/testdata/upgrade/%04d.sql", version))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Execute(t, conn, string(site))
	storetest.Execute(t, conn, "CREATE TABLE schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)")
	storetest.Execute(t, conn, fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, false)", version))
	return url, conn
}

// isVersion checks that a database has a version, is not marked as dirty, and has the schema of that version.
func isVersion(t *testing.T, conn *pgx.Conn, want int) {
	t.Helper()
	if version, dirty := state(t, conn); version != want || dirty {
		t.Errorf("version %d, dirty %v; want %d", version, dirty, want)
	}
	text, err := migrations.FS.ReadFile(migrations.SchemaFile(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), strings.Join(schema(t, conn), "\n")+"\n"); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

// begun is a migration of a database of version 1 that waits in the middle of file 2 until release is called.
type begun struct {
	url     string
	conn    *pgx.Conn
	newest  int
	release func()
	cancel  func()
	ended   chan error
}

func begin(t *testing.T) *begun {
	t.Helper()
	b := &begun{newest: len(migrationFiles(t))}
	b.url, b.conn = oldDatabase(t, 1)
	b.release = storetest.Lock(t, b.url, "ACCESS SHARE", "documents")
	b.cancel, b.ended = b.migrate(t, b.url)
	storetest.Waiting(t, b.conn, 1)
	return b
}

// migrate migrates the database at the same time.
func (b *begun) migrate(t *testing.T, url string) (cancel func(), ended chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended = make(chan error, 1)
	go func() { ended <- migration.Migrate(ctx, url) }()
	return cancel, ended
}

// kill ends the connection that waits in the middle of the file.
func (b *begun) kill(t *testing.T) {
	t.Helper()
	storetest.Execute(t, b.conn, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'relation'`)
	if err := <-b.ended; err == nil {
		t.Error("a migration whose connection is gone reports no error")
	}
}

// A migration that ends in the middle of a file leaves the version of before it, or that of the file, and the next one
// goes on from there.
func TestMigrate_inTheMiddle(t *testing.T) {
	t.Parallel()

	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		b := begin(t)
		b.kill(t)
		isVersion(t, b.conn, 1)
		b.release()
		if err := migration.Migrate(t.Context(), b.url); err != nil {
			t.Error(err)
		}
		isVersion(t, b.conn, b.newest)
	})

	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		b := begin(t)
		b.cancel()
		b.release()
		if err := <-b.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		isVersion(t, b.conn, 2)
		if err := migration.Migrate(t.Context(), b.url); err != nil {
			t.Error(err)
		}
		isVersion(t, b.conn, b.newest)
	})

	t.Run("killed, another waits", func(t *testing.T) {
		t.Parallel()
		b := begin(t)
		_, other := b.migrate(t, b.url)
		storetest.Waiting(t, b.conn, 2)
		b.kill(t)
		b.release()
		if err := <-other; err != nil {
			t.Error(err)
		}
		isVersion(t, b.conn, b.newest)
	})

	t.Run("another waits and is cancelled", func(t *testing.T) {
		t.Parallel()
		b := begin(t)
		cancel, other := b.migrate(t, b.url)
		storetest.Waiting(t, b.conn, 2)
		cancel()
		if err := <-other; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		b.release()
		if err := <-b.ended; err != nil {
			t.Error(err)
		}
		isVersion(t, b.conn, b.newest)
	})

	// Neither the timeouts of a role nor its level of isolation get in the way of one that waits.
	t.Run("another waits for longer than its timeouts", func(t *testing.T) {
		t.Parallel()
		b := begin(t)
		_, other := b.migrate(t, storetest.Separated(b.url)+
			"statement_timeout=1000&lock_timeout=1000&default_transaction_isolation=serializable")
		storetest.Waiting(t, b.conn, 2)
		storetest.Execute(t, b.conn, "SELECT pg_sleep(1.5)")
		b.release()
		if err := errors.Join(<-b.ended, <-other); err != nil {
			t.Error(err)
		}
		isVersion(t, b.conn, b.newest)
	})
}

// contents returns all rows of all tables but that of versions, without stamps, which are random, and the times of a site, which may be
// those of the migration.
func contents(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	var all []string
	for _, line := range schema(t, conn) {
		table, isTable := strings.CutPrefix(line, "table ")
		if !isTable {
			continue
		}
		without := "'{stamp}'::text[]"
		if table == "sites" {
			without = "'{stamp,created_at,changed_at}'::text[]"
		}
		rows, err := conn.Query(t.Context(), "SELECT '"+table+" ' || (to_jsonb(t) - "+without+")::text FROM "+table+
			" t ORDER BY 1")
		if err != nil {
			t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, texts...)
	}
	return all
}

// A migration from any version that loses its connection repeatedly at random moments has the same result as an
// uninterrupted one.
func TestMigrate_interrupted(t *testing.T) {
	t.Parallel()
	newest := len(migrationFiles(t))
	for version := range newest {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			calm, calmConn := oldDatabase(t, version)
			p, through := storetest.StartProxy(t, calm)
			if err := migration.Migrate(t.Context(), through); err != nil {
				t.Fatal(err)
			}
			turns := p.Taken()
			url, conn := oldDatabase(t, version)
			const interruptions = 8 // most of them before all is done
			for range interruptions {
				p, through := storetest.StartProxy(t, url)
				turn := 1 + random.IntN(turns/3)
				p.Cut(turn)
				err := migration.Migrate(t.Context(), through)
				t.Logf("cut at turn %d of %d: %v", turn, turns, err)
			}
			if err := migration.Migrate(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			isVersion(t, conn, newest)
			if diff := cmp.Diff(contents(t, calmConn), contents(t, conn)); diff != "" {
				t.Errorf("rows (-never interrupted +interrupted):\n%s", diff)
			}
		})
	}
}

// A database in which another tool began a migration and did not end it is refused, and left as it is.
func TestMigrate_dirty(t *testing.T) {
	t.Parallel()
	url, conn := oldDatabase(t, 5)
	set(t, conn, 6, true)
	wantFault(t, migration.Migrate(t.Context(), url), "migration 6 of the database was interrupted outside of Purser")
	if version, dirty := state(t, conn); version != 6 || !dirty {
		t.Errorf("version %d, dirty %v; want 6, true", version, dirty)
	}
}
