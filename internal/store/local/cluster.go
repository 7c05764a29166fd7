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

// The one database and role of a private cluster, and the port that gives its socket the name.
const (
	database = "purser"
	port     = "5432"
)

// Cluster is a running private Postgres. All methods may be called from several goroutines.
type Cluster struct {
	config
	layout
	user account
	bin  installation
	lock *os.File

	current    *postmaster   // nil: none runs; belongs to supervise, to Stop once supervised is closed
	supervised chan struct{} // closed when supervise has returned
	cancel     context.CancelFunc
	once       sync.Once
	stopped    error // what Stop answers
}

// config is what a caller decides; the last two are for tests.
type config struct {
	log      *slog.Logger
	settings []string
	search   func(context.Context) []installation
	outlive  bool // leave Postgres running when this process dies
}

// Start makes the cluster in the state directory dir if there is none yet, starts it, and returns when it answers and
// the database exists. Each of settings (name=value) is a setting of Postgres that wins over those made here. ctx
// bounds the start alone; the cluster runs until Stop.
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
	lock, err := claim(at.dir, user)
	if err != nil {
		return nil, err
	}
	c := &Cluster{config: cfg, layout: at, user: user, lock: lock, supervised: make(chan struct{})}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c.run() //nolint:contextcheck // the cluster outlives the start
	return c, nil
}

// open does what a start needs, in order; it leaves nothing running behind when it fails.
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
	if err := c.initialise(ctx); err != nil {
		return err
	}
	c.current, err = c.firstUp(ctx)
	return err
}

// run hands the started cluster over to its supervisor, which outlives the context of Start.
func (c *Cluster) run() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.log.Info("private postgres runs", "directory", c.data, "version", c.bin.major)
	go c.supervise(ctx)
}

// URL returns the connection string of the cluster's database, for pgx and everything built on it.
func (c *Cluster) URL() string { return c.url(database) }

func (c *Cluster) url(name string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + name}
	// Every part is given, so that no PG* variable of the environment changes where this leads.
	query := url.Values{"host": {c.socket}, "port": {port}, "user": {database}, "sslmode": {"disable"}}.Encode()
	u.RawQuery = strings.ReplaceAll(query, "+", "%20") // pgx reads a plus as a plus, as libpq does
	return u.String()
}

// Stop shuts Postgres down: open transactions are rolled back, what is committed is written, the lock is released.
// When ctx ends before that, Postgres is stopped as in a crash, which loses nothing either, and an error says so.
// Calling Stop again gives the same answer.
func (c *Cluster) Stop(ctx context.Context) error {
	c.once.Do(func() { c.stopped = c.down(ctx) })
	return c.stopped
}

func (c *Cluster) down(ctx context.Context) error {
	c.cancel()
	<-c.supervised
	var err error
	if c.current != nil {
		err = c.current.shutdown(ctx)
	}
	if filepath.Dir(c.socket) != c.dir {
		_ = os.Remove(c.socket) // tidies the temp directory; the next start makes it again
	}
	if closing := c.lock.Close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("release state directory: %w", closing))
	}
	return err
}
