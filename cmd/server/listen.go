package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// listeners are where the server can be reached.
type listeners struct {
	api     net.Listener
	metrics net.Listener // nil: they are served with the rest
	tls     *tls.Config  // of the api; nil: none
}

// listen opens the listeners, before anything is started that would have to be stopped again.
func (c *serveCommand) listen(ctx context.Context, log *slog.Logger) (l listeners, err error) {
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.tls, err = c.openTLS(log); err != nil {
		return l, err
	}
	if l.api, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Listen); err != nil {
		return l, fmt.Errorf("listen: %w (--listen or PURSER_LISTEN gives another address)", err)
	}
	if err := c.checkListener(l.api.Addr()); err != nil {
		return l, err
	}
	if c.MetricsListen == "" {
		return l, nil
	}
	if l.metrics, err = new(net.ListenConfig).Listen(ctx, "tcp", c.MetricsListen); err != nil {
		return l, fmt.Errorf("listen for metrics: %w", err)
	}
	return l, nil
}

func (l listeners) close() {
	for _, listener := range []net.Listener{l.api, l.metrics} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

func (l listeners) url() string {
	if l.tls != nil {
		return "https://" + l.api.Addr().String()
	}
	return "http://" + l.api.Addr().String()
}

// serve answers requests until the context ends, then lets those under way finish.
func (c *serveCommand) serve(ctx context.Context, l listeners, handler, metrics http.Handler, log *slog.Logger) error {
	server, failed := c.server(handler, log), make(chan error, 2)
	if l.metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics)
		beside := c.server(mux, log)
		defer func() { _ = beside.Close() }()
		go func() { failed <- beside.Serve(l.metrics) }()
		log.InfoContext(ctx, "serving metrics", "url", "http://"+l.metrics.Addr().String()+"/metrics")
	}
	go func() { failed <- serveOn(server, l) }()
	log.InfoContext(ctx, "serving", "url", l.url(), "version", version)
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

// server is one that no client can keep waiting.
func (c *serveCommand) server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: c.HeaderTimeout, ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func serveOn(server *http.Server, l listeners) error {
	if l.tls == nil {
		return server.Serve(l.api) //nolint:wrapcheck // wrapped by serve
	}
	server.TLSConfig = l.tls
	return server.ServeTLS(l.api, "", "") //nolint:wrapcheck // the same
}

// drainTime is how long requests may go on after the server is told to stop.
const drainTime = 10 * time.Second
