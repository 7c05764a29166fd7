package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/events"
	"purser/internal/revisions"
)

// sweeping runs a prune or a purge when no other one runs in this process.
func (s *Store) sweeping(ctx context.Context, do func(ctx context.Context) error) error {
	return s.within(ctx, s.deadlines.Sweep, func(ctx context.Context) error {
		if err := s.sweeps.Acquire(ctx, 1); err != nil {
			return fmt.Errorf("wait for another prune or purge: %w", err)
		}
		defer s.sweeps.Release(1)
		return do(ctx)
	})
}

// Prune implements revisions.Store.
func (s *Store) Prune(ctx context.Context, keep int, options revisions.Options) (pruned revisions.Pruned, err error) {
	if options.DryRun {
		return s.wouldPrune(ctx, keep, options)
	}
	err = s.sweeping(ctx, func(ctx context.Context) error {
		if pruned, err = s.pruneRevisions(ctx, keep, options); err != nil {
			return err
		}
		s.announce()
		return s.sweep(ctx, &pruned)
	})
	return pruned, err
}

// Prunable implements revisions.Store.
func (s *Store) Prunable(ctx context.Context, keep int) (count int, err error) {
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.askRow([]any{&count}, stmt.CountPrunable, named{"site": s.site, "keep": keep})
	})
	return count, err
}

// wouldPrune returns the expected result of a prune, from one snapshot.
func (s *Store) wouldPrune(ctx context.Context, keep int, options revisions.Options) (
	pruned revisions.Pruned, err error,
) {
	var head revisions.Head
	var ofDocuments, ofContents int64 // bytes
	var secrets []secretDocuments
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		args := named{"site": s.site, "keep": keep}
		q.askRow(headFields(&head), stmt.ReadHead, named{"site": s.site})
		q.ask(into(&pruned.Revisions, pgx.RowTo[int64]), stmt.PrunableRevisions, args)
		q.askRow([]any{&pruned.Remaining}, stmt.CountRevisions, named{"site": s.site})
		q.askRow([]any{&pruned.Documents, &ofDocuments, &pruned.Contents, &ofContents}, stmt.CountUnneeded, args)
		if options.CleartextOnly {
			q.ask(into(&secrets, pgx.RowToStructByPos[secretDocuments]), stmt.UnneededSecrets, args)
		}
	})
	if err != nil {
		return pruned, err
	}
	pruned.Head, pruned.Remaining = head, pruned.Remaining-len(pruned.Revisions)
	pruned.Bytes = ofDocuments + ofContents
	if err := options.Expected.Check(head); err != nil {
		return pruned, err
	}
	return pruned, mayNotDelete(secrets)
}

// secretDocuments names an encrypted document that would be deleted, and says how many more there are.
type secretDocuments struct {
	Schema, Layer, Name string
	More                int
}

// mayNotDelete is the fault of deleting the documents that a query has found; nil if it has found none.
func mayNotDelete(found []secretDocuments) error {
	if len(found) == 0 {
		return nil
	}
	id := document.Identity{Schema: found[0].Schema, Layer: found[0].Layer, Name: found[0].Name}
	return revisions.MayNotDelete(id, found[0].More)
}

// keepSecrets refuses a transaction of a caller who may not delete the encrypted documents that a query finds.
func keepSecrets(ctx context.Context, tx pgx.Tx, options revisions.Options, sql string, args named) error {
	if !options.CleartextOnly {
		return nil
	}
	found, err := collectIn(ctx, tx, pgx.RowToStructByPos[secretDocuments], sql, args)
	if err != nil {
		return fmt.Errorf("look for encrypted documents: %w", err)
	}
	return mayNotDelete(found)
}

// pruneRevisions deletes revisions, with their results.
func (s *Store) pruneRevisions(ctx context.Context, keep int, options revisions.Options) (
	pruned revisions.Pruned, err error,
) {
	err = s.step(ctx, func(ctx context.Context, tx pgx.Tx) (locked int, err error) {
		pruned, locked, err = s.deleteRevisions(ctx, tx, keep, options)
		return locked, err
	})
	return pruned, err
}

// deleteRevisions deletes most revisions without holding the site's counters, and then, holding them, revisions that
// have become prunable in the meantime; locked is the number of the latter. Changes planned before are planned again.
//
// For a caller who may not delete encrypted documents, it then searches for them among the versions that no revision
// needs any more. The search takes time linear in these versions, so it runs without the counters, and revisions that
// have become prunable in the meantime stay.
func (s *Store) deleteRevisions(ctx context.Context, tx pgx.Tx, keep int, options revisions.Options) (
	pruned revisions.Pruned, locked int, err error,
) {
	site := named{"site": s.site}
	for _, sql := range []string{stmt.ReadHead, stmt.LockHead} {
		var head revisions.Head
		if err := tx.QueryRow(ctx, sql, site).Scan(headFields(&head)...); err != nil {
			return pruned, 0, fmt.Errorf("read the site's counters: %w", err)
		}
		if err := options.Expected.Check(head); err != nil {
			return pruned, 0, err
		}
		if options.CleartextOnly && sql == stmt.LockHead {
			break
		}
		deleted, err := s.deletePrunable(ctx, tx, keep)
		if err != nil {
			return pruned, 0, fmt.Errorf("prune revisions: %w", err)
		}
		pruned.Head, pruned.Revisions, locked = head, append(pruned.Revisions, deleted...), len(deleted)
		args := named{"site": s.site, "keep": nil}
		if err := keepSecrets(ctx, tx, options, stmt.UnneededSecrets, args); err != nil {
			return pruned, 0, err
		}
	}
	slices.Sort(pruned.Revisions)
	if len(pruned.Revisions) > 0 {
		if _, err := tx.Exec(ctx, stmt.CountPrune, site); err != nil {
			return pruned, 0, fmt.Errorf("count the prune: %w", err)
		}
	}
	if err := tx.QueryRow(ctx, stmt.CountRevisions, site).Scan(&pruned.Remaining); err != nil {
		return pruned, 0, fmt.Errorf("count revisions: %w", err)
	}
	batch := &pgx.Batch{}
	if options.Audit != nil {
		s.queueAudit(batch, *options.Audit)
	}
	if len(pruned.Revisions) > 0 {
		s.queueEvent(batch, events.PrunedEvent(pruned.Revisions, pruned.Remaining))
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return pruned, 0, fmt.Errorf("record the prune: %w", err)
	}
	return pruned, locked, nil
}

// deletePrunable deletes the prunable revisions, and returns them.
func (s *Store) deletePrunable(ctx context.Context, tx pgx.Tx, keep int) ([]int64, error) {
	locked, err := collectIn(ctx, tx, pgx.RowTo[int64], stmt.LockPrunable, named{"site": s.site, "keep": keep})
	if err != nil || len(locked) == 0 {
		return nil, err
	}
	return collectIn(ctx, tx, pgx.RowTo[int64], stmt.PruneRevisions, named{"site": s.site, "revisions": locked})
}
