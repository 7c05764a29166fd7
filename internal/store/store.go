package store

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"

	"purser/internal/cache"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/deletion"
	"purser/internal/store/evidence"
	"purser/internal/store/journal"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
	"purser/internal/store/stream"
)

// Options configure a Store.
type Options struct {
	// CacheSize bounds the cache of buckets, and that of all live documents, in bytes.
	CacheSize int
	Deadlines postgres.Deadlines
	// Traces records a span for each statement of a traced request; nil records none.
	Traces trace.TracerProvider
}

// Store stores a site in Postgres. It is safe for concurrent use.
type Store struct {
	*evidence.Source
	*deletion.Sweeper

	Journal *journal.Journal // implements queries.Audit
	Stream  *stream.Stream   // implements feed.Store and webhooks.Store

	site    *site.Site
	buckets *cache.Cache[string, revisions.Bucket]
	live    *cache.Cache[struct{}, liveDocuments]
	counted *cache.Cache[countedPage, map[string]countedBucket]
}

var (
	_ revisions.Store = (*Store)(nil)
	_ queries.Store   = (*Store)(nil)
)

// Open returns the store of the default site in a database that Migrate has brought up to date. A pool_max_conns in the
// URL sets the number of connections; the default is 24, so that posted results can be committed in groups.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	place, err := site.Open(ctx, url, options.Deadlines, options.Traces)
	if err != nil {
		return nil, err
	}
	written := journal.New(place)
	source := evidence.New(place, written)
	events, err := stream.New(place, written, source)
	if err != nil {
		place.Close()
		return nil, err
	}
	return &Store{
		Source: source, Sweeper: deletion.New(place, written), Journal: written, Stream: events,
		site:    place,
		buckets: cache.New[string, revisions.Bucket](options.CacheSize),
		live:    cache.New[struct{}, liveDocuments](options.CacheSize),
		counted: cache.New[countedPage, map[string]countedBucket](countedSize),
	}, nil
}

// Close closes the connections; it waits for those in use.
func (s *Store) Close() { s.site.Close() }

// Stat returns the state of the pool of connections.
func (s *Store) Stat() *pgxpool.Stat { return s.site.Stat() }

// Ping returns an error if the database does not answer in time, or cannot be written to by this server.
func (s *Store) Ping(ctx context.Context) error { return s.site.Ping(ctx) }
