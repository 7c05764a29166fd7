package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"purser/internal/revisions"
)

// diff compares the first whole revision with the newest one, in process.
func (w *wide) diff(ctx context.Context) func() error {
	return func() error {
		buckets, err := w.service.Diff(ctx, whole, w.newest)
		if err != nil {
			return fmt.Errorf("compare: %w", err)
		}
		if len(buckets) != 2 || buckets[0].Difference != revisions.Modified {
			return fmt.Errorf("%w: %v", errOther, buckets)
		}
		return nil
	}
}

// byKeys reads the rows of the documents that differ.
func (w *wide) byKeys(ctx context.Context) (func() error, error) {
	found, err := w.selected(ctx, liveOfBucket, w.few.name)
	ids := make([]int64, len(found))
	for i, doc := range found {
		ids[i] = doc.id
	}
	return func() error {
		found, err := w.selected(ctx, versionsByKeys, ids)
		if err == nil && len(found) != changing {
			err = fmt.Errorf("%w: %d documents", errOther, len(found))
		}
		return err
	}, err
}

// diffs measures row 9.
func (b *bench) diffs(ctx context.Context, long, brief *wide) error {
	keys, err := long.byKeys(ctx)
	if err != nil {
		return err
	}
	clients, closeAll, err := long.wires(ctx, 1)
	if err != nil {
		return err
	}
	defer closeAll()
	get := func() error {
		path := fmt.Sprintf("%s/revisions/%d/diff/%d", api, whole, long.newest)
		return clients[0].send(message(http.MethodGet, path, nil))
	}
	what := fmt.Sprintf("diff of revisions %d and %d, %d of %d documents differ", whole, long.newest, changing, b.wide)
	return b.compareAll([]compared{
		{
			row: 9, repeats: often, limit: 5, against: keys, measured: long.diff(ctx),
			what: what + fmt.Sprintf(", to the %d rows by key", changing),
		},
		{
			row: 9, repeats: often, limit: 1.2, against: brief.diff(ctx), measured: long.diff(ctx),
			what: what + fmt.Sprintf(", to the same over %d revisions", brief.newest-whole),
		},
		{row: 9, repeats: often, against: keys, measured: get, what: "the same by GET, to the rows by key"},
	})
}

// fresh measures a part of rows 8 and 9 before Postgres has statistics, that is, up to a minute after a site is
// uploaded.
func (b *bench) fresh(ctx context.Context, long *wide) error {
	k, err := long.keyed(ctx, long.few.name)
	if err != nil {
		return err
	}
	keys, err := long.byKeys(ctx)
	if err != nil {
		return err
	}
	pairs := []compared{
		{
			row: 8, repeats: often, limit: 3, against: k.byKey(ctx), measured: k.filter(ctx, long.newest, false),
			what: "by name from head while the database has no statistics, to one by key",
		},
		{
			row: 9, repeats: often, limit: 5, against: keys, measured: long.diff(ctx),
			what: "diff while the database has no statistics, to the rows by key",
		},
	}
	return b.compareAll(slices.DeleteFunc(pairs, func(pair compared) bool { return !b.wants(pair.row) }))
}
