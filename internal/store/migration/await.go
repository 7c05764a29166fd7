package migration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"purser/internal/fault"
	"purser/internal/store"
)

// Await returns when the database at url answers. After each attempt that failed it calls report with a fault of kind
// Unavailable, whose message anybody may see; the fault wraps the error. It gives up after limit, and immediately if
// Postgres refuses the user or has no such database, because waiting does not help. Fault: Unavailable.
func Await(ctx context.Context, url string, limit time.Duration, report func(*fault.Fault)) error {
	const pause = 250 * time.Millisecond
	for end := time.Now().Add(limit); ; {
		err := reach(ctx, url)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("wait for the database: %w", ctx.Err())
		case isPermanent(err):
			return refused(url, err)
		case time.Now().After(end):
			return fault.New(fault.Unavailable, "DatabaseUnreachable", "the database at %s did not answer within %v: %w;"+
				" check that Postgres runs there and accepts connections, that --database-url has the right address, and that"+
				" no firewall is in the way; --database-wait sets how long the server waits", address(url), limit, err)
		}
		report(store.Unavailable("The server waits for its database: %s", publicReason(err)).Because(err))
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// reach returns an error if the database does not answer now.
func reach(ctx context.Context, url string) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer disconnect(ctx, conn)
	if err := conn.Ping(ctx); err != nil {
		return fmt.Errorf("ask the database: %w", err)
	}
	return nil
}

// Postgres errors that refuse a connection permanently.
const (
	invalidAuthorization = "28000" // no such role, or pg_hba.conf has no entry for it
	invalidPassword      = "28P01"
	invalidCatalogName   = "3D000" // no such database
)

// isPermanent reports whether an error of connecting does not pass by waiting.
func isPermanent(err error) bool {
	_, malformed := errors.AsType[*pgconn.ParseConfigError](err)
	return malformed || store.HasCode(err, invalidAuthorization, invalidPassword, invalidCatalogName)
}

// refused returns a fault with advice about a permanent error.
func refused(url string, err error) error {
	advice := "check the user and the password in --database-url (or PGUSER, PGPASSWORD, the password file)," +
		" and pg_hba.conf"
	switch {
	case store.HasCode(err, invalidCatalogName):
		advice = "create the database (CREATE DATABASE), or name another one in --database-url"
	case !store.HasCode(err, invalidAuthorization, invalidPassword):
		return err // its message names the mistake in the URL
	}
	return fault.New(fault.Unavailable, "DatabaseRefused", "Postgres at %s refuses the connection: %w; %s",
		address(url), err, advice)
}

// address returns the addresses that a URL names, separated by commas.
func address(url string) string {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return "an invalid URL"
	}
	_, first := pgconn.NetworkAddress(config.ConnConfig.Host, config.ConnConfig.Port)
	all := []string{first}
	for _, fallback := range config.ConnConfig.Fallbacks {
		if _, other := pgconn.NetworkAddress(fallback.Host, fallback.Port); !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return strings.Join(all, ", ")
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// publicReason returns why the database does not answer, without names and addresses.
func publicReason(err error) string {
	answer, answered := errors.AsType[*pgconn.PgError](err)
	code, refused := errors.AsType[syscall.Errno](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case answered:
		return fmt.Sprintf("%s (%s)", quoted.ReplaceAllString(answer.Message, "…"), answer.Code)
	case unknown:
		return "its host name is not known"
	case os.IsTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	case refused:
		return code.Error()
	}
	return "the connection fails; the server's log says how"
}
