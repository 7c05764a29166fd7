package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/fault"
	"purser/internal/revisions"
)

// defaultSite is the one site that is served so far.
const defaultSite = "default"

// Store is a site in Postgres. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	site string
	body *codec
}

var _ revisions.Store = (*Store)(nil)

// New returns the store of the default site in a database that Migrate has brought up to date.
func New(pool *pgxpool.Pool) (*Store, error) {
	body, err := newCodec()
	if err != nil {
		return nil, err
	}
	return &Store{pool: pool, site: defaultSite, body: body}, nil
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.pool.Ping(ctx); err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	return nil
}

// The Postgres errors that tell of a conflict with another transaction.
const (
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

func hasCode(err error, codes ...string) bool {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return false
	}
	return slices.Contains(codes, pgErr.Code)
}

// dbFault makes a lost database a fault that the caller may try again after; other errors stay what they are.
func dbFault(err error) error {
	var dial *pgconn.ConnectError
	var network net.Error
	const adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections = "57P01", "57P02", "57P03", "53300"
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &dial), errors.As(err, &network), pgconn.SafeToRetry(err),
		hasCode(err, adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections):
		return fault.New(fault.Unavailable, "HTTPServiceUnavailable",
			"The database does not answer; nothing was stored, send the request again: %w", hidden{err})
	}
	return err
}

// hidden keeps an error for the log and out of the answer.
type hidden struct{ error }

func (hidden) Error() string { return "see the server's log" }

func (h hidden) Unwrap() error { return h.error }

// collect runs a query and gathers what scan makes of each row.
func collect[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), sql string, args ...any) (
	[]T, error,
) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, dbFault(err)
	}
	items, err := pgx.CollectRows(rows, scan)
	return items, dbFault(err)
}
