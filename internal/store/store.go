package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"purser/internal/cache"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/webhooks"
	"purser/migrations"
)

// defaultSite is the one site that is served so far.
const defaultSite = "default"

// Deadlines bound the duration of calls to the database, by their kind.
type Deadlines struct {
	Ready  time.Duration // whether the database answers
	Read   time.Duration // one question
	Write  time.Duration // a small write: a tag, a result, an audit event, a revision
	Append time.Duration // a revision that changes thousands of documents
	Sweep  time.Duration // a prune or a purge
}

// DefaultDeadlines returns the deadlines of a server.
func DefaultDeadlines() Deadlines {
	return Deadlines{
		Ready: 2 * time.Second, Read: 15 * time.Second, Write: 15 * time.Second, Append: time.Minute,
		Sweep: 10 * time.Minute,
	}
}

// Options configure a Store.
type Options struct {
	// CacheSize bounds the cache of buckets, and that of all live documents, in bytes.
	CacheSize int
	Deadlines Deadlines
	// Traces has a span of each statement made for those who have one; nil makes none.
	Traces trace.TracerProvider
}

// How many bytes of parsed ValidationPolicies, of what never changes about revisions, and of the ids of their newest
// results are kept in memory: status asks for them each time.
const policiesSize, fixedSize, newestSize = 32 << 20, 4 << 20, 1 << 20

// Store stores a site in Postgres. It is safe for concurrent use.
type Store struct {
	version   int // of the schema, that this server knows
	pool      *pgxpool.Pool
	site      string
	body      *codec
	deadlines Deadlines
	buckets   *cache.Cache[string, revisions.Bucket]
	live      *cache.Cache[struct{}, liveDocuments]
	policies  *cache.Cache[policyKey, validations.Policy]
	fixed     *cache.Cache[revisionKey, fixedEvidence]
	newest    *cache.Cache[queries.Name, int64]
	// general limits the connections of all calls except readiness, audit and verdicts, which must always find one.
	general *semaphore.Weighted
	// sweeps lets one prune or purge run at a time. The others wait without a connection.
	sweeps *semaphore.Weighted
	// stepped is called after each transaction of a prune with the number of rows that it deleted while it held the
	// site's counters; nil but in tests.
	stepped func(locked int) error

	queue     *river.Client[pgx.Tx] // of deliveries to webhooks
	news      chan struct{}         // holds a token after changes that nobody has looked at
	recorder  gatherer[revisions.AuditEvent, struct{}]
	poster    gatherer[post, posted]
	abandoned struct {
		sync.Mutex
		last time.Time // when connections were replaced because a call got no answer
	}
}

var (
	_ revisions.Store = (*Store)(nil)
	_ queries.Store   = (*Store)(nil)
	_ queries.Audit   = (*Store)(nil)
	_ feed.Store      = (*Store)(nil)
	_ webhooks.Store  = (*Store)(nil)
)

// Open returns the store of the default site in a database that Migrate has brought up to date. A pool_max_conns in the
// URL sets the number of connections; the default is 24, so that posted results can be committed in groups.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	config, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	if options.Traces != nil {
		config.ConnConfig.Tracer = statements(options.Traces)
	}
	body, err := newCodec()
	if err != nil {
		return nil, err
	}
	files, err := iofs.New(migrations.FS, ".")
	if err != nil {
		return nil, fmt.Errorf("read the embedded migrations: %w", err)
	}
	version, err := newestVersion(files)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	s := &Store{
		pool: pool, site: defaultSite, body: body, deadlines: options.Deadlines,
		buckets:  cache.New[string, revisions.Bucket](options.CacheSize),
		live:     cache.New[struct{}, liveDocuments](options.CacheSize),
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		fixed:    cache.New[revisionKey, fixedEvidence](fixedSize),
		newest:   cache.New[queries.Name, int64](newestSize),
		general:  semaphore.NewWeighted(int64(max(1, config.MaxConns-reservedConnections))),
		version:  version,
		sweeps:   semaphore.NewWeighted(1),
		news:     make(chan struct{}, 1),
	}
	if s.queue, err = s.queueOf(); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connections; it waits for those in use.
func (s *Store) Close() { s.pool.Close() }

// Stat returns the state of the pool of connections.
func (s *Store) Stat() *pgxpool.Stat { return s.pool.Stat() }

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (s *Store) Ping(ctx context.Context) error {
	return s.within(ctx, s.deadlines.Ready, func(ctx context.Context) error {
		var readOnly bool
		var version int
		err := s.again(ctx, func(ctx context.Context) error {
			return s.pool.QueryRow(ctx, cannotWrite).Scan(&readOnly, &version)
		})
		switch {
		case err != nil:
			return fmt.Errorf("reach the database: %w", err)
		case readOnly:
			return s.settled(&pgconn.PgError{Code: readOnlyTransaction})
		case version > s.version:
			return tooNew(version, s.version)
		}
		return nil
	})
}

const cannotWrite = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
	(` + schemaVersion + `)`

const schemaVersion = `SELECT version FROM schema_migrations LIMIT 1`

// known returns the fault of a server that another one has left behind with a newer version of the schema: what it
// would delete may belong to something that it does not know.
func (s *Store) known(ctx context.Context, tx pgx.Tx) error {
	var version int
	if err := tx.QueryRow(ctx, schemaVersion).Scan(&version); err != nil {
		return err //nolint:wrapcheck // explained by the callers
	}
	if version > s.version {
		return tooNew(version, s.version)
	}
	return nil
}
