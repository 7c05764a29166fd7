package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"purser/api"
	"purser/internal/fault"
	"purser/internal/store/local"
	"purser/internal/store/migration"
)

// databaseFlags select the database.
type databaseFlags struct {
	DatabaseURL  string        `help:"Postgres (14 or newer) to store the site in. Without it, the server runs a private one." placeholder:"postgres://…"` //nolint:lll // a tag
	DatabaseWait time.Duration `help:"How long to wait at start for a database that does not answer." default:"60s"`
	StateDir     string        `help:"Directory of the private Postgres." default:"${statedir}" type:"path"`
}

// open starts the private Postgres unless the flags have a URL. It returns the URL of the database, and a function that
// stops the private Postgres.
func (f databaseFlags) open(ctx context.Context, log *slog.Logger) (url string, stop func(), err error) {
	if f.DatabaseURL != "" {
		return f.DatabaseURL, func() {}, nil
	}
	cluster, err := local.Start(ctx, f.StateDir, log)
	if err != nil {
		return "", nil, err
	}
	return cluster.URL(), func() { stopCluster(cluster, log) }, nil //nolint:contextcheck // ctx has ended by then
}

func stopCluster(cluster *local.Cluster, log *slog.Logger) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		log.Error("stop the private Postgres", "error", err.Error())
	}
}

// migrate waits for the database and migrates it. It calls report before each step that may take long.
func (f databaseFlags) migrate(ctx context.Context, url string, report func(*fault.Fault)) error {
	if f.DatabaseURL != "" { // a private Postgres is ready
		if err := migration.Await(ctx, url, f.DatabaseWait, report); err != nil {
			return err
		}
	}
	report(starting("The server is migrating its database"))
	if err := migration.Migrate(ctx, url); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// starting returns the fault for requests that arrive before the server is ready.
func starting(reason string) *fault.Fault {
	f := fault.New(fault.Unavailable, "HTTPServiceUnavailable", "%s", reason)
	f.RetryAfter = time.Second
	return f
}

// reasonLogger returns a function for migrate that logs each reason once.
func reasonLogger(ctx context.Context, log *slog.Logger) func(*fault.Fault) {
	last := ""
	return func(reason *fault.Fault) {
		if reason.Message == last {
			return
		}
		last = reason.Message
		if cause := reason.Unwrap(); cause != nil {
			log.WarnContext(ctx, "not ready", "reason", last, "error", cause.Error())
			return
		}
		log.InfoContext(ctx, "not ready", "reason", last)
	}
}

// switchHandler is a handler that can be replaced while the server runs, for a server that listens before it is ready.
type switchHandler struct{ handler atomic.Pointer[http.Handler] }

// ServeHTTP implements http.Handler.
func (d *switchHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*d.handler.Load()).ServeHTTP(w, r)
}

// set sets the handler of further requests.
func (d *switchHandler) set(handler http.Handler) { d.handler.Store(&handler) }

// refuse answers further requests with the reason why the server is not ready.
func (d *switchHandler) refuse(reason *fault.Fault, log *slog.Logger, observe api.Observe) {
	d.set(api.Starting(reason, log, observe, time.Now))
}

// migrateCommand migrates the database without serving.
type migrateCommand struct {
	databaseFlags `embed:""`
	logFlags      `embed:""`
}

// Run migrates the database and exits.
func (c *migrateCommand) Run(ctx context.Context, stderr io.Writer) error {
	log := c.logger(stderr)
	url, stop, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	if err := c.migrate(ctx, url, reasonLogger(ctx, log)); err != nil {
		return err
	}
	log.InfoContext(ctx, "the database is up to date")
	return nil
}
