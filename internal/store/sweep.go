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

// unneeded are the versions that no remaining revision needs. All existing revisions remain, or, if $2 is not null, the
// newest $2 and those with tags. Each such version was valid only in a gap between two of them, so its fork lies in
// that gap. LayeringPolicies that render remaining revisions stay: for each revision the newest one written until then,
// even if it has been removed since, and the newest of all.
const unneeded = gaps + `, unneeded AS (
		SELECT d.id, d.encrypted, d.bytes FROM gaps g CROSS JOIN LATERAL (
			SELECT d.id, d.encrypted, pg_column_size(d.*) AS bytes FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL
				AND d.fork > g.after AND d.fork < g.before AND d.since > g.after AND d.until <= g.before
				AND (d.schema NOT LIKE 'deckhand/LayeringPolicy/%' OR g.before >= (
					SELECT min(p.since) FROM documents p
					WHERE p.site = $1 AND p.schema LIKE 'deckhand/LayeringPolicy/%' AND p.since > d.since))
			OFFSET 0) d) `

const (
	gaps = `WITH gaps AS (
			SELECT n.after, n.before FROM (
				SELECT lag(r.revision, 1, 0::bigint) OVER (ORDER BY r.revision) AS after, r.revision AS before
				FROM revisions r WHERE r.site = $1 AND ($2::bigint IS NULL OR (` + prunable + `) IS NOT TRUE)) n
			WHERE n.before > n.after + 1)`

	// sweepDocuments deletes versions, at most $3.
	sweepDocuments = unneeded + `, gone AS (
			DELETE FROM documents d WHERE d.site = $1 AND d.id = ANY(ARRAY(SELECT u.id FROM unneeded u LIMIT $3))
			RETURNING pg_column_size(d.*) AS bytes)
		SELECT count(*), coalesce(sum(bytes), 0) FROM gone`

	// sweepEntries deletes $3 entries of deleted revisions, and the remaining ones of the last of these revisions.
	sweepEntries = gaps + `, gone AS (
			DELETE FROM entries f WHERE f.site = $1 AND f.revision = ANY(ARRAY(
				SELECT f.revision FROM gaps g CROSS JOIN LATERAL (SELECT f.revision FROM entries f
					WHERE f.site = $1 AND f.revision > g.after AND f.revision < g.before OFFSET 0) f LIMIT $3))
			RETURNING 0)
		SELECT count(*), 0::bigint FROM gone`

	// sweepViolations deletes violations, at most $3.
	sweepViolations = gaps + `, gone AS (
			DELETE FROM violations v USING (
				SELECT v.since, v.document FROM gaps g CROSS JOIN LATERAL (
					SELECT v.since, v.document FROM violations v WHERE v.site = $1 AND v.until IS NOT NULL
						AND v.fork > g.after AND v.fork < g.before AND v.since > g.after AND v.until <= g.before
					OFFSET 0) v LIMIT $3) u
			WHERE v.site = $1 AND v.since = u.since AND v.document = u.document
			RETURNING 0)
		SELECT count(*), 0::bigint FROM gone`

	sweepOccupancies = `DELETE FROM occupancies o WHERE o.site = $1 AND o.until <= (
		SELECT min(r.revision) FROM revisions r WHERE r.site = o.site AND r.revision >= o.since)`

	// contentsWithout selects contents c that no version d has; further conditions on d may follow, and two brackets.
	contentsWithout = `SELECT c.digest,
			(pg_column_size(c.digest) + pg_column_size(c.body)` + archiveSize + `)::bigint AS bytes
		FROM contents c WHERE c.site = $1 AND NOT EXISTS (
			SELECT FROM documents d WHERE d.site = c.site AND d.content = c.digest`

	// archiveSize adds the size of the archive of content c.
	archiveSize = ` + coalesce(
			(SELECT pg_column_size(a.body) FROM archives a WHERE a.site = c.site AND a.content = c.digest), 0)`

	orphans = contentsWithout + `) LIMIT $2`

	// pruneContents deletes contents that no version has which came after $3, up to $4. The upper bound is the last one
	// there is: without it, plans would be for reading a third of all versions.
	pruneContents = `WITH gone AS (
			DELETE FROM contents c WHERE c.site = $1 AND c.digest = ANY($2) AND NOT EXISTS (
				SELECT FROM documents d WHERE d.site = $1 AND d.id > $3 AND d.id <= $4 AND d.content = c.digest)
			RETURNING pg_column_size(c.digest) + pg_column_size(c.body)` + archiveSize + ` AS bytes)
		SELECT count(*), coalesce(sum(bytes), 0) FROM gone`

	// failedChecks are the checks in entries of revisions after $2, up to $3: the stored ones, and violations that began.
	failedChecks = `SELECT d.content, f.rule, f.client_versions FROM (
			SELECT document, rule, client_versions FROM entries
			WHERE site = $1 AND revision > $2 AND revision <= $3 AND rule IS NOT NULL
			UNION
			SELECT document, rule, client_versions FROM violations WHERE site = $1 AND since > $2 AND since <= $3) f
		JOIN documents d ON d.site = $1 AND d.id = f.document
		GROUP BY d.content, f.rule, f.client_versions`

	otherChecks = `SELECT c.pair, coalesce(pg_column_size(c.findings), 0)::bigint FROM checks c WHERE c.site = $1
		AND NOT EXISTS (SELECT FROM unnest($2::bytea[]) k WHERE k = c.pair) LIMIT $3`

	pruneChecks = `DELETE FROM checks c WHERE c.site = $1 AND c.pair = ANY($2) AND c.pair <> ALL($3)`
)

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
		{new(int), func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, sweepEntries) }},
		{new(int), func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, sweepViolations) }},
		{&pruned.Documents, func(ctx context.Context) (int, int64, error) { return s.sweepAll(ctx, sweepDocuments) }},
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
		_, err := tx.Exec(ctx, sweepOccupancies, s.site)
		return 0, err
	})
}

// sweepAll repeats a statement that deletes some rows until none are left.
func (s *Store) sweepAll(ctx context.Context, sql string) (count int, bytes int64, err error) {
	for {
		var rows int
		var size int64
		err := s.step(ctx, func(ctx context.Context, tx pgx.Tx) (int, error) {
			return 0, tx.QueryRow(ctx, sql, s.site, nil, maxSwept).Scan(&rows, &size)
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
			if err := tx.QueryRow(ctx, readHead, s.site).Scan(headFields(&since)...); err != nil {
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
				fields := append(headFields(&head), &stamp, nil)
				err := tx.QueryRow(ctx, lockBase, s.site, since.Revision).Scan(fields...)
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
	return findRows(ctx, tx, orphans, s.site, maxFound)
}

func (s *Store) pruneContents(ctx context.Context, tx pgx.Tx, keys [][]byte, since, head revisions.Head) (
	count int, bytes int64, err error,
) {
	err = tx.QueryRow(ctx, pruneContents, s.site, keys, since.LastDocument, head.LastDocument).Scan(&count, &bytes)
	return count, bytes, err
}

func (s *Store) findChecks(ctx context.Context, tx pgx.Tx) ([]found, error) {
	kept, err := s.failedChecks(ctx, tx, 0, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	return findRows(ctx, tx, otherChecks, s.site, digestArray(kept), maxFound)
}

// pruneChecks deletes outcomes of checks. Changes that were planned before, perhaps by one of these, are planned again.
func (s *Store) pruneChecks(ctx context.Context, tx pgx.Tx, keys [][]byte, since, head revisions.Head) (
	count int, bytes int64, err error,
) {
	kept, err := s.failedChecks(ctx, tx, since.Revision, head.Revision)
	if err != nil {
		return 0, 0, err
	}
	gone, err := tx.Exec(ctx, pruneChecks, s.site, keys, digestArray(kept))
	if err != nil || gone.RowsAffected() == 0 {
		return 0, 0, err
	}
	_, err = tx.Exec(ctx, countPrune, s.site)
	return int(gone.RowsAffected()), 0, err
}

// failedChecks names the checks in entries of revisions after one revision, up to another.
func (s *Store) failedChecks(ctx context.Context, tx pgx.Tx, after, last int64) (
	failed []validations.Pair, err error,
) {
	rows, err := tx.Query(ctx, failedChecks, s.site, after, last)
	if err != nil {
		return nil, err
	}
	var pair revisions.Pair
	_, err = pgx.ForEachRow(rows, []any{
		intoDigest(&pair.Content), intoDigest(&pair.Rule.Schema), intoDigest(&pair.Rule.Context),
	}, func() error {
		failed = append(failed, pair.Name())
		return nil
	})
	return failed, err
}

func findRows(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]found, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[found])
}
