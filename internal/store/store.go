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

// Options configure a Database.
type Options struct {
	// CacheSize bounds the cache of buckets, and that of all live documents, in bytes.
	CacheSize int
	Deadlines Deadlines
	// Traces records a span for each statement of a traced request; nil records none.
	Traces trace.TracerProvider
	// Compat reads policies as Deckhand does, and neither claims nor waivers.
	Compat bool
}

// caches are shared by the stores of all sites. Their keys begin with the site.
type caches struct {
	buckets  *cache.Cache[bucketKey, revisions.Bucket]
	live     *cache.Cache[siteKey, liveDocuments]
	counted  *cache.Cache[countedPage, map[string]countedBucket]
	policies *cache.Cache[policyKey, validations.Policy]
	evidence *cache.Cache[evidenceKey, knownEvidence]
}

type (
	siteKey   struct{ site string }
	bucketKey struct{ site, bucket string }

	evidenceKey struct {
		site string
		queries.Name
	}
)

// Sizes of caches in bytes: of parsed ValidationPolicies, and of the evidence about revisions. Each request for a
// status needs them.
const policiesSize, evidenceSize = 32 << 20, 4 << 20

func newCaches(size int) caches {
	return caches{
		buckets:  cache.New[bucketKey, revisions.Bucket](size),
		live:     cache.New[siteKey, liveDocuments](size),
		counted:  cache.New[countedPage, map[string]countedBucket](countedSize),
		policies: cache.New[policyKey, validations.Policy](policiesSize),
		evidence: cache.New[evidenceKey, knownEvidence](evidenceSize),
	}
}

// Store stores a site in a database. It is safe for concurrent use. Several stores of one site are as good as one; they
// only write less together.
type Store struct {
	*Database

	site string // in the first column of every table

	audits gatherer[revisions.AuditEvent, struct{}]
	posts  gatherer[post, posted]
	asks   gatherer[claims.Ask, granted]

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
	_ feed.Store      = (*Database)(nil)
	_ webhooks.Store  = (*Store)(nil)
	_ claims.Store    = (*Store)(nil)
)

// Open returns a database that Migrate has brought up to date. A pool_max_conns in the URL sets the number of
// connections; the default is 24, so that posted results can be committed in groups.
func Open(ctx context.Context, url string, options Options) (*Database, error) {
	codec, err := newCodec()
	if err != nil {
		return nil, err
	}
	db, err := connect(ctx, url, options.Deadlines, options.Traces)
	if err != nil {
		return nil, err
	}
	// This client adds deliveries to the queue, but does not work on them.
	db.queue, err = river.NewClient(riverpgxv5.New(db.pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open the queue of webhooks: %w", err)
	}
	db.compat, db.codec, db.version, db.caches = options.Compat, codec, migrations.Newest(), newCaches(options.CacheSize)
	return db, nil
}

// Site returns the store of a site, whether that exists or not.
func (d *Database) Site(name string) *Store {
	return &Store{
		Database: d, site: name, asks: gatherer[claims.Ask, granted]{most: maxAsks}, sweeps: semaphore.NewWeighted(1),
	}
}

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (d *Database) Ping(ctx context.Context) error {
	return d.within(ctx, d.deadlines.Ready, func(ctx context.Context) error {
		var readOnly bool
		var version int
		err := d.retryRead(ctx, func(ctx context.Context) error {
			return d.pool.QueryRow(ctx, stmt.CannotWrite, named{}).Scan(&readOnly, &version)
		})
		switch {
		case err != nil:
			return fmt.Errorf("reach the database: %w", err)
		case readOnly:
			return d.asFault(&pgconn.PgError{Code: readOnlyTransaction})
		}
		return d.checkVersion(version)
	})
}

// Size returns the size of the database on disk, in bytes.
func (d *Database) Size(ctx context.Context) (int64, error) {
	return collectFirst(ctx, d, pgx.RowTo[int64], stmt.DatabaseSize, named{})
}

// checkSchema returns a fault if the database has a newer version of the schema than this server: it might delete data
// whose meaning it does not know.
func (d *Database) checkSchema(ctx context.Context, tx pgx.Tx) error {
	var version int
	if err := tx.QueryRow(ctx, stmt.SchemaVersion, named{}).Scan(&version); err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	return d.checkVersion(version)
}

// checkVersion is checkSchema for a version that was read before.
func (d *Database) checkVersion(version int) error {
	if version > d.version {
		return TooNew(version, d.version)
	}
	return nil
}

// TooNew is the fault of a server that finds a database of a version that it does not know: at start, or because
// another server migrated the database while it ran.
func TooNew(version, known int) error {
	return fault.New(fault.Unavailable, "DatabaseTooNew", "the database was written by a newer Purser: it has version "+
		"%d, this server knows versions up to %d; start the newer Purser, or use another database", version, known)
}
