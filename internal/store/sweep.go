package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/validations"
)

// A version that no remaining revision needs is never needed again: a new revision needs only live versions and its
// own. Entries, violations, versions and occupancies are therefore deleted without a lock, by statements that see one
// snapshot. Contents and checks are different, because a new revision may need an old one again. They are searched
// without a lock too, but deleted while holding the site's counters, except those needed by revisions that were
// appended after the search. A change that was planned before and is appended after that adds missing contents again;
// it is planned again, because it may lack outcomes of checks.

const (
	maxSwept = 1024 // rows that a step deletes without the lock
	maxFound = 1 << 16
	// The maximum that a step deletes while it holds the site's counters: a few milliseconds of work.
	maxLocked      = 128
	maxLockedBytes = 2 << 20
)

// step does a part of a prune in a transaction of its own; do returns how many rows it has deleted while it held the
// site's counters. Then it pauses for as long as that took: others get at least half of the time.
func (s *Store) step(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) (locked int, err error)) error {
	var locked int
	began := time.Now()
	err := s.withTx(ctx, s.deadlines.Sweep, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := s.checkSchema(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, noStatementTimeout); err != nil {
			return err
		}
		locked, err = do(ctx, tx)
		return err
	})
	if err == nil && s.stepped != nil {
		err = s.stepped(locked)
	}
	if err != nil {
		return err
	}
	select {
	case <-time.After(time.Since(began)):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the next step: %w", context.Cause(ctx))
	}
}

// sweep deletes and counts the data that no remaining revision needs.
func (s *Store) sweep(ctx context.Context, pruned *revisions.Pruned) error {
	for _, part := range []struct {
		count *int
		sweep func(ctx context.Context) (count int, bytes int64, err error)
	}{
		{new(int), func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, stmt.SweepEntries) }},
		{new(int), func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, stmt.SweepViolations) }},
		{&pruned.Documents, func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, stmt.SweepDocuments) }},
		{new(int), func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, stmt.SweepTexts) }},
		{&pruned.Contents, func(ctx context.Context) (int, int64, error) {
			return s.sweepFound(ctx, s.findContents, s.pruneContents)
		}},
		{new(int), func(ctx context.Context) (int, int64, error) {
			return s.sweepFound(ctx, s.findChecks, s.pruneChecks)
		}},
	} {
		count, bytes, err := part.sweep(ctx)
		if err != nil {
			return fmt.Errorf("prune what no revision needs: %w", err)
		}
		*part.count, pruned.Bytes = count, pruned.Bytes+bytes
	}
	return s.step(ctx, func(ctx context.Context, tx pgx.Tx) (int, error) {
		_, err := tx.Exec(ctx, stmt.SweepOccupancies, named{"site": s.site})
		return 0, err
	})
}

// sweepAll repeats a statement that deletes some rows until none are left.
func (s *Store) sweepAll(ctx context.Context, sql string) (count int, bytes int64, err error) {
	for {
		var rows int
		var size int64
		err := s.step(ctx, func(ctx context.Context, tx pgx.Tx) (int, error) {
			return 0, tx.QueryRow(ctx, sql, named{"site": s.site, "limit": maxSwept}).Scan(&rows, &size)
		})
		if err != nil {
			return count, bytes, err
		}
		if count, bytes = count+rows, bytes+size; rows < maxSwept {
			return count, bytes, nil
		}
	}
}

// found is a row that no revision needed when it was found.
type found struct {
	Key   []byte
	Bytes int64
}

// sweepFound finds rows without a lock, at most maxFound at a time, and deletes them in steps that hold the site's
// counters. Rows found at one head may be needed by newer revisions. After a purge, or in a database that went back in
// time, the keys may even mean other rows.
func (s *Store) sweepFound(ctx context.Context,
	find func(ctx context.Context, tx pgx.Tx) ([]found, error),
	remove func(ctx context.Context, tx pgx.Tx, keys [][]byte, since, head revisions.Head) (int, int64, error),
) (count int, bytes int64, err error) {
	for {
		var since revisions.Head
		var rows []found
		err := s.step(ctx, func(ctx context.Context, tx pgx.Tx) (_ int, err error) {
			if err := tx.QueryRow(ctx, stmt.ReadHead, named{"site": s.site}).Scan(headFields(&since)...); err != nil {
				return 0, err
			}
			rows, err = find(ctx, tx)
			return 0, err
		})
		more := len(rows) == maxFound
		for err == nil && len(rows) > 0 {
			var keys [][]byte
			keys, rows = batch(rows)
			var removed int
			var size int64
			err = s.step(ctx, func(ctx context.Context, tx pgx.Tx) (int, error) {
				var head revisions.Head
				var stamp revisions.Stamp // of the head since
				fields := append(headFields(&head), &stamp, nil, nil)
				args := named{"site": s.site, "revision": since.Revision}
				err := tx.QueryRow(ctx, stmt.LockBase, args).Scan(fields...)
				follows := head.Epoch == since.Epoch && (head.Stamp == since.Stamp || stamp == since.Stamp)
				if removed, size = 0, 0; err == nil && follows {
					removed, size, err = remove(ctx, tx, keys, since, head)
				}
				return removed, err
			})
			count, bytes = count+removed, bytes+size
		}
		if err != nil || !more {
			return count, bytes, err
		}
	}
}

// batch returns the first rows that may be deleted in one step, at least one.
func batch(rows []found) (keys [][]byte, rest []found) {
	size := int64(0)
	for len(rows) > 0 && len(keys) < maxLocked && (size == 0 || size+rows[0].Bytes <= maxLockedBytes) {
		keys, size, rows = append(keys, rows[0].Key), size+rows[0].Bytes, rows[1:]
	}
	return keys, rows
}

func (s *Store) findContents(ctx context.Context, tx pgx.Tx) ([]found, error) {
	return collectIn(ctx, tx, pgx.RowToStructByPos[found], stmt.Orphans, named{"site": s.site, "limit": maxFound})
}

func (s *Store) pruneContents(ctx context.Context, tx pgx.Tx, keys [][]byte, since, head revisions.Head) (
	count int, bytes int64, err error,
) {
	err = tx.QueryRow(ctx, stmt.PruneContents, named{
		"site": s.site, "digests": keys, "since": since.LastDocument, "last": head.LastDocument,
	}).Scan(&count, &bytes)
	return count, bytes, err
}

func (s *Store) findChecks(ctx context.Context, tx pgx.Tx) ([]found, error) {
	kept, err := s.failedChecks(ctx, tx, 0, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	return collectIn(ctx, tx, pgx.RowToStructByPos[found], stmt.OtherChecks, named{
		"site": s.site, "kept": digestArray(kept), "limit": maxFound,
	})
}

// pruneChecks deletes outcomes of checks. Changes that were planned before, perhaps by one of these, are planned again.
func (s *Store) pruneChecks(ctx context.Context, tx pgx.Tx, keys [][]byte, since, head revisions.Head) (
	count int, bytes int64, err error,
) {
	kept, err := s.failedChecks(ctx, tx, since.Revision, head.Revision)
	if err != nil {
		return 0, 0, err
	}
	deleted, err := tx.Exec(ctx, stmt.PruneChecks, named{"site": s.site, "pairs": keys, "kept": digestArray(kept)})
	if err != nil || deleted.RowsAffected() == 0 {
		return 0, 0, err
	}
	_, err = tx.Exec(ctx, stmt.CountPrune, named{"site": s.site})
	return int(deleted.RowsAffected()), 0, err
}

// failedChecks names the checks in entries of revisions after one revision, up to another.
func (s *Store) failedChecks(ctx context.Context, tx pgx.Tx, after, last int64) (
	[]validations.Pair, error,
) {
	return collectIn(ctx, tx, func(row pgx.CollectableRow) (validations.Pair, error) {
		var pair revisions.Pair
		err := row.Scan((*nullDigest)(&pair.Content), (*nullDigest)(&pair.Rule.Schema), (*nullDigest)(&pair.Rule.Context))
		return pair.Name(), err
	}, stmt.FailedChecks, named{"site": s.site, "after": after, "last": last})
}

// tables are those that a purge empties, in this order; a prune deletes rows of them too.
var tables = []string{
	"tags", "results", "reported", "entries", "violations", "checks", "documents", "contents", "texts", "buckets",
	"occupancies", "revisions",
}
