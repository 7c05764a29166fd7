package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

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

	recorder recorder
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
	// Every statement is meant for one plan by index, whatever its parameters; planning again would take longer than
	// most of them run.
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET plan_cache_mode = force_generic_plan") // poolers refuse it as a startup parameter
		return err                                                           //nolint:wrapcheck // explained where it is used
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
func (s *Store) dbFault(err error) error {
	if !s.lost(err) {
		return err
	}
	return fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"The database does not answer, and whether anything was stored is not known; a PUT can safely be sent again").
		Because(err)
}

// lost tells whether an error says that the connection broke. Then those at rest are broken too, and are thrown away.
func (s *Store) lost(err error) bool {
	var dial *pgconn.ConnectError
	var network net.Error
	const adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections = "57P01", "57P02", "57P03", "53300"
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &dial), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		pgconn.SafeToRetry(err), hasCode(err, adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections):
		s.pool.Reset()
		return true
	}
	return false
}

// snapshot runs queries that change nothing, all of them on the state of one moment and in one round trip.
func (s *Store) snapshot(ctx context.Context, queue func(batch *pgx.Batch)) error {
	return s.read(func() error {
		batch := &pgx.Batch{}
		batch.Queue("BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ")
		queue(batch)
		batch.Queue("COMMIT")
		return s.pool.SendBatch(ctx, batch).Close()
	})
}

// read does what changes nothing. A connection that has broken at rest, as all do when Postgres is started again, is
// not the caller's concern.
func (s *Store) read(do func() error) error {
	err := do()
	if s.lost(err) {
		err = do()
	}
	return s.dbFault(err)
}

// retry does again what another transaction got in the way of, a few times; codes are further errors that tell of that.
func (s *Store) retry(ctx context.Context, do func() error, codes ...string) error {
	const attempts, wait = 6, 4 * time.Millisecond
	for attempt := range attempts {
		err := do()
		if !hasCode(err, append(codes, serializationFailure, deadlockDetected)...) {
			return s.dbFault(err)
		}
		select {
		case <-time.After(rand.N(wait << attempt)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return fmt.Errorf("wait to try again: %w", ctx.Err())
		}
	}
	return fault.New(fault.Unavailable, "HTTPServiceUnavailable",
		"Other requests kept getting in the way; nothing was stored, send the request again")
}

// collect runs a query that changes nothing and gathers what scan makes of each row.
func collect[T any](ctx context.Context, s *Store, scan func(pgx.CollectableRow) (T, error), sql string, args ...any) (
	items []T, err error,
) {
	err = s.read(func() error {
		rows, err := s.pool.Query(ctx, sql, args...)
		if err == nil {
			items, err = pgx.CollectRows(rows, scan)
		}
		return err //nolint:wrapcheck // explained by the caller
	})
	return items, err
}
