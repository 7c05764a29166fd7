package migration

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5"

	"purser/internal/fault"
	"purser/internal/store"
)

// migrationDriver runs the files of golang-migrate. Each file and its version are one transaction:
//
//	begin ─ lock ─ read version ─┬─ older:  run file ─ write version ─ commit
//	                             └─ the same or newer: another server ran it
//
// The lock ends with the transaction and nothing else is kept in the session, so that a server that ends at any moment
// leaves nothing behind, and a pooler may stand in between.
type migrationDriver struct {
	ctx    context.Context //nolint:containedctx // the methods of database.Driver take none
	conn   *pgx.Conn
	newest int // version that this server knows
	target int // version of the file that is to be run next
}

var _ database.Driver = (*migrationDriver)(nil)

// noVersion is the version of an empty database.
const noVersion = database.NilVersion

// Version implements database.Driver.
func (d *migrationDriver) Version() (version int, dirty bool, err error) {
	err = d.locked(func(_ pgx.Tx, found int) error {
		version = found
		return nil
	})
	return version, false, err
}

// SetVersion implements database.Driver. It only notes the version, which Run writes.
func (d *migrationDriver) SetVersion(version int, _ bool) error {
	d.target = version
	return nil
}

// Run implements database.Driver. It runs a file, unless another server did, and finishes it even if the context ends.
func (d *migrationDriver) Run(file io.Reader) error {
	sql, err := io.ReadAll(file)
	if err != nil {
		return fmt.Errorf("read migration %d: %w", d.target, err)
	}
	return d.locked(func(tx pgx.Tx, version int) error {
		if version >= d.target {
			return nil
		}
		ctx := context.WithoutCancel(d.ctx)
		if _, err := tx.Exec(ctx, string(sql)); err != nil {
			return fmt.Errorf("run migration %d, which was rolled back: %w", d.target, err)
		}
		return writeVersion(ctx, tx, d.target)
	})
}

// checkSchema checks that the migrated database has the schema of its version. Fault: Unavailable.
func (d *migrationDriver) checkSchema() error {
	return d.locked(func(tx pgx.Tx, version int) error {
		got, err := Schema(d.ctx, tx)
		if err != nil {
			return err
		}
		want, err := schemaOf(version)
		if err != nil {
			return err
		}
		if found := schemaDifferences(want, got); len(found) > 0 {
			return fault.New(fault.Unavailable, "DatabaseSchema", "the database has version %d of Purser's schema, but was"+
				" changed since: %s; undo these changes, or restore a backup; nothing was changed now",
				version, summary(found))
		}
		return nil
	})
}

// locked calls do with the database's version, in a transaction that keeps all other servers from migrating. Until then
// the end of the context ends it; do decides for itself. Fault: Unavailable if a newer Purser wrote the database.
func (d *migrationDriver) locked(do func(tx pgx.Tx, version int) error) error {
	// With a snapshot from before the lock, as at higher levels, the version would be that of then.
	tx, err := d.conn.BeginTx(d.ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	ctx := context.WithoutCancel(d.ctx)
	defer func() { _ = tx.Rollback(ctx) }() // after the commit it does nothing
	if err := lockMigrations(d.ctx, tx); err != nil {
		return err
	}
	version, err := d.readVersion(d.ctx, tx)
	if err != nil {
		return err
	}
	if err := do(tx, version); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
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

// readVersion returns the version of a locked database. Faults: DatabaseTooNew, DatabaseSchema.
func (d *migrationDriver) readVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	// to_regclass might answer from the session's cache from before it waited for the lock.
	const exists = "SELECT EXISTS (SELECT FROM pg_tables" +
		" WHERE schemaname = current_schema() AND tablename = 'schema_migrations')"
	var found, dirty bool
	if err := tx.QueryRow(ctx, exists).Scan(&found); err != nil {
		return 0, fmt.Errorf("look for schema_migrations: %w", err)
	}
	if !found {
		return noVersion, nil
	}
	err = tx.QueryRow(ctx, "SELECT version, dirty FROM schema_migrations LIMIT 1").Scan(&version, &dirty)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && version < 1:
		return noVersion, nil
	case err != nil:
		return 0, fmt.Errorf("read the database's version: %w", err)
	case version > d.newest:
		return 0, store.TooNew(version, d.newest)
	case dirty:
		return 0, fault.New(fault.Unavailable, "DatabaseSchema", "migration %d of the database was interrupted outside of "+
			"Purser, which marks none as dirty; restore the backup from before it", version)
	}
	return version, nil
}

// writeVersion makes version the database's.
func writeVersion(ctx context.Context, tx pgx.Tx, version int) error {
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

// Lock implements database.Driver. Each transaction locks for itself.
func (d *migrationDriver) Lock() error { return nil }

// Unlock implements database.Driver.
func (d *migrationDriver) Unlock() error { return nil }

// Close implements database.Driver. The connection is the caller's.
func (d *migrationDriver) Close() error { return nil }

// Open implements database.Driver.
func (d *migrationDriver) Open(string) (database.Driver, error) { return nil, errors.ErrUnsupported }

// Drop implements database.Driver.
func (d *migrationDriver) Drop() error { return errors.ErrUnsupported }
