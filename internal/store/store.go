package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

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

// Open returns the store of the default site in a database that Migrate has brought up to date. A pool_max_conns in the
// URL decides how many connections it may have; without, there are enough for posted results to be committed in groups.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	const enough = 24
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = enough
	}
	body, err := newCodec()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return &Store{pool: pool, site: defaultSite, body: body}, nil
}

// Close gives the connections back; it waits for those in use.
func (s *Store) Close() { s.pool.Close() }

// Stat returns the state of the pool of connections.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

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
