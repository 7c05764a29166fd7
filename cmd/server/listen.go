package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

func (c *serveCommand) checkPublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(c.PublicURL, "?#") {
		return errors.New("--public-url must be a URL such as https://purser.example, without a user, query or fragment")
	}
	return nil
}

// listeners are the server's open listeners.
type listeners struct {
	api     net.Listener
	metrics net.Listener        // nil if api serves them
	tls     func() certificates // nil if api does not use TLS
}

// listen opens the listeners. It runs first, so that an address in use is reported before Postgres is started.
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
		return l, fmt.Errorf("listen: %w (choose another address with --listen or PURSER_LISTEN)", err)
	}
	if err := c.checkListener(c.Listen, l.api.Addr()); err != nil {
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

// serve serves until ctx ends, then waits for requests in progress.
func (c *serveCommand) serve(ctx context.Context, l listeners, handler, metrics http.Handler, log *slog.Logger) error {
	server, failed := c.server(handler, log), make(chan error, 2)
	if l.metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics)
		metricsServer := c.server(mux, log)
		defer func() { _ = metricsServer.Close() }()
		go func() { failed <- metricsServer.Serve(l.metrics) }()
		log.InfoContext(ctx, "serving metrics", "url", "http://"+l.metrics.Addr().String()+"/metrics")
	}
	go func() {
		if l.tls == nil {
			failed <- server.Serve(l.api)
			return
		}
		server.TLSConfig = tlsOf(l.tls)
		failed <- server.ServeTLS(l.api, "", "")
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.InfoContext(ctx, "stopping: waiting for requests in progress", "within", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	defer log.InfoContext(ctx, "stopped serving")
	if err := server.Shutdown(drain); errors.Is(err, context.DeadlineExceeded) {
		log.WarnContext(ctx, "some requests did not finish in time and were aborted")
		_ = server.Close()
	}
	return nil
}

// server returns an HTTP server with timeouts for slow clients.
func (c *serveCommand) server(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: c.HeaderTimeout, ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// drainTime bounds how long a stopping server waits for requests in progress.
const drainTime = 10 * time.Second
