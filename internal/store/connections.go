package store

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
)

// Number of connections without pool_max_conns, and how many of them are reserved for readiness, audit and verdicts.
const maxConnections, reservedConnections = 24, 4

// Timeouts after which a peer counts as vanished.
const (
	connectTimeout = 3 * time.Second
	unackedTimeout = 5 * time.Second // data that was sent and not acknowledged (TCP_USER_TIMEOUT)
	idleTimeout    = 5 * time.Second // of a connection at rest, after which it is probed
)

// settings are set by each connection, unless the URL sets them. They are not startup parameters: poolers refuse those.
//
// Every statement has one plan by index that is good for all parameters: planning again would take longer than most of
// them run, and compiling one that Postgres estimates as expensive takes longer than all of them. A plan reads a whole
// table only where no index fits, because it may have been made while the table was small or had just been emptied.
//
// The timeouts make the database end transactions of a server that has frozen or vanished, which frees its locks. A
// frozen server may have two transactions that want the same row, a change and a prune: the second gets it when the
// first has been ended.
var settings = map[string]string{
	"plan_cache_mode":                     "force_generic_plan",
	"jit":                                 "off",
	"enable_seqscan":                      "off",
	"statement_timeout":                   "15s",
	"idle_in_transaction_session_timeout": "5s",
	"lock_timeout":                        "14s",
}

// noStatementTimeout disables the timeout of a transaction's statements: only the context limits them.
const noStatementTimeout = `SET LOCAL statement_timeout = 0`

// onNotice is called with the notices of all sessions; nil but in tests, which have no other way to all of them.
//
//nolint:gochecknoglobals // for the reason above
var onNotice pgconn.NoticeHandler

// PoolConfig returns the configuration of the pool for a URL. Of several hosts it connects to one that accepts writes.
func PoolConfig(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = maxConnections
	}
	if !strings.Contains(url, "connect_timeout") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if hasStandbys(config.ConnConfig) && config.ConnConfig.ValidateConnect == nil {
		config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	config.ConnConfig.DialFunc = dialer().DialContext
	config.ConnConfig.OnNotice = onNotice
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		// Times are read in UTC, whatever the zone of the server.
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID, Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		_, err := conn.Exec(ctx, initial(config.ConnConfig.RuntimeParams))
		return err
	}
	config.BeforeConnect = protectCommits
	config.BeforeClose = closeBusy
	return config, nil
}

// traceStatements returns a tracer that makes a span of each statement, with its text but without its arguments.
func traceStatements(traces trace.TracerProvider) pgx.QueryTracer {
	return otelpgx.NewTracer(otelpgx.WithTracerProvider(traces), otelpgx.WithMeterProvider(noop.NewMeterProvider()),
		otelpgx.WithDisableConnectionDetailsInAttributes())
}

// committing is the key in a connection's data that says whether it commits.
const committing = "committing"

// protectCommits makes a connection that is abandoned during a commit close without a cancel request. While a
// synchronous standby is missing, a cancel would end the wait for it and make the unreplicated change visible, so that
// others rely on it: a repeated PUT, for example, would be answered as unchanged.
func protectCommits(_ context.Context, config *pgx.ConnConfig) error {
	var commits atomic.Bool
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if commits.Load() { // it can only be for the request to cancel
			return nil, context.Canceled
		}
		return dial(ctx, network, address)
	}
	config.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		conn.CustomData()[committing] = &commits
		return nil
	}
	return nil
}

// uncancelled runs the function that commits a connection's transaction.
func uncancelled(conn *pgx.Conn, do func() error) error {
	commits, _ := conn.PgConn().CustomData()[committing].(*atomic.Bool)
	commits.Store(true)
	err := do()
	if !conn.IsClosed() {
		commits.Store(false)
	}
	return err
}

// hasStandbys reports whether a URL names several hosts. The same one may be there twice, with TLS and without.
func hasStandbys(config *pgx.ConnConfig) bool {
	return slices.ContainsFunc(config.Fallbacks, func(other *pgconn.FallbackConfig) bool {
		return other.Host != config.Host || other.Port != config.Port
	})
}

// closeBusy closes a connection that was given up in the middle of a statement. It waits only briefly for the database:
// until then the connection counts as one of the pool's, and the peer may have vanished.
func closeBusy(conn *pgx.Conn) {
	const moment = 300 * time.Millisecond
	if !conn.IsClosed() {
		return
	}
	select {
	case <-conn.PgConn().CleanupDone():
	case <-time.After(moment):
		_ = conn.PgConn().Conn().Close()
	}
}

// initial returns the statements for the settings that the URL does not set.
func initial(given map[string]string) string {
	var statements []string
	for name, value := range settings {
		if _, isGiven := given[name]; !isGiven {
			statements = append(statements, "SET "+name+" = '"+value+"'")
		}
	}
	slices.Sort(statements)
	return strings.Join(statements, "; ")
}

// dialer returns a dialer whose connections detect a vanished peer.
func dialer() *net.Dialer {
	const probes = 3
	return &net.Dialer{
		Timeout:         connectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: idleTimeout, Interval: idleTimeout / probes, Count: probes},
		Control:         limitUnacknowledged,
	}
}
