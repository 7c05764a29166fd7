package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"purser"
	"purser/api"
	"purser/internal/picture"
	"purser/internal/propertygroups"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/validations"
)

// serveCommand serves the API until it is told to stop.
type serveCommand struct {
	Listen string `help:"Address to listen on." default:"127.0.0.1:9000"`
	Compat string `help:"Behave like this service where Purser decided otherwise (spec rows C1-C5): deckhand." enum:"deckhand," default:""` //nolint:lll // a tag

	ClientVersion map[string]string `help:"Version of a client plugin that no purser/ClientVersions document names, for property groups; may be repeated." placeholder:"PLUGIN=VERSION" mapsep:"none"` //nolint:lll // a tag

	databaseFlags `embed:""`
	keysetFlags   `embed:""`
	limitFlags    `embed:""`
	logFlags      `embed:""`
}

// drainTime is how long requests may go on after the server is told to stop.
const drainTime = 10 * time.Second

// pictures is how many are laid out at once, each by a program that keeps a processor busy for up to some seconds.
const pictures = 2

// Run is called by kong.
func (c *serveCommand) Run(ctx context.Context, stderr io.Writer) error {
	c.boundMemory()
	log := c.logger(stderr)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w (--listen or PURSER_LISTEN gives another address)", err)
	}
	defer func() { _ = listener.Close() }()
	url, stop, err := c.databaseFlags.open(ctx, log)
	if err != nil {
		return err
	}
	defer stop()
	handler, closeStore, err := c.handler(ctx, url, log)
	if err != nil {
		return err
	}
	defer closeStore()
	return c.serve(ctx, listener, handler, log)
}

// boundMemory lets the collector rest while the heap is small and work harder once large bodies are under way. GOGC and
// GOMEMLIMIT in the environment win.
func (c *serveCommand) boundMemory() {
	const rest = 200
	soft := 4*c.MaxBody + 2*int64(c.CacheSize)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(rest)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(soft)
	}
}

// handler wires store, service and interface over a migrated database.
func (c *serveCommand) handler(ctx context.Context, url string, log *slog.Logger) (http.Handler, func(), error) {
	if err := store.Migrate(ctx, url); err != nil {
		return nil, nil, fmt.Errorf("migrate the database: %w", err)
	}
	kept, err := store.Open(ctx, url)
	if err != nil {
		return nil, nil, fmt.Errorf("open the store: %w", err)
	}
	keyset, err := c.keysetFlags.open(ctx, c.ownKeyset(), log)
	if err != nil {
		kept.Close()
		return nil, nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		poolCollector(kept))
	service := revisions.NewService(revisions.Config{
		Store: store.NewCached(kept, c.CacheSize), Engine: validations.NewEngine(propertygroups.Extension{}),
		Limits: c.document(), ClientVersions: c.ClientVersion, Vault: keyset,
		CacheSize: c.CacheSize, Compat: c.Compat == "deckhand", Now: time.Now, Observe: phases(registry),
	})
	handler := api.New(api.Config{
		Service: service, Layout: picture.NewLayout(pictures), Ping: kept.Ping, Limits: c.document(),
		CacheSize: c.CacheSize, Compat: c.Compat == "deckhand", Log: log,
		Registry: registry, OpenAPI: purser.OpenAPI, Now: time.Now,
	})
	stop := keepResealed(ctx, service, log)
	return handler, func() {
		stop()
		kept.Close()
	}, nil
}

// serve answers requests until the context ends, then lets those under way finish.
func (c *serveCommand) serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: c.HeaderTimeout, ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.InfoContext(ctx, "serving", "url", "http://"+listener.Addr().String(), "version", version)
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.InfoContext(ctx, "stopping: requests under way may finish", "within", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	defer log.InfoContext(ctx, "stopped serving")
	if err := server.Shutdown(drain); errors.Is(err, context.DeadlineExceeded) {
		log.WarnContext(ctx, "some requests did not finish in time and were cut off")
		_ = server.Close()
	}
	return nil
}
