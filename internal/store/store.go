package store

import (
	"context"
	"fmt"

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
	"purser/internal/store/migration"
	"purser/internal/store/postgres"
	"purser/internal/validations"
	"purser/internal/webhooks"
)

// defaultSite is the one site that is served so far.
const defaultSite = "default"

// Options configure a Store.
type Options struct {
	// CacheSize bounds the cache of buckets, and that of all live documents, in bytes.
	CacheSize int
	Deadlines postgres.Deadlines
	// Traces records a span for each statement of a traced request; nil records none.
	Traces trace.TracerProvider
}

// Cache sizes in bytes: for parsed ValidationPolicies, and for the evidence about revisions. Each request for a status
// needs them.
const policiesSize, evidenceSize = 32 << 20, 4 << 20

// Store stores a site in Postgres. It is safe for concurrent use.
type Store struct {
	db       *postgres.DB
	version  int // of the schema, that this server knows
	site     string
	body     *postgres.Codec
	buckets  *cache.Cache[string, revisions.Bucket]
	live     *cache.Cache[struct{}, liveDocuments]
	policies *cache.Cache[policyKey, validations.Policy]
	evidence *cache.Cache[queries.Name, knownEvidence]
	// sweeps lets one prune or purge run at a time. The others wait without a connection.
	sweeps *semaphore.Weighted
	// stepped is called after each transaction of a prune with the number of rows that it deleted while it held the
	// site's counters; nil but in tests.
	stepped func(locked int) error

	queue    *river.Client[pgx.Tx] // of deliveries to webhooks
	news     chan struct{}         // holds a token after changes not yet processed
	recorder postgres.Gatherer[revisions.AuditEvent, struct{}]
	poster   postgres.Gatherer[post, posted]
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
	body, err := postgres.NewCodec()
	if err != nil {
		return nil, err
	}
	version, err := migration.Newest()
	if err != nil {
		return nil, err
	}
	db, err := postgres.Connect(ctx, url, options.Deadlines, options.Traces)
	if err != nil {
		return nil, err
	}
	s := &Store{
		db: db, site: defaultSite, body: body,
		buckets:  cache.New[string, revisions.Bucket](options.CacheSize),
		live:     cache.New[struct{}, liveDocuments](options.CacheSize),
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		evidence: cache.New[queries.Name, knownEvidence](evidenceSize),
		version:  version,
		sweeps:   semaphore.NewWeighted(1),
		news:     make(chan struct{}, 1),
	}
	if s.queue, err = s.queueOf(); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connections; it waits for those in use.
func (s *Store) Close() { s.db.Close() }

// Stat returns the state of the pool of connections.
func (s *Store) Stat() *pgxpool.Stat { return s.db.Stat() }

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (s *Store) Ping(ctx context.Context) error {
	return s.db.Within(ctx, s.db.Deadlines.Ready, func(ctx context.Context) error {
		var readOnly bool
		var version int
		err := s.db.Again(ctx, func(ctx context.Context) error {
			return s.db.Pool.QueryRow(ctx, cannotWrite).Scan(&readOnly, &version)
		})
		switch {
		case err != nil:
			return fmt.Errorf("reach the database: %w", err)
		case readOnly:
			return s.db.Settled(&pgconn.PgError{Code: postgres.ReadOnlyTransaction})
		case version > s.version:
			return migration.TooNew(version, s.version)
		}
		return nil
	})
}

const cannotWrite = `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
	(` + schemaVersion + `)`

const schemaVersion = `SELECT version FROM schema_migrations LIMIT 1`

// known returns a fault if the database has a newer version of the schema than this server: it might delete data whose
// meaning it does not know.
func (s *Store) known(ctx context.Context, tx pgx.Tx) error {
	var version int
	if err := tx.QueryRow(ctx, schemaVersion).Scan(&version); err != nil {
		return err //nolint:wrapcheck // explained by the callers
	}
	if version > s.version {
		return migration.TooNew(version, s.version)
	}
	return nil
}
