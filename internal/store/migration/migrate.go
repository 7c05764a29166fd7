package migration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"

	"purser/internal/fault"
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
	for done := false; !done; {
		if done, err = step(ctx, conn, files); err != nil {
			return err
		}
	}
	return nil
}

// step runs the next file, and finishes it even if ctx ends. If there is none, it checks the schema and returns done.
//
//	begin ─ lock ─ read version ─┬─ there is a next file: run it ─ write its version ─ commit
//	                             └─ there is none: compare the schema
//
// The lock ends with the transaction and nothing else is kept in the session, so that a server that ends at any moment
// leaves nothing behind, and a pooler may stand in between.
func step(ctx context.Context, conn *pgx.Conn, files source.Driver) (done bool, err error) {
	// With a snapshot from before the lock, as at higher levels, the version would be that of then.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, fmt.Errorf("migrate: begin a transaction: %w", err)
	}
	lasting := context.WithoutCancel(ctx)
	defer func() { _ = tx.Rollback(lasting) }() // after the commit it does nothing
	if done, err = stepIn(ctx, tx, files); err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	if err := tx.Commit(lasting); err != nil {
		return false, fmt.Errorf("migrate: commit: %w", err)
	}
	return done, nil
}

// stepIn does the work of step in a transaction.
func stepIn(ctx context.Context, tx pgx.Tx, files source.Driver) (done bool, err error) {
	if err := lockMigrations(ctx, tx); err != nil {
		return false, err
	}
	version, err := readVersion(ctx, tx)
	if err != nil {
		return false, err
	}
	next, err := nextFile(files, version)
	if errors.Is(err, fs.ErrNotExist) {
		return true, checkSchema(ctx, tx, version)
	}
	if err != nil {
		return false, err
	}
	return false, run(context.WithoutCancel(ctx), tx, files, next)
}

// nextFile returns the version of the file after a version, which is 0 for an empty database.
func nextFile(files source.Driver, version int) (next uint, err error) {
	if version == 0 {
		next, err = files.First()
	} else {
		next, err = files.Next(uint(version))
	}
	if err != nil {
		return 0, fmt.Errorf("find the migration after %d: %w", version, err)
	}
	return next, nil
}

// run runs the file of a version.
func run(ctx context.Context, tx pgx.Tx, files source.Driver, version uint) error {
	file, _, err := files.ReadUp(version)
	if err != nil {
		return fmt.Errorf("read migration %d: %w", version, err)
	}
	defer func() { _ = file.Close() }() // it is embedded
	sql, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read migration %d: %w", version, err)
	}
	if _, err := tx.Exec(ctx, string(sql)); err != nil {
		return fmt.Errorf("run migration %d, which was rolled back: %w", version, err)
	}
	return writeVersion(ctx, tx, version)
}

// patient lifts all statement timeouts for a transaction. Only a server that freezes in it, and keeps the others
// waiting, is thrown out after a minute.
const patient = `
	SELECT set_config(name, CASE name WHEN 'idle_in_transaction_session_timeout' THEN '60s' ELSE '0' END, true)
	FROM pg_settings WHERE name IN
	('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`

// lockMigrations waits for the lock of all migrations. It is the one that earlier servers hold for a session.
func lockMigrations(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, patient); err != nil {
		return fmt.Errorf("lift the timeouts of a migration: %w", err)
	}
	var name, schema string
	const names = "SELECT current_database(), coalesce(current_schema(), '')"
	if err := tx.QueryRow(ctx, names).Scan(&name, &schema); err != nil {
		return fmt.Errorf("read the names of database and schema: %w", err)
	}
	key, err := database.GenerateAdvisoryLockId(name, schema, "schema_migrations")
	if err != nil {
		return fmt.Errorf("name the lock of migrations: %w", err)
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1::text::bigint)", key); err != nil {
		return fmt.Errorf("wait for another server's migration: %w", err)
	}
	return nil
}

// readVersion returns the version of a locked database, 0 if it is empty. Faults: DatabaseTooNew, DatabaseSchema.
func readVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	// to_regclass might answer from the session's cache from before it waited for the lock.
	const exists = "SELECT EXISTS (SELECT FROM pg_tables" +
		" WHERE schemaname = current_schema() AND tablename = 'schema_migrations')"
	var found, dirty bool
	if err := tx.QueryRow(ctx, exists).Scan(&found); err != nil {
		return 0, fmt.Errorf("look for schema_migrations: %w", err)
	}
	if !found {
		return 0, nil
	}
	err = tx.QueryRow(ctx, "SELECT version, dirty FROM schema_migrations LIMIT 1").Scan(&version, &dirty)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && version < 1:
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("read the database's version: %w", err)
	case version > migrations.Newest():
		return 0, store.TooNew(version, migrations.Newest())
	case dirty:
		return 0, fault.New(fault.Unavailable, "DatabaseSchema", "migration %d of the database was interrupted outside of "+
			"Purser, which marks none as dirty; restore the backup from before it", version)
	}
	return version, nil
}

// writeVersion makes version the database's.
func writeVersion(ctx context.Context, tx pgx.Tx, version uint) error {
	const create = "CREATE TABLE IF NOT EXISTS schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL);" +
		" DELETE FROM schema_migrations"
	if _, err := tx.Exec(ctx, create); err != nil {
		return fmt.Errorf("write version %d of the database: %w", version, err)
	}
	if _, err := tx.Exec(ctx, "INSERT INTO schema_migrations VALUES ($1, false)", version); err != nil {
		return fmt.Errorf("write version %d of the database: %w", version, err)
	}
	return nil
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
