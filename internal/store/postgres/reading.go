package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/klauspost/compress/zstd"

	"purser/internal/budget"
)

// Reading is one attempt to read from the database. It counts each row in the budget of the request that asks for it,
// before the row is kept. It never waits for a permit, because it has a connection: a request that turns out to be
// large gives the connection back, waits, and reads again.
type Reading struct {
	meter *budget.Meter
	held  int    // bytes of the rows that were read
	stop  func() // ends the query without reading the rest
	err   error
}

// Read runs do, which must only read, with a deadline, and returns the number of bytes of rows read; they count as held
// by the request. It retries once if an idle connection turns out to be broken, as all are after a restart of Postgres.
func (d *DB) Read(ctx context.Context, do func(ctx context.Context, r *Reading) error) (held int, err error) {
	return d.counted(ctx, func(ctx context.Context, do func(context.Context) error) error {
		return d.Sharing(ctx, func() error { return d.Again(ctx, do) })
	}, do)
}

// ReadFirst is read with the reserved connections.
func (d *DB) ReadFirst(ctx context.Context, do func(ctx context.Context, r *Reading) error) error {
	_, err := d.counted(ctx, d.Again, do)
	return err
}

// counted reads with a connection that connected gets. It begins again once the request has the permit that it needs.
func (d *DB) counted(ctx context.Context,
	connected func(ctx context.Context, do func(ctx context.Context) error) error,
	do func(ctx context.Context, r *Reading) error,
) (held int, err error) {
	meter := budget.NewMeter(ctx)
	for {
		var r *Reading
		err := d.Within(ctx, d.Deadlines.Read, func(ctx context.Context) error {
			return connected(ctx, func(ctx context.Context) error {
				if r != nil {
					meter.Unread(r.held)
				}
				ctx, stop := context.WithCancel(ctx)
				defer stop()
				r = &Reading{meter: meter, stop: stop}
				if err := do(ctx, r); r.err == nil {
					return err
				}
				return r.err
			})
		})
		switch {
		case err == nil:
			return r.held, nil
		case r != nil:
			meter.Unread(r.held)
		}
		if !errors.Is(err, budget.ErrLarge) {
			return 0, err
		}
		if err := meter.Admit(); err != nil {
			return 0, err
		}
	}
}

// Rows returns rows that are counted as they are read.
func (r *Reading) Rows(rows pgx.Rows) pgx.Rows {
	return &countedRows{Rows: rows, reading: r, metadata: unknown}
}

// countedRows are the rows of a reading.
type countedRows struct {
	pgx.Rows

	reading        *Reading
	metadata, body int // columns; -1 if there are none
}

const unknown = -2 // -1 is a column that is absent

// Next implements pgx.Rows. It ends the whole reading where the request may not read more.
func (c *countedRows) Next() bool {
	if c.reading.err != nil || !c.Rows.Next() {
		return false
	}
	if c.metadata == unknown {
		column := func(name string) int {
			return slices.IndexFunc(c.FieldDescriptions(), func(d pgconn.FieldDescription) bool { return d.Name == name })
		}
		c.metadata, c.body = column("metadata"), column("body")
	}
	const steps = 2000 // about a row
	size := c.size()
	c.reading.held += size
	if c.reading.err = c.reading.meter.Read(steps, size); c.reading.err != nil {
		c.reading.stop()
		c.Close()
		return false
	}
	return true
}

// Err implements pgx.Rows.
func (c *countedRows) Err() error {
	if c.reading.err != nil {
		return c.reading.err
	}
	return c.Rows.Err() //nolint:wrapcheck // explained by read
}

// size returns the memory of a row with its body unpacked, in bytes.
func (c *countedRows) size() int {
	const plain, document = 24, 512 // a struct of a few fields; a document and all that refers to it
	size := plain
	for i, value := range c.RawValues() {
		size += len(value)
		switch {
		case i == c.metadata && value != nil:
			size += document
		case i == c.body:
			size += UnpackedSize(value[:min(len(value), zstd.HeaderMaxSize)], len(value)) - len(value)
		}
	}
	return size
}

// Questions are queries that are answered from one snapshot.
type Questions struct {
	*Reading

	batch *pgx.Batch
}

// Ask adds a query; do reads its rows.
func (q *Questions) Ask(do func(pgx.Rows) error, sql string, args ...any) {
	q.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error { return do(q.Rows(rows)) })
}

// AskRow adds a query for one row, that is read into fields.
func (q *Questions) AskRow(fields []any, sql string, args ...any) {
	q.batch.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(fields...) })
}

// Into returns a function that collects rows in a list.
func Into[T any](list *[]T, scan pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*list, err = pgx.CollectRows(rows, scan)
		return err //nolint:wrapcheck // explained by snapshot
	}
}

// First returns a function that scans the first row into a value, which is unchanged if there is no row.
func First[T any](value *T, scan pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		if len(found) > 0 {
			*value = found[0]
		}
		return err //nolint:wrapcheck // explained by snapshot
	}
}

// Snapshot runs read-only queries in one snapshot and one round trip. It returns the number of bytes read.
func (d *DB) Snapshot(ctx context.Context, queue func(q *Questions)) (held int, err error) {
	return d.Read(ctx, func(ctx context.Context, r *Reading) error { return d.answer(ctx, r, queue) })
}

// SnapshotFirst is snapshot with the reserved connections.
func (d *DB) SnapshotFirst(ctx context.Context, queue func(q *Questions)) error {
	return d.ReadFirst(ctx, func(ctx context.Context, r *Reading) error { return d.answer(ctx, r, queue) })
}

func (d *DB) answer(ctx context.Context, r *Reading, queue func(q *Questions)) error {
	q := Questions{r, &pgx.Batch{}}
	q.batch.Queue("BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ")
	queue(&q)
	q.batch.Queue("COMMIT")
	return d.Pool.SendBatch(ctx, q.batch).Close() //nolint:wrapcheck // explained by read
}

// Collect runs a read-only query and collects the values that scan returns.
func Collect[T any](ctx context.Context, d *DB, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	items, _, err := Gather(ctx, d, scan, sql, args...)
	return items, err
}

// CollectFirst is Collect for the first row; without rows, it returns the zero value.
func CollectFirst[T any](ctx context.Context, d *DB, scan pgx.RowToFunc[T], sql string, args ...any) (
	first T, err error,
) {
	items, err := Collect(ctx, d, scan, sql, args...)
	if err != nil || len(items) == 0 {
		return first, err
	}
	return items[0], nil
}

// Gather is collect that also returns the number of bytes of the rows.
func Gather[T any](ctx context.Context, d *DB, scan pgx.RowToFunc[T], sql string, args ...any) (
	items []T, held int, err error,
) {
	held, err = d.Read(ctx, func(ctx context.Context, r *Reading) error {
		rows, err := d.Pool.Query(ctx, sql, args...)
		if err == nil {
			items, err = pgx.CollectRows(r.Rows(rows), scan)
		}
		return err //nolint:wrapcheck // explained by the caller
	})
	return items, held, err
}
