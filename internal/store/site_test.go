package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/authz"
	"purser/internal/cache"
	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store"
	"purser/internal/validations"
)

// site is a server's services over one database.
type site struct {
	*changes.Service
	queries.View
}

// defaults are those of openStore in most tests.
func defaults() store.Options {
	return store.Options{CacheSize: 1 << 20, Deadlines: store.DefaultDeadlines()}
}

// openStore opens a store of its own over a database.
func openStore(t *testing.T, url string, options store.Options) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db.Site(revisions.DefaultSite)
}

// open returns services of their own over the database at url, as another server would have them.
func open(t *testing.T, url string) site {
	t.Helper()
	options := defaults()
	kept := openStore(t, url, options)
	engine := validations.NewEngine(validations.Options{})
	rendered := cache.New[changes.RenderKey, changes.Rendering](options.CacheSize)
	return site{
		changes.NewService(changes.Config{
			DefaultValidations: revisions.Defaults{validations.SchemaValidation},
			Store:              kept, Engine: engine, Limits: document.DefaultLimits(), Rendered: rendered, Now: time.Now,
			Observe: func(string, time.Duration) {},
		}),
		queries.NewService(queries.Config{
			DefaultValidations: revisions.Defaults{validations.SchemaValidation},
			Store:              kept, Renderer: changes.Renderer{Engine: engine}, Rendered: rendered,
		}).For(authz.Viewer{Encrypted: true}),
	}
}

// changing returns a service that changes a store.
func changing(s revisions.Store) *changes.Service {
	return changes.NewService(changes.Config{
		DefaultValidations: revisions.Defaults{validations.SchemaValidation},
		Store:              s, Engine: validations.NewEngine(validations.Options{}), Limits: document.DefaultLimits(),
		Now: time.Now, Observe: func(string, time.Duration) {},
	})
}

// late is a store that runs Before ahead of its first Append, and records the outcome of each Append.
type late struct {
	*store.Store

	Before   func()
	Outcomes []error
	Stored   revisions.Commit
}

// Append implements revisions.Store.
func (l *late) Append(ctx context.Context, commit revisions.Commit) (revisions.Commit, error) {
	if before := l.Before; before != nil {
		l.Before = nil
		before()
	}
	stored, err := l.Store.Append(ctx, commit)
	l.Outcomes, l.Stored = append(l.Outcomes, err), stored
	return stored, err
}

// widget writes a document whose data is x.
func widget(name string, x int) string {
	return fmt.Sprintf("---\nschema: acme/Widget/v1\nmetadata:\n  schema: metadata/Document/v1\n  name: %s\n"+
		"  storagePolicy: cleartext\n  layeringDefinition: {layer: site}\ndata: {x: %d}\n", name, x)
}

// widgetSchema is a DataSchema that all widgets fail.
const widgetSchema = "---\nschema: deckhand/DataSchema/v1\n" +
	"metadata: {schema: metadata/Control/v1, name: acme/Widget/v1}\ndata: {properties: {x: {type: string}}}\n"

// control writes a control document.
func control(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Control/v1, name: %s}\ndata: %s\n",
		schema, name, data)
}

// failer is implemented by the tests of testing and rapid.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// put replaces the documents of a bucket.
func put(t failer, s site, bucket, body string) changes.Written {
	t.Helper()
	written, err := s.Put(context.Background(), bucket, []byte(body), document.YAML, revisions.Options{})
	if err != nil {
		t.Fatalf("PUT %s: %v", bucket, err)
	}
	return written
}

// all selects all documents in their order.
func all() queries.Selection { return queries.Selection{Page: queries.Page{Limit: -1}} }

// shown lists the documents of a revision as "bucket/name=data@revision".
func shown(t failer, s site, revision int64) []string {
	t.Helper()
	found, err := s.Documents(context.Background(), revision, all())
	if err != nil {
		t.Fatalf("documents of %d: %v", revision, err)
	}
	lines := []string{}
	err = s.Each(context.Background(), found, func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			lines = append(lines, fmt.Sprintf("%s/%s=%s@%d", doc.Bucket, doc.Name, doc.Data, doc.Revision))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("documents of %d: %v", revision, err)
	}
	return lines
}

// pagesRead returns how many pages of the database a statement reads.
func pagesRead(t *testing.T, conn *pgx.Conn, sql string) int {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	type plan struct {
		Hit  int `json:"Shared Hit Blocks"`
		Read int `json:"Shared Read Blocks"`
	}
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]struct{ Plan plan }])
	if err != nil {
		t.Fatal(err)
	}
	return found[0].Plan.Hit + found[0].Plan.Read
}
