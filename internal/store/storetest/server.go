package storetest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/store/local"
	"purser/internal/store/migration"
	"purser/internal/store/storetest/inmemory"
)

// Variable is the environment variable that names a server to test with.
const Variable = "PURSER_TEST_DATABASE_URL"

// Partitions is the environment variable with the number of partitions by site that each table of the migrated database
// gets; without it the tables are plain.
const Partitions = "PURSER_TEST_PARTITIONS"

//go:embed partitioned.sql
var partitioned string

// partition partitions the tables of a database by site if Partitions says so.
func partition(ctx context.Context, url string) (err error) {
	number := os.Getenv(Partitions)
	if number == "" {
		return nil
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("partition tables: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, strings.ReplaceAll(partitioned, ":partitions", number)); err != nil {
		return fmt.Errorf("partition tables: %w", err)
	}
	return nil
}

// server is the Postgres of this test binary.
type server struct {
	url      string
	template string         // name of the migrated database
	migrate  func() error   // makes it, the first time
	strategy string         // how it is copied, in SQL
	cluster  *local.Cluster // nil if the server is somebody else's
	dir      string         // of the cluster
}

// The one thing of the package that is global: TestMain has no way to hand something to the tests.
//
//nolint:gochecknoglobals // for the reason above
var (
	mutex   sync.Mutex
	current *server
	broken  error // the server could not be had; asking again takes as long and gives the same
	after   []func() error
	prepare func(url string) error
)

// shared returns the server and makes it ready the first time.
func shared() (*server, error) {
	mutex.Lock()
	defer mutex.Unlock()
	if current == nil && broken == nil {
		current, broken = open()
	}
	return current, broken
}

// tidy runs the registered cleanups in order, and stops the server.
func tidy() error {
	mutex.Lock()
	asked := after
	after = nil
	mutex.Unlock()
	var failed []error
	for _, f := range asked {
		failed = append(failed, f())
	}
	return errors.Join(append(failed, stop())...)
}

// stop stops the server started by shared. A later test starts another one.
func stop() error {
	mutex.Lock()
	defer mutex.Unlock()
	s := current
	current, broken = nil, nil
	if s == nil {
		return nil
	}
	return s.close()
}

// Serve starts a Postgres for other processes, which find it by Variable, unless that names one already. stop ends it.
func Serve() (url string, stop func() error, err error) {
	if url := os.Getenv(Variable); url != "" {
		return url, func() error { return nil }, nil
	}
	s := &server{}
	if err := s.startCluster(); err != nil {
		return "", nil, err
	}
	return s.url, s.close, nil
}

func open() (*server, error) {
	s := &server{url: os.Getenv(Variable), template: newName()}
	s.migrate = sync.OnceValue(s.makeTemplate)
	if s.url == "" {
		return s, s.startCluster()
	}
	return s, nil
}

// startCluster starts a cluster that may lose everything at any time, which makes it fast.
func (s *server) startCluster() error {
	removeAbandoned()
	dir, err := os.MkdirTemp(inmemory.Dir(), prefix)
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	//nolint:gosec // run by root, Postgres's user has to pass
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.cluster, err = local.Start(ctx, filepath.Join(dir, "state"), slog.New(slog.DiscardHandler),
		"fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200", "autovacuum=off",
		"wal_level=minimal", "max_wal_senders=0", "max_wal_size=256MB")
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	s.url, s.dir = s.cluster.URL(), dir
	return nil
}

// makeTemplate migrates a database and closes it for connections, which would prevent copying it.
func (s *server) makeTemplate() error {
	if err := s.do(s.chooseStrategy); err != nil {
		return err
	}
	if err := s.exec("CREATE DATABASE " + s.template); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := migration.Migrate(ctx, withDatabase(s.url, s.template)); err != nil {
		return err
	}
	if err := partition(ctx, withDatabase(s.url, s.template)); err != nil {
		return err
	}
	if prepare != nil {
		if err := prepare(withDatabase(s.url, s.template)); err != nil {
			return err
		}
	}
	return s.exec("ALTER DATABASE " + s.template + " ALLOW_CONNECTIONS false")
}

// chooseStrategy has the files of the template copied: since version 15 Postgres by itself writes them to its log too,
// which takes twice as long.
func (s *server) chooseStrategy(ctx context.Context, conn *pgx.Conn) error {
	var choice bool
	const sql = "SELECT current_setting('server_version_num')::int >= 150000"
	if err := conn.QueryRow(ctx, sql).Scan(&choice); err != nil {
		return fmt.Errorf("ask for the version of Postgres: %w", err)
	}
	if choice {
		s.strategy = " STRATEGY file_copy"
	}
	return nil
}

func (s *server) close() error {
	if s.cluster == nil {
		return s.exec("DROP DATABASE IF EXISTS " + s.template + " WITH (FORCE)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(s.cluster.Stop(ctx), os.RemoveAll(s.dir))
}

// prefix of the directories of clusters.
const prefix = "purser-test-"

// removeAbandoned removes the directories of test binaries that were killed: those without a postmaster, and so old
// that it is not one that is about to start.
func removeAbandoned() {
	dirs, _ := filepath.Glob(filepath.Join(inmemory.Dir(), prefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, "state", "postgres", "postmaster.pid")); errors.Is(err, os.ErrNotExist) {
			_ = os.RemoveAll(dir) // another user's stays
		}
	}
}
