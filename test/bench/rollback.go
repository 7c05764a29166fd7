package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// rollback returns work that rolls back to the first whole revision.
func (w *wide) rollback(ctx context.Context) func() error {
	return func() error {
		return w.send(ctx, http.MethodPost, fmt.Sprintf("%s/rollback/%d", api, whole), nil, io.Discard)
	}
}

// prepare returns work that changes ten documents of the first whole revision, and prepares a body that changes them
// again. After it, the server has the bucket in memory, as after any PUT; a rollback removes it from memory.
func (k *bucket) prepare(ctx context.Context) func() error {
	return func() error {
		k.revise(0, changing)
		if err := k.put(ctx); err != nil {
			return err
		}
		k.revise(0, changing)
		return nil
	}
}

// rollbacks measures row 10.
func (b *bench) rollbacks(ctx context.Context, long, brief *wide) error {
	if err := b.flatRollbacks(ctx, long, brief); err != nil {
		return err
	}
	for _, k := range []*bucket{long.few, long.many} {
		if err := long.rollback(ctx)(); err != nil {
			return err
		}
		what := fmt.Sprintf("rollback over %d and more revisions, %d documents differ of a bucket of %d, to a PUT of it "+
			"that changes the same", b.revisions, changing, k.to-k.from)
		if err := b.compare(compared{
			row: 10, limit: 3, repeats: rarely, before: k.prepare(ctx), measured: long.rollback(ctx),
			against: func() error { return k.put(ctx) }, what: what,
		}); err != nil {
			return err
		}
	}
	return nil
}

// rarely is the number of turns in a round of work that adds revisions. It is small, to keep a short history short.
const rarely = 2

// flatRollbacks compares a long history with a short one.
func (b *bench) flatRollbacks(ctx context.Context, long, brief *wide) error {
	prepare := []func() error{long.few.prepare(ctx), brief.few.prepare(ctx)}
	return b.compare(compared{
		row: 10, limit: 1.2, repeats: rarely, measured: long.rollback(ctx), against: brief.rollback(ctx),
		before: func() error {
			for _, do := range prepare {
				if err := do(); err != nil {
					return err
				}
			}
			return nil
		},
		what: fmt.Sprintf("rollback over %d and more revisions to one over %d and more", b.revisions, changing),
	})
}
