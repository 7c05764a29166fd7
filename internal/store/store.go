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
	"golang.org/x/sync/semaphore"

	"purser/internal/cache"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// defaultSite is the one site that is served so far.
const defaultSite = "default"

// Deadlines are how long a call to the database may take, by its kind.
type Deadlines struct {
	Ready  time.Duration // whether the database answers
	Read   time.Duration // one question
	Write  time.Duration // a small write: a tag, a result, an audit event
	Append time.Duration // a revision
	Sweep  time.Duration // a prune or a purge
}

// DefaultDeadlines are those of a server.
func DefaultDeadlines() Deadlines {
	return Deadlines{
		Ready: 2 * time.Second, Read: 15 * time.Second, Write: 15 * time.Second, Append: time.Minute,
		Sweep: 10 * time.Minute,
	}
}

// Options configure a Store.
type Options struct {
	// CacheSize is how many bytes of documents of buckets are kept in memory.
	CacheSize int
	Deadlines Deadlines
}

// policiesSize is how many bytes of parsed ValidationPolicies are kept in memory: status asks for them each time.
const policiesSize = 32 << 20

// Store is a site in Postgres. It is safe for concurrent use.
type Store struct {
	pool      *pgxpool.Pool
	site      string
	body      *codec
	deadlines Deadlines
	buckets   *cache.Cache[string, bucketEntry]
	policies  *cache.Cache[policyKey, validations.Policy]
	// general limits the connections of all calls except readiness, audit and verdicts, which must always find one.
	general *semaphore.Weighted
	// sweeps lets one prune or purge run at a time. The others wait without a connection.
	sweeps *semaphore.Weighted
	// stepped is called after each transaction of a prune with the number of rows that it deleted while it held the
	// site's counters; nil but in tests.
	stepped func(locked int) error

	recorder recorder
}

var (
	_ revisions.Store = (*Store)(nil)
	_ queries.Store   = (*Store)(nil)
	_ queries.Audit   = (*Store)(nil)
)

// Open returns the store of the default site in a database that Migrate has brought up to date. A pool_max_conns in the
// URL sets the number of connections; the default is 24, so that posted results can be committed in groups.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	const connections, reserved = 24, 4
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = connections
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
	return &Store{
		pool: pool, site: defaultSite, body: body, deadlines: options.Deadlines,
		buckets:  cache.New[string, bucketEntry](options.CacheSize),
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		general:  semaphore.NewWeighted(int64(max(1, config.MaxConns-reserved))),
		sweeps:   semaphore.NewWeighted(1),
	}, nil
}

// Close gives the connections back; it waits for those in use.
func (s *Store) Close() { s.pool.Close() }

// Stat returns the state of the pool of connections.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

// Ping returns an error if the database does not answer in time.
func (s *Store) Ping(ctx context.Context) error {
	return s.within(ctx, s.deadlines.Ready, func(ctx context.Context) error {
		if err := s.pool.Ping(ctx); err != nil {
			return fmt.Errorf("reach the database: %w", err)
		}
		return nil
	})
}

// within does work that must end before a deadline. Fault: Unavailable if it does not.
func (s *Store) within(ctx context.Context, limit time.Duration, do func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return unavailable("The database did not answer within %v, and whether anything was stored is not known; a PUT can "+
			"safely be sent again", limit).Because(err)
	}
	return err
}

// sharing does work with one of the connections that all calls share.
func (s *Store) sharing(ctx context.Context, do func() error) error {
	if err := s.general.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for a connection: %w", err)
	}
	defer s.general.Release(1)
	return do()
}

// sweeping does a prune or a purge once no other one runs in this process.
func (s *Store) sweeping(ctx context.Context, do func(ctx context.Context) error) error {
	return s.within(ctx, s.deadlines.Sweep, func(ctx context.Context) error {
		if err := s.sweeps.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("wait for another prune or purge: %w", err)
		}
		defer s.sweeps.Release(1)
		return do(ctx)
	})
}

func unavailable(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", format, args...)
	f.RetryAfter = time.Second
	return f
}

// The Postgres errors of a conflict with another transaction.
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

// explained makes a lost connection a fault, after which the caller may try again; other errors stay what they are.
func explained(err error) error {
	if !isLost(err) {
		return err
	}
	return unavailable("The database does not answer, and whether anything was stored is not known; a PUT can safely be " +
		"sent again").Because(err)
}

// isLost reports whether an error says that the connection broke.
func isLost(err error) bool {
	var dial *pgconn.ConnectError
	var network net.Error
	const adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections = "57P01", "57P02", "57P03", "53300"
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	}
	return errors.As(err, &dial) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || pgconn.SafeToRetry(err) ||
		hasCode(err, adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections)
}

// lost reports whether an error says that the connection broke. Those at rest are broken too then, and are replaced.
func (s *Store) lost(err error) bool {
	if !isLost(err) {
		return false
	}
	s.pool.Reset()
	return true
}

func (s *Store) again(ctx context.Context, do func(ctx context.Context) error) error {
	err := do(ctx)
	if s.lost(err) {
		err = do(ctx)
	}
	return explained(err)
}

// retry does a write with one of the connections that all calls share; codes are errors after which it is done again
// besides those of attempt.
func (s *Store) retry(ctx context.Context, limit time.Duration, do func(ctx context.Context) error, codes ...string,
) error {
	return s.within(ctx, limit, func(ctx context.Context) error {
		return s.sharing(ctx, func() error { return s.attempt(ctx, do, codes...) })
	})
}

// attempt does a write again if another transaction got in its way, a few times; codes are further errors of that.
func (s *Store) attempt(ctx context.Context, do func(ctx context.Context) error, codes ...string) error {
	const attempts, wait = 6, 4 * time.Millisecond
	for attempt := range attempts {
		err := do(ctx)
		if !hasCode(err, append(codes, serializationFailure, deadlockDetected)...) {
			s.lost(err)
			return explained(err)
		}
		select {
		case <-time.After(rand.N(wait << attempt)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return fmt.Errorf("wait to try again: %w", ctx.Err())
		}
	}
	return unavailable("Other requests kept getting in the way; nothing was stored, send the request again")
}
