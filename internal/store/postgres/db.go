package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/budget"
)

// Deadlines bound the duration of calls to the database, by their kind.
type Deadlines struct {
	Ready  time.Duration // whether the database answers
	Read   time.Duration // one question
	Write  time.Duration // a small write: a tag, a result, an audit event, a revision
	Append time.Duration // a revision that changes thousands of documents
	Sweep  time.Duration // a prune or a purge
}

// DefaultDeadlines returns the deadlines of a server.
func DefaultDeadlines() Deadlines {
	return Deadlines{
		Ready: 2 * time.Second, Read: 15 * time.Second, Write: 15 * time.Second, Append: time.Minute,
		Sweep: 10 * time.Minute,
	}
}

// DB is a Postgres database. Every call has a deadline by its kind, and failures of the connection become faults with
// advice. It is safe for concurrent use.
type DB struct {
	Pool      *pgxpool.Pool
	Deadlines Deadlines
	// general limits the connections of all calls except readiness, audit and verdicts, which must always find one.
	general   *budget.Shares
	abandoned struct {
		sync.Mutex
		last time.Time // when connections were replaced because a call got no answer
	}
}

// Connect returns the database at a URL. A pool_max_conns there sets the number of connections; the default is 24, so
// that posted results can be committed in groups. traces has a span of each statement made; nil makes none.
func Connect(ctx context.Context, url string, deadlines Deadlines, traces trace.TracerProvider) (*DB, error) {
	config, err := PoolConfig(url)
	if err != nil {
		return nil, err
	}
	if traces != nil {
		config.ConnConfig.Tracer = statements(traces)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	general := budget.NewShares(int64(max(1, config.MaxConns-reservedConnections)))
	return &DB{Pool: pool, Deadlines: deadlines, general: general}, nil
}

// Close closes the connections; it waits for those in use.
func (d *DB) Close() { d.Pool.Close() }

// Stat returns the state of the pool of connections.
func (d *DB) Stat() *pgxpool.Stat { return d.Pool.Stat() }
