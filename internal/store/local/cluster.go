package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The one database and role of a private cluster, and the port, which is a part of its socket's name.
const (
	database = "purser"
	port     = "5432"
)

// Cluster is a running private Postgres. It is safe for concurrent use.
type Cluster struct {
	config
	layout
	user account
	bin  installation
	lock *os.File

	current    *postmaster   // nil: none runs; used by supervise, and by Stop once that has returned
	supervised chan struct{} // closed when supervise has returned
	cancel     context.CancelFunc
	stopOnce   sync.Once
	stopErr    error
}

// config has the choices of a caller; the last two are for tests.
type config struct {
	log      *slog.Logger
	settings []string
	search   func(context.Context) []installation
	outlive  bool // leave Postgres running when this process dies
}

// Start makes the cluster in the state directory dir if there is none yet, starts it, and returns when the database is
// ready. Each of settings (name=value) is a setting of Postgres that overrides those made here. ctx bounds the start
// alone; the cluster runs until Stop.
func Start(ctx context.Context, dir string, log *slog.Logger, settings ...string) (*Cluster, error) {
	return start(ctx, dir, config{log: log, settings: settings, search: search})
}

func start(ctx context.Context, dir string, cfg config) (*Cluster, error) {
	at, err := layoutOf(dir)
	if err != nil {
		return nil, err
	}
	user, err := accountFor(at)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(at.dir, user)
	if err != nil {
		return nil, err
	}
	c := &Cluster{config: cfg, layout: at, user: user, lock: lock, supervised: make(chan struct{})}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c.log.InfoContext(ctx, "private postgres runs", "directory", c.data, "version", c.bin.major)
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go c.supervise(ctx)
	return c, nil
}

// open takes the steps of a start. If it fails, nothing is left running.
func (c *Cluster) open(ctx context.Context) error {
	major, err := c.major()
	if err != nil {
		return err
	}
	if c.bin, err = pick(c.search(ctx), major, c.data); err != nil {
		return err
	}
	if err := c.checkAccess(ctx); err != nil {
		return err
	}
	if err := makeSocketDir(c.socket, c.user); err != nil {
		return err
	}
	if major == 0 {
		if err := c.initialise(ctx); err != nil {
			return err
		}
	}
	for pause := minPause; ; pause *= 2 {
		c.current, err = c.up(ctx)
		if !errors.Is(err, errOrphans) || pause > maxPause || !sleep(ctx, pause) {
			return err
		}
	}
}

// URL returns the connection string of the cluster's database, for pgx and everything built on it.
func (c *Cluster) URL() string { return c.url(database) }

func (c *Cluster) url(name string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + name}
	// Every part is given, so that no PG* variable of the environment has an effect.
	query := url.Values{"host": {c.socket}, "port": {port}, "user": {database}, "sslmode": {"disable"}}.Encode()
	u.RawQuery = strings.ReplaceAll(query, "+", "%20") // pgx reads a plus as a plus, as libpq does
	return u.String()
}

// Stop shuts Postgres down: open transactions are rolled back, what is committed is written, the lock is released.
// When ctx ends before that, Postgres is stopped as in a crash, which loses nothing either, and an error says so.
// Later calls return the same error.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopOnce.Do(func() { c.stopErr = c.stop(ctx) })
	return c.stopErr
}

func (c *Cluster) stop(ctx context.Context) (err error) {
	c.cancel()
	<-c.supervised
	if c.current != nil {
		err = c.current.shutdown(ctx)
	}
	if filepath.Dir(c.socket) != c.dir {
		_ = os.Remove(c.socket) // in the temporary directory; the next start makes it again
	}
	if closing := c.lock.Close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("release state directory: %w", closing))
	}
	return err
}
