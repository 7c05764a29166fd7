package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	occupiedBuckets = `SELECT bucket FROM occupancies
		WHERE site = $1 AND since <= $2 AND (until IS NULL OR until > $2) ORDER BY bucket`

	missingOf = `SELECT n FROM unnest($2::bigint[]) n WHERE n <> 0
		AND (SELECT true FROM revisions r WHERE r.site = $1 AND r.revision = n) IS NULL`
)

// The parts of a comparison of an older revision ($2) with a newer one ($3). At each node there is at most one version
// of an identity, so what is looked at is what changed in between, whatever the history. For OFFSET 0 see ofRevision.
const (
	// onlyOlder takes the closed versions that hang at the older revision's nodes before the newer one.
	onlyOlder = `SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM unnest($4::bigint[]) n CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = n AND d.until > $2
				AND d.until <= $3 AND d.since <= $2 OFFSET 0) d
		ORDER BY place`

	// onlyNewer takes the live versions that came in between, and the closed ones at the newer revision's nodes after
	// the older one; at the newest revision all are live.
	onlyNewer = `SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM buckets b CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.bucket = b.bucket AND d.until IS NULL AND d.since > $2
				AND d.since <= $3 OFFSET 0) d
		WHERE b.site = $1 AND b.changed > $2
		UNION ALL
		SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM unnest($4::bigint[]) n CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = n AND d.since > $2
				AND d.since <= $3 AND d.until > $3 OFFSET 0) d
		WHERE $3 < (SELECT head FROM sites WHERE site = $1)
		ORDER BY place`
)

// Compare implements queries.Store.
func (s *Store) Compare(ctx context.Context, before, after int64) (c revisions.Comparison, err error) {
	err = s.snapshot(ctx, func(batch *pgx.Batch) {
		c = revisions.Comparison{Target: after}
		batch.Queue(headState, s.site).QueryRow(func(row pgx.Row) error { return row.Scan(headFields(&c.Head)...) })
		batch.Queue(missingOf, s.site, []int64{before, after}).Query(into(&c.Missing, pgx.RowTo[int64]))
		batch.Queue(occupiedBuckets, s.site, before).Query(into(&c.Before, pgx.RowTo[string]))
		batch.Queue(occupiedBuckets, s.site, after).Query(into(&c.After, pgx.RowTo[string]))
		older, newer := min(before, after), max(before, after)
		fromOlder, fromNewer := nodesBetween(older, newer)
		gone, come := &c.Gone, &c.Come
		if before > after {
			gone, come = come, gone
		}
		batch.Queue(onlyOlder, s.site, older, newer, fromOlder).Query(into(gone, s.scanDocument))
		batch.Queue(onlyNewer, s.site, older, newer, fromNewer).Query(into(come, s.scanDocument))
	})
	return c, err
}

// The difference of the newest revision from the target of a rollback ($2), with the contents of what is restored, and
// of DataSchemas. All versions of the newest revision are live.
const (
	onlyTarget = `SELECT ` + documentColumns + `, c.body, c.sealed FROM unnest($3::bigint[]) n CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = n AND d.until > $2
				AND d.since <= $2 OFFSET 0) d
		JOIN contents c ON c.site = $1 AND c.digest = d.content ORDER BY place`

	onlyNewest = `SELECT ` + documentColumns + `,
			CASE WHEN d.schema = 'deckhand/DataSchema/v1' THEN c.body END, NULL::bytea
		FROM buckets b CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.bucket = b.bucket AND d.until IS NULL
				AND d.since > $2 OFFSET 0) d
		JOIN contents c ON c.site = $1 AND c.digest = d.content
		WHERE b.site = $1 AND b.changed > $2 ORDER BY place`

	targetMissing = `SELECT $2::bigint WHERE $2 <> 0
		AND (SELECT true FROM revisions r WHERE r.site = $1 AND r.revision = $2) IS NULL`
)

// queueRollback reads the difference of the newest revision from a target.
func (s *Store) queueRollback(batch *pgx.Batch, c *revisions.Comparison, target int64) {
	c.Target = target
	before, after := ancestors(target)
	batch.Queue(targetMissing, s.site, target).Query(into(&c.Missing, pgx.RowTo[int64]))
	batch.Queue(newestOccupied, s.site).Query(into(&c.Before, pgx.RowTo[string]))
	batch.Queue(occupiedBuckets, s.site, target).Query(into(&c.After, pgx.RowTo[string]))
	batch.Queue(onlyTarget, s.site, target, slices.Concat(before, after)).Query(into(&c.Come, s.scanDocument))
	batch.Queue(onlyNewest, s.site, target).Query(into(&c.Gone, s.scanDocument))
}

// into gathers the rows of a query of a batch.
func into[T any](list *[]T, scan pgx.RowToFunc[T]) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*list, err = pgx.CollectRows(rows, scan)
		return err //nolint:wrapcheck // explained by snapshot
	}
}
