package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/golang-migrate/migrate/v4"
	pgxmigrate "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"purser/internal/fault"
	"purser/migrations"
)

// Migrate brings the database at url up to this version of Purser; one that is already there is left alone. Any
// number of servers may do it at once: one works, the others wait for it. A database that a newer Purser wrote, or in
// which a migration was interrupted, is a fault of kind Unavailable and stays as it is.
func Migrate(ctx context.Context, url string) error {
	pool, err := pgxpool.ParseConfig(url) // it accepts the pool's own parameters, Postgres does not
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	config := pool.ConnConfig
	conns := &connections{dial: config.DialFunc}
	config.DialFunc = conns.open
	defer context.AfterFunc(ctx, conns.close)()
	defer conns.close()
	err = migrateUp(config)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("migrate: %w", ctx.Err()) // the errors of closed connections are only noise
	}
	return err
}

func migrateUp(config *pgx.ConnConfig) (err error) {
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return fmt.Errorf("read the embedded migrations: %w", err)
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	driver, err := pgxmigrate.WithInstance(db, &pgxmigrate.Config{})
	if err != nil {
		return fmt.Errorf("migrate: connect to the database: %w", err)
	}
	m, err := migrate.NewWithInstance("embedded", files, config.Database, driver)
	if err != nil {
		return errors.Join(fmt.Errorf("migrate: %w", err), driver.Close())
	}
	m.LockTimeout = 24 * time.Hour // the caller's context decides how long to wait for another server
	if err = m.Up(); err != nil {
		err = explain(m, files, err)
	}
	return errors.Join(err, closeMigration(m))
}

// closeMigration makes one error of the two that the library returns.
func closeMigration(m *migrate.Migrate) error {
	if err := errors.Join(m.Close()); err != nil {
		return fmt.Errorf("migrate: close: %w", err)
	}
	return nil
}

// explain turns the library's error after a migration into one that an operator can act on. It comes after the attempt
// and not before: only under the library's lock does dirty mean interrupted rather than being worked on by another
// server.
func explain(m *migrate.Migrate, files source.Driver, cause error) error {
	if errors.Is(cause, migrate.ErrNoChange) {
		return nil
	}
	version, _, err := m.Version()
	if err != nil {
		return fmt.Errorf("migrate: %w", cause)
	}
	newest, err := newestVersion(files)
	if err != nil {
		return err
	}
	if version > newest {
		return fault.New(fault.Unavailable, "DatabaseTooNew", "the database was written by a newer Purser:"+
			" it has version %d, this server knows versions up to %d;"+
			" start the newer Purser, or use another database", version, newest)
	}
	if dirty, ok := errors.AsType[migrate.ErrDirty](cause); ok {
		return fault.New(fault.Unavailable, "DatabaseDirty", "migration %d of the database was interrupted:"+
			" restore the backup from before it, or see what it did, complete or undo that by hand,"+
			" and set version and dirty in schema_migrations",
			dirty.Version)
	}
	return fmt.Errorf("migrate: %w", cause)
}

// newestVersion returns the number of the last file.
func newestVersion(files source.Driver) (uint, error) {
	version, err := files.First()
	for err == nil {
		var next uint
		if next, err = files.Next(version); err == nil {
			version = next
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read the embedded migrations: %w", err)
	}
	return version, nil
}

// connections tracks every connection of a migration: the library takes no context and leaks some on errors.
// Closing them ends whatever waits for an answer, such as the lock while another server migrates.
type connections struct {
	dial   func(context.Context, string, string) (net.Conn, error)
	mu     sync.Mutex
	closed bool
	all    []net.Conn
}

func (c *connections) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, conn)
	if c.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	return conn, nil
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.all {
		_ = conn.Close() // most are closed already
	}
}
