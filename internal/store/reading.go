package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/klauspost/compress/zstd"

	"purser/internal/budget"
)

// reading is one attempt to read from the database. It counts each row in the budget of the request that asks for it,
// before the row is kept. It never waits for a permit, because it has a connection: a request that turns out to be
// large gives the connection back, waits, and reads again.
type reading struct {
	meter *budget.Meter
	held  int    // bytes of the rows that were read
	stop  func() // ends the query without reading the rest
	err   error
}

// read runs do, which must only read, with a deadline, and returns the number of bytes of rows read; they count as held
// by the request. It repeats do as retryRead does, and begins again once the request has the permit that it needs.
func (d *Database) read(ctx context.Context, use connections, do func(ctx context.Context, r *reading) error) (
	held int, err error,
) {
	meter := budget.NewMeter(ctx)
	for {
		var r *reading
		err := d.within(ctx, d.deadlines.Read, func(ctx context.Context) error {
			return d.withConn(ctx, use, func(ctx context.Context) error {
				return d.retryRead(ctx, func(ctx context.Context) error {
					if r != nil {
						meter.Unread(r.held)
					}
					ctx, stop := context.WithCancel(ctx)
					defer stop()
					r = &reading{meter: meter, stop: stop}
					err := do(ctx, r)
					return cmp.Or(r.err, err)
				})
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

// rows returns rows that are counted as they are read.
func (r *reading) rows(rows pgx.Rows) pgx.Rows {
	return &countedRows{Rows: rows, reading: r, metadata: notLookedUp}
}

// countedRows are the rows of a reading.
type countedRows struct {
	pgx.Rows

	reading        *reading
	metadata, body int // columns; -1 if there are none
}

const notLookedUp = -2 // -1 is a column that is absent

// Next implements pgx.Rows. It ends the whole reading where the request may not read more.
func (c *countedRows) Next() bool {
	if c.reading.err != nil || !c.Rows.Next() {
		return false
	}
	if c.metadata == notLookedUp {
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
	return c.Rows.Err()
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
			size += unpackedSize(value[:min(len(value), zstd.HeaderMaxSize)], len(value)) - len(value)
		}
	}
	return size
}

// questions are queries that are answered from one snapshot.
type questions struct {
	*reading

	batch *pgx.Batch
}

// ask adds a query; do reads its rows.
func (q *questions) ask(do func(pgx.Rows) error, sql string, args ...any) {
	q.batch.Queue(sql, args...).Query(func(rows pgx.Rows) error { return do(q.rows(rows)) })
}

// askRow adds a query for one row, that is read into fields.
func (q *questions) askRow(fields []any, sql string, args ...any) {
	q.batch.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(fields...) })
}

// into returns a function that collects rows in a list.
func into[T any](list *[]T, scan pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*list, err = pgx.CollectRows(rows, scan)
		return err
	}
}

// first returns a function that scans the first row into a value, which is unchanged if there is no row.
func first[T any](value *T, scan pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		if len(found) > 0 {
			*value = found[0]
		}
		return err
	}
}

// inSnapshot runs read-only queries in one snapshot and one round trip. It returns the number of bytes read.
func (d *Database) inSnapshot(ctx context.Context, use connections, queue func(q *questions)) (held int, err error) {
	return d.read(ctx, use, func(ctx context.Context, r *reading) error {
		q := questions{r, &pgx.Batch{}}
		q.batch.Queue("BEGIN READ ONLY, ISOLATION LEVEL REPEATABLE READ")
		queue(&q)
		q.batch.Queue("COMMIT")
		return d.pool.SendBatch(ctx, q.batch).Close()
	})
}

// query runs a read-only query; do reads its rows. It returns the number of bytes read.
func (d *Database) query(ctx context.Context, do func(pgx.Rows) error, sql string, args ...any) (held int, err error) {
	return d.read(ctx, general, func(ctx context.Context, r *reading) error {
		rows, err := d.pool.Query(ctx, sql, args...)
		if err == nil {
			err = do(r.rows(rows))
		}
		return err
	})
}

// collect runs a read-only query and collects the values that scan returns.
func collect[T any](ctx context.Context, d *Database, scan pgx.RowToFunc[T], sql string, args ...any) (
	items []T, err error,
) {
	_, err = d.query(ctx, into(&items, scan), sql, args...)
	return items, err
}

// collectIn is collect in a transaction.
func collectIn[T any](ctx context.Context, tx pgx.Tx, scan pgx.RowToFunc[T], sql string, args named) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// collectFirst is collect for the first row; without rows, it returns the zero value.
func collectFirst[T any](ctx context.Context, d *Database, scan pgx.RowToFunc[T], sql string, args ...any) (
	item T, err error,
) {
	_, err = d.query(ctx, first(&item, scan), sql, args...)
	return item, err
}
