// Package storetest gives every test a Postgres database of its own.
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
//	func TestStore_Append(t *testing.T) {
//		t.Parallel()
//		db, err := store.Open(ctx, storetest.URL(t))
//		...
//	}
//
// The databases are copies of one that is migrated once in a test binary. They live in the server that
// PURSER_TEST_DATABASE_URL names, whose role must be allowed to create databases, or else in a private cluster, which
// is started when the first test asks and does without fsync. Command withpostgres starts one for many test binaries.
//
// Main stops the cluster after the tests, drops their databases, and fails the binary for leaked goroutines. A
// binary that is killed takes its cluster along (on Linux); the directory it leaves is removed by a later one.
//
// The package imports parts of the store, so tests of store that use it are in package store_test.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// patience bounds each thing done to the server; a slow machine with many packages under test needs a while.
const patience = 2 * time.Minute

// Main runs the tests of a package and exits with their code. To be called from TestMain. Goroutines that are to
// survive the tests are named by options.
func Main(m *testing.M, options ...goleak.Option) {
	os.Exit(run(m, options)) //nolint:revive // the last line of a TestMain
}

func run(m *testing.M, options []goleak.Option) int {
	code := m.Run()
	if err := tidy(); err != nil {
		fmt.Fprintln(os.Stderr, "storetest: after the tests:", err)
		code = max(code, 1)
	}
	if code != 0 {
		return code // a failed test may well leave something behind
	}
	if err := goleak.Find(options...); err != nil {
		fmt.Fprintln(os.Stderr, "storetest:", err)
		return 1
	}
	return 0
}

// AfterTests has Main call f after the tests, while databases can still be used. An error fails the binary.
func AfterTests(f func() error) {
	mutex.Lock()
	defer mutex.Unlock()
	after = append(after, f)
}

// Prepare has f put something into the migrated database before it is copied. To be called before Main.
func Prepare(f func(url string) error) { prepare = f }

// URL returns the connection string of a migrated database for the caller alone. It is dropped after the test,
// whatever is connected then.
func URL(t testing.TB) string {
	t.Helper()
	return forTest(t, " TEMPLATE ")
}

// Empty is URL with a database in which nothing is yet, not even a migration.
func Empty(t testing.TB) string {
	t.Helper()
	return forTest(t, "")
}

// Connect returns a connection to a database that is closed after the test.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Lasting returns the connection string of a migrated database that Main drops after the tests. It is for a server that
// serves one test after the other.
func Lasting() (string, error) {
	url, drop, err := create(" TEMPLATE ")
	if err == nil {
		AfterTests(drop)
	}
	return url, err
}

// forTest makes a database that is dropped after the test.
func forTest(t testing.TB, template string) string {
	t.Helper()
	url, drop, err := create(template)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("storetest: %v", err)
		}
	})
	return url
}

// create makes a database, as a copy of the migrated one if template says so.
func create(template string) (url string, drop func() error, err error) {
	s, err := shared()
	if err != nil {
		return "", nil, err
	}
	if template != "" {
		if err := s.migrate(); err != nil {
			return "", nil, err
		}
		template += s.template + s.strategy
	}
	name := newName()
	if err := s.exec("CREATE DATABASE " + name + template); err != nil {
		return "", nil, err
	}
	drop = func() error { return s.exec("DROP DATABASE " + name + " WITH (FORCE)") }
	return withDatabase(s.url, name), drop, nil
}

// newName returns a database name that no other test binary uses on the same server.
func newName() string {
	return "purser_test_" + strings.ToLower(rand.Text())
}

// exec runs one statement in the database that the server was named with.
func (s *server) exec(sql string) error {
	return s.do(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		if err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		return nil
	})
}

// do connects to the database that the server was named with.
func (s *server) do(f func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err //nolint:wrapcheck // says what it was about
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return f(ctx, conn)
}

// withDatabase returns the connection string, of either form, with another database name. The rest of a URL stays as
// it is written: net/url and Postgres disagree about the plus sign.
func withDatabase(conn, name string) string {
	u, err := url.Parse(conn)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return conn + " dbname=" + name // the last one counts
	}
	u.Path = "/" + name
	return u.String()
}
