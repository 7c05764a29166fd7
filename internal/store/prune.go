package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
	"purser/internal/validations"
)

const (
	// prunable are the revisions before the newest ones that no tag holds.
	prunable = `SELECT r.revision FROM revisions r WHERE r.site = $1 AND r.revision <= (
			SELECT n.revision FROM revisions n WHERE n.site = $1 ORDER BY n.revision DESC OFFSET $2 LIMIT 1)
		AND NOT EXISTS (SELECT FROM tags t WHERE t.site = r.site AND t.revision = r.revision) ORDER BY r.revision`

	pruneFailures = `DELETE FROM failures WHERE site = $1 AND revision = ANY($2)`

	pruneRevisions = `DELETE FROM revisions WHERE site = $1 AND revision = ANY($2)`

	keptRevisions = `SELECT count(*) FROM revisions WHERE site = $1`

	// fallbacks are the LayeringPolicies by which the remaining revisions are rendered: of each the newest one that was
	// written until then, even if it was removed since, and the newest of all (spec/api.md §0 D14).
	fallbacks = `SELECT p.id FROM (
			SELECT id, since, lead(since) OVER (ORDER BY since) AS superseded FROM documents
			WHERE site = $1 AND schema LIKE 'deckhand/LayeringPolicy/%') p
		WHERE p.superseded IS NULL OR EXISTS (
			SELECT FROM revisions r WHERE r.site = $1 AND r.revision >= p.since AND r.revision < p.superseded)`

	pruneDocuments = `WITH gone AS (
			DELETE FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL AND d.id <> ALL($2) AND NOT EXISTS (
				SELECT FROM revisions r WHERE r.site = d.site AND r.revision >= d.since AND r.revision < d.until)
			RETURNING pg_column_size(d.*) AS bytes)
		SELECT count(*), coalesce(sum(bytes), 0) FROM gone`

	pruneContents = `WITH gone AS (
			DELETE FROM contents c WHERE c.site = $1 AND NOT EXISTS (
				SELECT FROM documents d WHERE d.site = c.site AND d.content = c.digest)
			RETURNING pg_column_size(c.digest) + pg_column_size(c.body) AS bytes)
		SELECT count(*), coalesce(sum(bytes), 0) FROM gone`

	failedChecks = `SELECT DISTINCT d.content, f.rule, f.client_versions FROM failures f
		JOIN documents d ON d.site = f.site AND d.id = f.document WHERE f.site = $1 AND f.rule IS NOT NULL`

	pruneChecks = `DELETE FROM checks c WHERE c.site = $1
		AND NOT EXISTS (SELECT FROM unnest($2::bytea[]) k WHERE k = c.pair)`

	pruneOccupancies = `DELETE FROM occupancies o WHERE o.site = $1 AND o.until IS NOT NULL AND NOT EXISTS (
		SELECT FROM revisions r WHERE r.site = o.site AND r.revision >= o.since AND r.revision < o.until)`

	countPrune = `UPDATE sites SET prunes = prunes + 1 WHERE site = $1`
)

// errDryRun rolls back the transaction of a dry run.
var errDryRun = errors.New("dry run")

// Prune implements revisions.Store. It holds the site's counters, so that no revision is appended that rests on what
// goes.
func (s *Store) Prune(ctx context.Context, keep int, options revisions.Options) (revisions.Pruned, error) {
	var pruned revisions.Pruned
	err := s.retry(ctx, s.deadlines.Sweep, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var err error
			if pruned, err = s.prune(ctx, tx, keep, options.Expected); err == nil && options.DryRun {
				err = errDryRun
			}
			return err
		})
	}, foreignKeyViolation) // somebody tagged a revision that was about to go
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return pruned, err
}

func (s *Store) prune(ctx context.Context, tx pgx.Tx, keep int, expected revisions.Expected) (
	pruned revisions.Pruned, err error,
) {
	var head revisions.Head
	if err := tx.QueryRow(ctx, lockHead, s.site).Scan(headFields(&head)...); err != nil {
		return pruned, fmt.Errorf("lock the site: %w", err)
	}
	if err := expected.Check(head); err != nil {
		return pruned, err
	}
	if pruned.Revisions, err = collectIn[int64](ctx, tx, prunable, s.site, keep); err != nil {
		return pruned, fmt.Errorf("find what to prune: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(pruneFailures, s.site, pruned.Revisions)
	batch.Queue(pruneRevisions, s.site, pruned.Revisions)
	batch.Queue(pruneOccupancies, s.site)
	batch.Queue(keptRevisions, s.site).QueryRow(func(row pgx.Row) error { return row.Scan(&pruned.Remaining) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return pruned, fmt.Errorf("prune revisions: %w", err)
	}
	return pruned, s.sweep(ctx, tx, &pruned)
}

// sweep deletes what none of the remaining revisions needs.
func (s *Store) sweep(ctx context.Context, tx pgx.Tx, pruned *revisions.Pruned) error {
	kept, err := collectIn[int64](ctx, tx, fallbacks, s.site)
	if err != nil {
		return fmt.Errorf("find the layering policies to keep: %w", err)
	}
	for _, step := range []struct {
		count *int
		sql   string
		args  []any
	}{
		{&pruned.Documents, pruneDocuments, []any{s.site, kept}},
		{&pruned.Contents, pruneContents, []any{s.site}},
	} {
		var bytes int64
		if err := tx.QueryRow(ctx, step.sql, step.args...).Scan(step.count, &bytes); err != nil {
			return fmt.Errorf("prune documents: %w", err)
		}
		pruned.Bytes += bytes
	}
	checks, err := s.sweepChecks(ctx, tx)
	if err != nil || pruned.Documents+pruned.Contents+checks == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, countPrune, s.site); err != nil {
		return fmt.Errorf("count the prune: %w", err)
	}
	return nil
}

// sweepChecks deletes the outcomes of checks that no entry of a remaining revision tells of, and counts them.
func (s *Store) sweepChecks(ctx context.Context, tx pgx.Tx) (int, error) {
	rows, err := tx.Query(ctx, failedChecks, s.site)
	if err != nil {
		return 0, fmt.Errorf("find the checks to keep: %w", err)
	}
	var pair revisions.Pair
	var kept []validations.Pair
	_, err = pgx.ForEachRow(rows, []any{
		digestField{&pair.Content}, digestField{&pair.Rule.Schema}, digestField{&pair.Rule.Versions},
	}, func() error {
		kept = append(kept, pair.Name())
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("find the checks to keep: %w", err)
	}
	gone, err := tx.Exec(ctx, pruneChecks, s.site, byteas(kept))
	if err != nil {
		return 0, fmt.Errorf("prune checks: %w", err)
	}
	return int(gone.RowsAffected()), nil
}

// collectIn gathers single values in a transaction.
func collectIn[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err //nolint:wrapcheck // explained by the caller
	}
	return pgx.CollectRows(rows, pgx.RowTo[T]) //nolint:wrapcheck // explained by the caller
}
