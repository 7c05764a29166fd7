package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/budget"
	"purser/internal/claims"
	"purser/internal/revisions"
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

// Database calls Postgres. Each call has a deadline by its kind and few connections, which the owners of requests share
// fairly; it is repeated after conflicts with other transactions. Errors that pass, or that an operator has to see to,
// are faults of kind Unavailable that say so. It is safe for concurrent use.
type Database struct {
	pool       *pgxpool.Pool
	deadlines  Deadlines
	shares     *budget.Shares        // of the general connections
	queue      *river.Client[pgx.Tx] // of deliveries
	codec      *codec                // of contents
	compat     bool                  // as in Options
	version    int                   // of the schema, that this server knows
	news       announcements
	statistics statistics
	caches
	looks     gatherer[claims.Look, claims.Found]
	deleted   chan struct{} // holds a token after sites were marked for deletion
	grace     time.Duration // from a mark to the end of the site, at least
	abandoned struct {
		sync.Mutex
		last time.Time // when connections were replaced because a call got no answer
	}
}

// connections are those that a call may use.
type connections bool

const (
	general  connections = false // each owner has his share of them
	reserved connections = true  // readiness, audit and verdicts must always find one
)

// connect returns the database at a URL. traces has a span of each statement made; nil makes none.
func connect(ctx context.Context, url string, deadlines Deadlines, traces trace.TracerProvider) (*Database, error) {
	config, err := PoolConfig(url)
	if err != nil {
		return nil, err
	}
	if traces != nil {
		config.ConnConfig.Tracer = traceStatements(traces)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	shares := budget.NewShares(int64(max(1, config.MaxConns-reservedConnections)))
	return &Database{
		pool: pool, deadlines: deadlines, shares: shares,
		looks:   gatherer[claims.Look, claims.Found]{most: maxAsks, rest: restAfterLook},
		deleted: make(chan struct{}, 1), grace: deletionGrace,
		news: announcements{sites: map[string]bool{}, waiting: make(chan struct{}, 1)},
	}, nil
}

// Close closes the connections; it waits for those in use.
func (d *Database) Close() { d.pool.Close() }

// Stat returns the state of the pool of connections.
func (d *Database) Stat() *pgxpool.Stat { return d.pool.Stat() }

// within does work that must end before a deadline. Fault: Unavailable if it does not; then other connections may be as
// dead as the one that was used, and are replaced.
func (d *Database) within(ctx context.Context, limit time.Duration, do func(ctx context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		d.abandon()
		return Unavailable("The database did not answer within %v, and whether anything was stored is not known; look "+
			"before you send a change again", limit).Because(err)
	}
	return err
}

// abandon has the connections replaced after a call that got no answer, unless they were a moment ago. Connections that
// are being made would be replaced too, and behind a host that has vanished making one takes longer than a call may:
// there would never be any.
func (d *Database) abandon() {
	const moment = 3 * connectTimeout
	d.abandoned.Lock()
	defer d.abandoned.Unlock()
	if time.Since(d.abandoned.last) >= moment {
		d.abandoned.last = time.Now()
		d.pool.Reset()
	}
}

// withConn does work that takes one of the connections.
func (d *Database) withConn(ctx context.Context, use connections, do func(ctx context.Context) error) error {
	if use == general {
		release, err := d.shares.Acquire(ctx, budget.Claim{Weight: 1})
		if err != nil {
			return fmt.Errorf("wait for a connection: %w", err)
		}
		defer release()
	}
	return do(ctx)
}

// retryTx does a write within a deadline. It repeats the write a few times if another transaction interfered.
func (d *Database) retryTx(ctx context.Context, use connections, limit time.Duration,
	do func(ctx context.Context) error,
) error {
	return d.within(ctx, limit, func(ctx context.Context) error {
		return d.withConn(ctx, use, func(ctx context.Context) error { return d.retry(ctx, do) })
	})
}

// withTx is retryTx with a general connection, on which it begins a transaction.
func (d *Database) withTx(ctx context.Context, limit time.Duration,
	do func(ctx context.Context, tx pgx.Tx) error,
) error {
	return d.retryTx(ctx, general, limit, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return do(ctx, tx) })
	})
}

// exec runs a statement that writes little, and returns the number of rows that it changed.
func (d *Database) exec(ctx context.Context, sql string, args ...any) (rows int64, err error) {
	err = d.retryTx(ctx, general, d.deadlines.Write, func(ctx context.Context) error {
		tag, err := d.pool.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}

// retryRead runs a read. It also repeats the read once if an idle connection turns out to be broken, as all are after a
// restart of Postgres.
func (d *Database) retryRead(ctx context.Context, do func(ctx context.Context) error) error {
	broke := false
	return d.retry(ctx, func(ctx context.Context) error {
		err := do(ctx)
		if isLost(err) && !broke {
			broke = true
			d.pool.Reset()
			err = do(ctx)
		}
		return err
	})
}

// retry repeats work while the database accepts no further connection, until one of this server's or of another client
// gets free, and a few times if another transaction interfered. It makes the last error a fault.
func (d *Database) retry(ctx context.Context, do func(ctx context.Context) error) error {
	const conflicts, wait, waitToConnect = 6, 4 * time.Millisecond, 20 * time.Millisecond
	for conflict := 0; conflict < conflicts; {
		err := do(ctx)
		pause := waitToConnect + rand.N(waitToConnect) //nolint:gosec // jitter needs no secrecy
		switch {
		case errors.Is(err, revisions.ErrStaleSnapshot): // the caller plans again
			return err
		case isConflict(err):
			pause = rand.N(wait << conflict) //nolint:gosec // jitter needs no secrecy
			conflict++
		case !HasCode(err, tooManyConnections):
			return d.asFault(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return d.asFault(fmt.Errorf("wait to try again after %w: %w", err, ctx.Err()))
		}
	}
	return Unavailable("Other requests kept getting in the way; nothing was stored, send the request again").Unstored()
}

// isConflict reports whether an error says that another transaction interfered.
func isConflict(err error) bool {
	return HasCode(err, serializationFailure, deadlockDetected, planChanged)
}

// asFault turns an error that is not this server's into a fault after which the caller may try again; it returns other
// errors unchanged. If the connection broke, or its database is read-only, idle connections are replaced too, because
// new ones may lead to another host.
func (d *Database) asFault(err error) error {
	lost := isLost(err)
	if lost {
		d.pool.Reset()
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		if pgErr.Code == uniqueViolation {
			return Unavailable("The database already has a row with a number that it gave to a new one (%s): its counters "+
				"are behind its rows, as after a restore of only some tables. Nothing was stored; an operator has to restore "+
				"all tables from one backup, or to set the counters", pgErr.ConstraintName).Unstored().Because(err)
		}
		if what, known := obstacles[pgErr.Code]; known {
			return Unavailable("%s; nothing was stored, send the request again", what).Unstored().Because(err)
		}
	}
	if lost {
		return Unavailable("The database does not answer, and whether anything was stored is not known; look before you " +
			"send a change again").Because(err)
	}
	return err
}
