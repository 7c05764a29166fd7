package postgres

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

	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/budget"
	"purser/internal/fault"
)

// The Postgres errors that are handled one by one (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	uniqueViolation      = "23505"
	ForeignKeyViolation  = "23503"
	SerializationFailure = "40001"
	DeadlockDetected     = "40P01"
	PlanChanged          = "0A000" // a table was altered since the statement was prepared
	ReadOnlyTransaction  = "25006"
	tooManyConnections   = "53300"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
	idleInTransaction    = "25P03" // the session was ended, because this server kept a transaction open
	statementExists      = "42P05"
	statementUnknown     = "26000"
	poolerFailed         = "08P01" // pgbouncer's code for all failures between it and the database
)

// obstacles are errors of the database or the network, each with an explanation. They pass, or an operator has to see
// to the database.
var obstacles = map[string]string{
	ReadOnlyTransaction: "The database is read-only: it is a standby, or was made read-only",
	tooManyConnections:  "The database has no connection left",
	"53000":             "The database lacks resources",
	"53100":             "The database has no space left on its disk",
	"53200":             "The database has no memory left",
	"53400":             "The database has reached one of its limits",
	"55P03":             "Something else keeps rows of the database locked",
	"57014":             "The database gave up a statement that took too long",
	"58030":             "The database cannot read or write its disk",
	statementExists:     pooled,
	statementUnknown:    pooled,
}

const pooled = "A pooler gives each transaction another session of the database: add " +
	"default_query_exec_mode=cache_describe to the database's URL"

// Unavailable returns the fault of a database that cannot do something now. The caller may try again after a second.
func Unavailable(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", format, args...)
	f.RetryAfter = time.Second
	return f
}

// HasCode reports whether an error of Postgres has one of the codes.
func HasCode(err error, codes ...string) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && slices.Contains(codes, pgErr.Code)
}

// Violates reports whether an error says that a row violates one of some unique indexes.
func Violates(err error, indexes ...string) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == uniqueViolation && slices.Contains(indexes, pgErr.ConstraintName)
}

// RefusesValues reports whether an error says that the database cannot store the values.
func RefusesValues(err error) bool {
	const dataException = "22" // a class
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(pgErr.Code, dataException)
}

// isLost reports whether an error says that the connection broke, or that the database has moved to another host.
func isLost(err error) bool {
	var dial *pgconn.ConnectError
	var network net.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled), HasCode(err, tooManyConnections):
		return false
	case errors.As(err, &dial): // whatever kept it from connecting, its own timeout too
		return true
	case errors.Is(err, context.DeadlineExceeded):
		return false
	}
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || pgconn.SafeToRetry(err) ||
		HasCode(err, poolerFailed, adminShutdown, crashShutdown, cannotConnectNow, idleInTransaction, ReadOnlyTransaction)
}

// Settled turns an error that is not this server's into a fault after which the caller may try again; it returns other
// errors unchanged. If the connection broke, or its database is read-only, idle connections are replaced too, because
// new ones may lead to another host.
func (d *DB) Settled(err error) error {
	lost := isLost(err)
	if lost {
		d.Pool.Reset()
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		if pgErr.Code == uniqueViolation {
			return Unavailable("The database already has a row with a number that it gave to a new one (%s): its counters "+
				"are behind its rows, as after a restore of only some tables. Nothing was stored; an operator has to restore "+
				"all tables from one backup, or to set the counters", pgErr.ConstraintName).Because(err)
		}
		if what, known := obstacles[pgErr.Code]; known {
			return Unavailable("%s; nothing was stored, send the request again", what).Because(err)
		}
	}
	if lost {
		return Unavailable("The database does not answer, and whether anything was stored is not known; look before you " +
			"send a change again").Because(err)
	}
	return err
}

// abandon has the connections replaced after a call that got no answer, unless they were a moment ago. Connections that
// are being made would be replaced too, and behind a host that has vanished making one takes longer than a call may:
// there would never be any.
func (d *DB) abandon() {
	const moment = 3 * connectTimeout
	d.abandoned.Lock()
	defer d.abandoned.Unlock()
	if time.Since(d.abandoned.last) >= moment {
		d.abandoned.last = time.Now()
		d.Pool.Reset()
	}
}

// Within does work that must end before a deadline. Fault: Unavailable if it does not; then other connections may be as
// dead as the one that was used, and are replaced.
func (d *DB) Within(ctx context.Context, limit time.Duration, do func(ctx context.Context) error) error {
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

// Sharing runs do with one of the connections that all calls share, each owner with his share of them.
func (d *DB) Sharing(ctx context.Context, do func() error) error {
	release, err := d.general.Acquire(ctx, budget.Claim{Weight: 1})
	if err != nil {
		return fmt.Errorf("wait for a connection: %w", err)
	}
	defer release()
	return do()
}

// Connected does work, again and again while the database accepts no further connection: one of this server's own gets
// free, or one of somebody else's.
func Connected(ctx context.Context, do func(ctx context.Context) error) error {
	const wait = 20 * time.Millisecond
	for {
		err := do(ctx)
		if !HasCode(err, tooManyConnections) {
			return err
		}
		select {
		case <-time.After(wait + rand.N(wait)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return err
		}
	}
}

// Again runs a read. It retries once if an idle connection turns out to be broken, as all are after a restart of
// Postgres, or if another transaction interfered.
func (d *DB) Again(ctx context.Context, do func(ctx context.Context) error) error {
	err := Connected(ctx, do)
	switch {
	case isLost(err):
		d.Pool.Reset()
		err = Connected(ctx, do)
	case HasCode(err, SerializationFailure, DeadlockDetected, PlanChanged):
		return d.Attempt(ctx, do)
	}
	return d.Settled(err)
}

// Retry does a write with one of the connections that all calls share, as Attempt does.
func (d *DB) Retry(ctx context.Context, limit time.Duration, do func(ctx context.Context) error) error {
	return d.Within(ctx, limit, func(ctx context.Context) error {
		return d.Sharing(ctx, func() error { return d.Attempt(ctx, do) })
	})
}

// Attempt does something again if another transaction got in its way, a few times.
func (d *DB) Attempt(ctx context.Context, do func(ctx context.Context) error) error {
	const attempts, wait = 6, 4 * time.Millisecond
	for attempt := range attempts {
		err := Connected(ctx, do)
		if !HasCode(err, SerializationFailure, DeadlockDetected, PlanChanged) {
			return d.Settled(err)
		}
		select {
		case <-time.After(rand.N(wait << attempt)): //nolint:gosec // jitter needs no secrecy
		case <-ctx.Done():
			return fmt.Errorf("wait to try again: %w", ctx.Err())
		}
	}
	return Unavailable("Other requests kept getting in the way; nothing was stored, send the request again")
}
