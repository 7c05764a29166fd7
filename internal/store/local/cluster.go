package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// The one database and role of a private cluster, and the port, which is a part of its socket's name.
const (
	database = "purser"
	port     = "5432"
)

// Cluster is a running private Postgres. It is safe for concurrent use.
type Cluster struct {
	dir    string // the state directory; this path and the next two are absolute
	data   string
	socket string // the directory of the socket
	user   account
	bin    installation
	log    *slog.Logger

	settings []string
	stop     context.CancelFunc      // asks for a fast shutdown
	crash    context.CancelCauseFunc // asks for an immediate shutdown
	ended    chan struct{}           // closed when nothing runs any more
	err      error                   // how it ended; set before that
}

// Start makes the cluster in the state directory dir if there is none yet, starts it, and returns when the database is
// ready. Each of settings (name=value) is a setting of Postgres that overrides those made here. ctx bounds the start
// alone; the cluster runs until Stop.
func Start(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Cluster, error) {
	return start(ctx, dir, log, search(ctx), settings...)
}

func start(
	ctx context.Context, dir string, log *slog.Logger, found []installation, settings ...string,
) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	c := &Cluster{
		dir: dir, data: filepath.Join(dir, "postgres"), socket: socketDir(dir), log: log, settings: settings,
		ended: make(chan struct{}),
	}
	// Nothing is created before a Postgres is found, because the owner of the state directory depends on its package.
	if _, err := c.choose(found); err != nil {
		return nil, err
	}
	if c.user, err = accountFor(c.data); err != nil {
		return nil, err
	}
	lock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	patient, crash := context.WithCancelCause(context.WithoutCancel(ctx))
	c.stop, c.crash = stop, crash
	ready := make(chan struct{})
	go func() {
		defer close(c.ended)
		// To the kernel, the thread that starts a child is its parent, and dieWithParent means that thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.prepare(running, found)
		if err == nil {
			err = c.supervise(running, patient, ready)
		}
		c.err = errors.Join(c.explain(err), os.RemoveAll(c.socket), lock.Close())
	}()
	select {
	case <-ready:
		return c, nil
	case <-c.ended:
		return nil, c.err
	case <-ctx.Done():
	}
	// Postgres still gets time to write its data.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return nil, errors.Join(context.Cause(ctx), c.Stop(grace))
}

// URL returns the connection string of the cluster's database, for pgx and everything built on it.
func (c *Cluster) URL() string {
	u := url.URL{Scheme: "postgres", Path: "/" + database}
	// Every part is given, so that no PG* variable of the environment has an effect.
	query := url.Values{"host": {c.socket}, "port": {port}, "user": {database}, "sslmode": {"disable"}}.Encode()
	u.RawQuery = strings.ReplaceAll(query, "+", "%20") // pgx reads a plus as a plus, as libpq does
	return u.String()
}

// Stop shuts Postgres down: open transactions are rolled back, committed data is written, the lock is released.
// When ctx ends before that, Postgres is stopped as in a crash, which loses nothing either, and an error says so.
// Later calls return the same error.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop()
	defer context.AfterFunc(ctx, func() {
		c.crash(fmt.Errorf("stop postgres without a checkpoint, it will recover at the next start: %w", ctx.Err()))
	})()
	<-c.ended
	return c.err
}
