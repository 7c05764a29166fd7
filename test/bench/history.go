package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/zstd"
)

// chronicle is a site in which each revision changes one document.
type chronicle struct {
	*server

	site     *site
	revision int     // the newest
	packed   []int   // compressed bytes of the document that each revision changed
	sizes    []int64 // of the database after each revision; 0 if not measured
}

// vacuumEvery is the number of revisions between vacuums of the database. The dead rows of replaced documents do not
// count as growth, because their space is reused, but only after a vacuum. Autovacuum, which runs after about 250 of
// them, would count as growth at first and as none later.
const vacuumEvery = 10

// history measures rows 4 and 5 for a kind of documents, on a site with a long history and on one with a short history.
func (b *bench) history(ctx context.Context, k kind) (err error) {
	b.sayf("rows 4-5: %d revisions of %d documents of %s", b.revisions, b.docs, k.label)
	long, err := b.begin(ctx, k, "long_"+databaseName(k))
	if err != nil {
		return err
	}
	defer func() { err = long.stop(err) }()
	brief, err := b.begin(ctx, k, "brief_"+databaseName(k))
	if err != nil {
		return err
	}
	defer func() { err = brief.stop(err) }()
	if err := brief.grow(ctx, pageSize-1); err != nil {
		return err
	}
	if err := long.grow(ctx, b.revisions); err != nil {
		return err
	}
	if b.wants(4) {
		b.reportGrowth(k, long)
	}
	if b.wants(5) {
		return b.reads(ctx, k, long, brief)
	}
	return nil
}

// begin creates a site whose first revision has all documents.
func (b *bench) begin(ctx context.Context, k kind, name string) (*chronicle, error) {
	s, err := b.start(ctx, name)
	if err != nil {
		return nil, err
	}
	c := &chronicle{server: s, site: newSite(k, b.docs)}
	if err := c.next(ctx); err != nil {
		return nil, s.stop(err)
	}
	return c, nil
}

func (c *chronicle) next(ctx context.Context) (err error) {
	if err := c.put(ctx, "site", append([]byte(c.site.schema), c.site.body()...)); err != nil {
		return err
	}
	var size int64
	if c.revision%vacuumEvery == 0 {
		if size, err = databaseSize(ctx, c.db); err != nil {
			return err
		}
	}
	c.revision++
	c.sizes = append(c.sizes, size)
	return nil
}

// grow adds n revisions that change one document each.
func (c *chronicle) grow(ctx context.Context, n int) error {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		return fmt.Errorf("make a compressor: %w", err)
	}
	defer func() { _ = packer.Close() }()
	for range n {
		i := c.revision % len(c.site.documents)
		c.site.change(i, c.revision)
		c.packed = append(c.packed, len(packer.EncodeAll([]byte(c.site.documents[i]), nil)))
		if err := c.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// databaseSize returns the size of all tables and indexes, after a vacuum.
func databaseSize(ctx context.Context, db *pgxpool.Pool) (size int64, err error) {
	if err := vacuum(ctx, db); err != nil {
		return 0, err
	}
	err = db.QueryRow(ctx, `SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables`).Scan(&size)
	if err != nil {
		return 0, fmt.Errorf("measure the database: %w", err)
	}
	return size, nil
}

// span returns the average bytes added by each revision after from, up to to, and those of its compressed document.
func (c *chronicle) span(from, to int) (added, packed float64) {
	sum := 0
	for _, n := range c.packed[from:to] {
		sum += n
	}
	n := float64(to - from)
	return float64(c.sizes[to]-c.sizes[from]) / n, float64(sum) / n
}

func (b *bench) reportGrowth(k kind, c *chronicle) {
	last := b.revisions / vacuumEvery * vacuumEvery
	part := max(last/10/vacuumEvery*vacuumEvery, vacuumEvery)
	for _, span := range [][2]int{{0, last}, {0, part}, {last - part, last}} {
		added, packed := c.span(span[0], span[1])
		allowed := 1.3*packed + 1024
		b.add(4, added <= allowed, fmt.Sprintf("<= %.0f", allowed),
			fmt.Sprintf("%d x %s: bytes a revision adds, %d to %d (tables and indexes, vacuumed every %d)",
				b.docs, k.label, span[0]+1, span[1]+1, vacuumEvery),
			fmt.Sprintf("%.0f  (document %.0f compressed)", added, packed))
	}
}

// pageSize is the number of revisions on a page of the list: as many as the short history has.
const pageSize = 10

// reads measures row 5: whether documents of an old revision cost more than those of the one before head, which are
// also read from the database.
func (b *bench) reads(ctx context.Context, k kind, long, brief *chronicle) error {
	before := long.revision - 1
	var pairs []compared
	for _, revision := range []int{1, b.revisions / 2} {
		pairs = append(pairs, compared{
			row: 5, limit: 1.2,
			what:     fmt.Sprintf("%d x %s: documents of revision %d to those of %d", b.docs, k.label, revision, before),
			against:  func() error { return long.documents(ctx, before) },
			measured: func() error { return long.documents(ctx, revision) },
		})
	}
	pairs = append(pairs, compared{
		row: 5, limit: 1,
		what:     fmt.Sprintf("%d x %s: documents of head, from memory, to those of %d", b.docs, k.label, before),
		against:  func() error { return long.documents(ctx, before) },
		measured: func() error { return long.documents(ctx, long.revision) },
	})
	first := func() error { return brief.list(ctx, 0) }
	pairs = append(pairs,
		compared{
			row: 5, limit: 1.2,
			what: fmt.Sprintf("%d x %s: first page of %d of %d revisions to one of %d", b.docs, k.label, pageSize,
				long.revision, brief.revision),
			against: first, measured: func() error { return long.list(ctx, 0) },
		},
		compared{
			row: 5,
			what: fmt.Sprintf("%d x %s: last page of %d revisions to one of %d", b.docs, k.label, long.revision,
				brief.revision),
			against: first, measured: func() error { return long.list(ctx, long.revision-pageSize) },
		})
	return b.compareAll(pairs)
}

func (c *chronicle) documents(ctx context.Context, revision int) error {
	return c.get(ctx, fmt.Sprintf("%s/revisions/%d/documents", api, revision))
}

func (c *chronicle) list(ctx context.Context, offset int) error {
	return c.get(ctx, fmt.Sprintf("%s/revisions?limit=%d&offset=%d", api, pageSize, offset))
}
