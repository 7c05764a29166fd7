package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"purser/internal/queries"
	"purser/internal/store"
	"purser/internal/validations"
)

// changing is the number of documents that differ between the first whole revision of a wide site and its newest one.
const changing = 10

// whole is the first revision of a wide site that has all documents.
const whole = 2

// wide is a site of many documents, a few of which change in every revision. The few are in a bucket of their own, so
// that a long history takes little time to create.
type wide struct {
	*server

	kept    *store.Store // on the server's database, in process
	service queries.View // on store
	site    *site
	few     *bucket // the documents that change
	many    *bucket // the other documents
	newest  int64   // revision
}

// bucket is a part of a wide site. Each PUT changes values in ten of its documents.
type bucket struct {
	*wide

	name    string
	head    string // the text before its documents
	from    int    // index of its first document in the site; the first ten change first
	to      int    // index after its last document
	version int
	body    []byte // the body of the next PUT
}

// wideSites measures rows 8 to 10, on a site with a long history and on one with a short one.
func (b *bench) wideSites(ctx context.Context) (err error) {
	b.sayf("rows 8-10: %d and %d revisions of %d documents of %s", b.revisions, changing, b.wide, small().label)
	long, err := b.widen(ctx, "wide_long", b.revisions)
	if err != nil {
		return err
	}
	defer func() { err = long.stop(err) }()
	brief, err := b.widen(ctx, "wide_brief", changing)
	if err != nil {
		return err
	}
	defer func() { err = brief.stop(err) }()
	if err := b.fresh(ctx, long); err != nil {
		return err
	}
	if err := errors.Join(vacuum(ctx, long.db), vacuum(ctx, brief.db)); err != nil {
		return err
	}
	for _, part := range []struct {
		row     int
		measure func(ctx context.Context, long, brief *wide) error
	}{{8, b.filters}, {9, b.diffs}, {10, b.rollbacks}, {8, b.crowded}} { // the last two add revisions
		if b.wants(part.row) {
			if err := part.measure(ctx, long, brief); err != nil {
				return err
			}
		}
	}
	return nil
}

// widen creates a wide site with the given number of revisions after the first whole one.
func (b *bench) widen(ctx context.Context, name string, history int) (_ *wide, err error) {
	s, err := b.start(ctx, name)
	if err != nil {
		return nil, err
	}
	w := &wide{server: s, site: newSite(small(), b.wide)}
	defer func() {
		if err != nil {
			err = w.stop(err)
		}
	}()
	if _, err := s.db.Exec(ctx, manual); err != nil {
		return nil, fmt.Errorf("turn autovacuum off: %w", err)
	}
	w.few = &bucket{wide: w, name: "few", from: b.wide - changing, to: b.wide}
	w.many = &bucket{wide: w, name: "many", head: w.site.schema, to: b.wide - changing}
	for _, part := range []*bucket{w.many, w.few} {
		part.revise(0, 0)
		if err := part.put(ctx); err != nil {
			return nil, err
		}
	}
	for i := range history {
		w.few.revise(i%changing, i%changing+1)
		if err := w.few.put(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	return w, w.differs(ctx)
}

// manual disables autovacuum, so that the bench decides when Postgres has statistics.
const manual = `ALTER TABLE documents SET (autovacuum_enabled = false);
	ALTER TABLE contents SET (autovacuum_enabled = false);
	ALTER TABLE revisions SET (autovacuum_enabled = false)`

// open creates a view of the server's database, configured as in the server.
func (w *wide) open(ctx context.Context) (err error) {
	if w.kept, err = openStore(ctx, w.db.Config().ConnString()); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	w.service = newQueries(w.kept, validations.NewEngine(validations.Options{}))
	if w.newest, err = w.kept.Latest(ctx); err != nil {
		return fmt.Errorf("find the newest revision: %w", err)
	}
	return nil
}

var errOther = errors.New("not what was to be measured")

// differs checks that exactly as many documents differ as a comparison assumes.
func (w *wide) differs(ctx context.Context) error {
	found, err := w.kept.Compare(ctx, whole, w.newest)
	if err != nil {
		return fmt.Errorf("compare the first revision with the newest: %w", err)
	}
	if len(found.Removed) != changing || len(found.Added) != changing {
		return fmt.Errorf("%w: %d and %d documents differ", errOther, len(found.Removed), len(found.Added))
	}
	return nil
}

func (w *wide) stop(err error) error {
	if w.kept != nil {
		w.kept.Close()
	}
	return w.server.stop(err)
}

// revise changes the values of some documents. from and to count from the bucket's first document.
func (k *bucket) revise(from, to int) {
	k.version++
	for i := from; i < to; i++ {
		k.site.change(k.from+i, k.version)
	}
	k.body = []byte(k.head + strings.Join(k.site.documents[k.from:k.to], ""))
}

func (k *bucket) put(ctx context.Context) error { return k.server.put(ctx, k.name, k.body) }
