package site

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/store/migration"
	"purser/internal/store/postgres"
)

// defaultSite is the one site that is served so far.
const defaultSite = "default"

// Site is a site in a database. It is safe for concurrent use.
type Site struct {
	*postgres.DB

	Name  string          // in the first column of every table
	Codec *postgres.Codec // of contents

	version int // of the schema, that this server knows
}

// Open returns the default site in a database that migration.Migrate has brought up to date. traces records a span for
// each statement; nil records none.
func Open(ctx context.Context, url string, deadlines postgres.Deadlines, traces trace.TracerProvider) (*Site, error) {
	codec, err := postgres.NewCodec()
	if err != nil {
		return nil, err
	}
	version, err := migration.Newest()
	if err != nil {
		return nil, err
	}
	db, err := postgres.Connect(ctx, url, deadlines, traces)
	if err != nil {
		return nil, err
	}
	return &Site{DB: db, Name: defaultSite, Codec: codec, version: version}, nil
}

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (s *Site) Ping(ctx context.Context) error {
	return s.Within(ctx, s.Deadlines.Ready, func(ctx context.Context) error {
		var readOnly bool
		var version int
		err := s.Again(ctx, func(ctx context.Context) error {
			return s.Pool.QueryRow(ctx, cannotWrite).Scan(&readOnly, &version)
		})
		switch {
		case err != nil:
			return fmt.Errorf("reach the database: %w", err)
		case readOnly:
			return s.Settled(&pgconn.PgError{Code: postgres.ReadOnlyTransaction})
		}
		return s.CheckVersion(version)
	})
}

const (
	cannotWrite = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
	(` + schemaVersion + `)`

	schemaVersion = `SELECT version FROM schema_migrations LIMIT 1`
)

// CheckSchema returns a fault if the database has a newer version of the schema than this server: it might delete data
// whose meaning it does not know.
func (s *Site) CheckSchema(ctx context.Context, tx pgx.Tx) error {
	var version int
	if err := tx.QueryRow(ctx, schemaVersion).Scan(&version); err != nil {
		return err //nolint:wrapcheck // explained by the callers
	}
	return s.CheckVersion(version)
}

// CheckVersion is CheckSchema for a version that was read before.
func (s *Site) CheckVersion(version int) error {
	if version > s.version {
		return migration.TooNew(version, s.version)
	}
	return nil
}

// Analyze updates the statistics of tables, which makes the sessions of all servers plan their statements again.
// Autovacuum does so only once a minute; until then, plans that were made for small tables read all of ones that have
// grown.
func (s *Site) Analyze(ctx context.Context, tables string) {
	ctx, cancel := context.WithTimeout(ctx, s.Deadlines.Append)
	defer cancel()
	_ = s.Sharing(ctx, func() error {
		_, err := s.Pool.Exec(ctx, "ANALYZE "+tables)
		return err //nolint:wrapcheck // is dropped
	})
}
