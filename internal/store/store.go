package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"purser/internal/cache"
	"purser/internal/claims"
	"purser/internal/fault"
	"purser/internal/feed"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
	"purser/internal/webhooks"
	"purser/migrations"
)

// Options configure a Store.
type Options struct {
	// CacheSize bounds the cache of buckets, and that of all live documents, in bytes.
	CacheSize int
	Deadlines Deadlines
	// Traces records a span for each statement of a traced request; nil records none.
	Traces trace.TracerProvider
	// Compat reads policies as Deckhand does, and neither claims nor waivers.
	Compat bool
}

// Store stores a site in Postgres. It is safe for concurrent use.
type Store struct {
	*database

	site    string // in the first column of every table
	compat  bool   // as in Options
	codec   *codec // of contents
	version int    // of the schema, that this server knows

	buckets  *cache.Cache[string, revisions.Bucket]
	live     *cache.Cache[struct{}, liveDocuments]
	counted  *cache.Cache[countedPage, map[string]countedBucket]
	policies *cache.Cache[policyKey, validations.Policy]
	evidence *cache.Cache[queries.Name, knownEvidence]

	audits gatherer[revisions.AuditEvent, struct{}]
	posts  gatherer[post, posted]
	asks   gatherer[claims.Ask, granted]

	news  chan struct{}         // holds a token after changes not yet processed
	queue *river.Client[pgx.Tx] // of deliveries

	// sweeps lets one prune or purge run at a time. The others wait without a connection.
	sweeps *semaphore.Weighted
	// stepped is called after each transaction of a prune with the number of rows that it deleted while it held the
	// site's counters; nil but in tests.
	stepped func(locked int) error
}

var (
	_ revisions.Store = (*Store)(nil)
	_ queries.Store   = (*Store)(nil)
	_ queries.Audit   = (*Store)(nil)
	_ feed.Store      = (*Store)(nil)
	_ webhooks.Store  = (*Store)(nil)
	_ claims.Store    = (*Store)(nil)
)

// Sizes of caches in bytes: of parsed ValidationPolicies, and of the evidence about revisions. Each request for a
// status needs them.
const policiesSize, evidenceSize = 32 << 20, 4 << 20

// Open returns the store of the default site in a database that Migrate has brought up to date. A pool_max_conns in the
// URL sets the number of connections; the default is 24, so that posted results can be committed in groups.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	codec, err := newCodec()
	if err != nil {
		return nil, err
	}
	db, err := connect(ctx, url, options.Deadlines, options.Traces)
	if err != nil {
		return nil, err
	}
	// This client adds deliveries to the queue, but does not work on them.
	queue, err := river.NewClient(riverpgxv5.New(db.pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open the queue of webhooks: %w", err)
	}
	return &Store{
		database: db, site: revisions.DefaultSite, compat: options.Compat, codec: codec, version: migrations.Newest(),
		buckets:  cache.New[string, revisions.Bucket](options.CacheSize),
		live:     cache.New[struct{}, liveDocuments](options.CacheSize),
		counted:  cache.New[countedPage, map[string]countedBucket](countedSize),
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		evidence: cache.New[queries.Name, knownEvidence](evidenceSize),
		asks:     gatherer[claims.Ask, granted]{most: maxAsks},
		news:     make(chan struct{}, 1), queue: queue, sweeps: semaphore.NewWeighted(1),
	}, nil
}

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (s *Store) Ping(ctx context.Context) error {
	return s.within(ctx, s.deadlines.Ready, func(ctx context.Context) error {
		var readOnly bool
		var version int
		err := s.retryRead(ctx, func(ctx context.Context) error {
			return s.pool.QueryRow(ctx, stmt.CannotWrite, named{}).Scan(&readOnly, &version)
		})
		switch {
		case err != nil:
			return fmt.Errorf("reach the database: %w", err)
		case readOnly:
			return s.asFault(&pgconn.PgError{Code: readOnlyTransaction})
		}
		return s.checkVersion(version)
	})
}

// Size returns the size of the database on disk, in bytes. It includes other sites in the same database.
func (s *Store) Size(ctx context.Context) (int64, error) {
	return collectFirst(ctx, s, pgx.RowTo[int64], stmt.DatabaseSize, named{})
}

// checkSchema returns a fault if the database has a newer version of the schema than this server: it might delete data
// whose meaning it does not know.
func (s *Store) checkSchema(ctx context.Context, tx pgx.Tx) error {
	var version int
	if err := tx.QueryRow(ctx, stmt.SchemaVersion, named{}).Scan(&version); err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	return s.checkVersion(version)
}

// checkVersion is checkSchema for a version that was read before.
func (s *Store) checkVersion(version int) error {
	if version > s.version {
		return TooNew(version, s.version)
	}
	return nil
}

// TooNew is the fault of a server that finds a database of a version that it does not know: at start, or because
// another server migrated the database while it ran.
func TooNew(version, known int) error {
	return fault.New(fault.Unavailable, "DatabaseTooNew", "the database was written by a newer Purser: it has version "+
		"%d, this server knows versions up to %d; start the newer Purser, or use another database", version, known)
}
