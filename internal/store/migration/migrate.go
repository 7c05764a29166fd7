package migration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"

	"purser/internal/store"
	"purser/migrations"
)

// Migrate brings the database at url up to this version of Purser and checks its schema. Any number of servers may do
// it at once: one works, the others wait for it. When ctx ends, Migrate finishes the file that it runs and stops; the
// next call goes on from there. Faults: Unavailable if a newer Purser wrote the database (DatabaseTooNew), or if its
// schema is not that of its version (DatabaseSchema); both leave it unchanged.
func Migrate(ctx context.Context, url string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer disconnect(ctx, conn)
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return fmt.Errorf("read the embedded migrations: %w", err)
	}
	driver := &migrationDriver{ctx: ctx, conn: conn, newest: migrations.Newest()}
	if err = migrateUp(ctx, files, driver); err == nil {
		err = driver.checkSchema() //nolint:contextcheck // the driver has it
	}
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// migrateUp runs one file at a time, because golang-migrate leaks files that it has read ahead and does not run.
func migrateUp(ctx context.Context, files source.Driver, driver *migrationDriver) error {
	m, err := migrate.NewWithInstance("embedded", files, "postgres", driver)
	for err == nil {
		if err = ctx.Err(); err == nil {
			err = m.Steps(1)
		}
	}
	if errors.Is(err, fs.ErrNotExist) { // there is no further file
		return nil
	}
	return err //nolint:wrapcheck // wrapped by Migrate
}

// connect opens a connection that prepares no statements, so that a pooler may share the server's among transactions.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := store.PoolConfig(url)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return conn, nil
}

// disconnect closes a connection even if ctx has ended.
func disconnect(ctx context.Context, conn *pgx.Conn) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_ = conn.Close(ctx) // its work is done
}
