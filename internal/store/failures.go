package store

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/fault"
)

// The Postgres errors that are handled one by one (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	uniqueViolation      = "23505"
	foreignKeyViolation  = "23503"
	undefinedTable       = "42P01"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	planChanged          = "0A000" // a table was altered since the statement was prepared
	readOnlyTransaction  = "25006"
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
	readOnlyTransaction: "The database is read-only: it is a standby, or was made read-only",
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

// violates reports whether an error says that a row violates one of some unique indexes. The index of a partition or a
// shard may have its number at the end.
func violates(err error, indexes ...string) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pgErr.Code == uniqueViolation &&
		slices.Contains(indexes, strings.TrimRight(pgErr.ConstraintName, "_0123456789"))
}

// refusesValues reports whether an error says that the database cannot store the values.
func refusesValues(err error) bool {
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
		HasCode(err, poolerFailed, adminShutdown, crashShutdown, cannotConnectNow, idleInTransaction, readOnlyTransaction)
}
