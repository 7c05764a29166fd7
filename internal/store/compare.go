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

	stampsOf = `SELECT n, (SELECT r.stamp FROM revisions r WHERE r.site = $1 AND r.revision = n)
		FROM unnest($2::bigint[]) n WHERE n <> 0`
)

// The parts of a comparison of an older revision ($2) with a newer one ($3). At each node there is at most one version
// of an identity, so only rows that changed in between are read, however long the history. For OFFSET 0 see ofRevision.
const (
	// onlyOlder selects the closed versions at the older revision's nodes that ended before the newer one.
	onlyOlder = `SELECT ` + documentColumns + `, NULL::bytea, NULL::bytea FROM unnest($4::bigint[]) n CROSS JOIN LATERAL (
			` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = n AND d.until > $2
				AND d.until <= $3 AND d.since <= $2 OFFSET 0) d
		ORDER BY place`

	// onlyNewer selects the live versions added in between, and the closed ones at the newer revision's nodes after
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
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		c = revisions.Comparison{Target: after}
		q.askRow(headFields(&c.Head), readHead, s.site)
		askStamps(q, s.site, &c, before, after)
		q.ask(into(&c.Before, pgx.RowTo[string]), occupiedBuckets, s.site, before)
		q.ask(into(&c.After, pgx.RowTo[string]), occupiedBuckets, s.site, after)
		older, newer := min(before, after), max(before, after)
		fromOlder, fromNewer := nodesBetween(older, newer)
		gone, come := &c.Gone, &c.Come
		if before > after {
			gone, come = come, gone
		}
		q.ask(into(gone, s.scanDocument), onlyOlder, s.site, older, newer, fromOlder)
		q.ask(into(come, s.scanDocument), onlyNewer, s.site, older, newer, fromNewer)
	})
	return c, err
}

// The difference of the newest revision from the target of a rollback ($2), with the contents of restored documents and
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
)

// queueRollback reads the difference of the newest revision from a target.
func (s *Store) queueRollback(q *questions, c *revisions.Comparison, target int64) {
	c.Target = target
	before, after := ancestors(target)
	askStamps(q, s.site, c, target)
	q.ask(into(&c.Before, pgx.RowTo[string]), newestOccupied, s.site)
	q.ask(into(&c.After, pgx.RowTo[string]), occupiedBuckets, s.site, target)
	q.ask(into(&c.Come, s.scanDocument), onlyTarget, s.site, target, slices.Concat(before, after))
	q.ask(into(&c.Gone, s.scanDocument), onlyNewest, s.site, target)
}

// askStamps asks for the stamps of the revisions that are compared.
func askStamps(q *questions, site string, c *revisions.Comparison, numbers ...int64) {
	c.Stamps = map[int64]revisions.Stamp{}
	q.ask(func(rows pgx.Rows) error {
		var number int64
		var stamp *revisions.Stamp
		_, err := pgx.ForEachRow(rows, []any{&number, &stamp}, func() error {
			if stamp == nil {
				c.Missing = append(c.Missing, number)
			} else {
				c.Stamps[number] = *stamp
			}
			return nil
		})
		return err
	}, stampsOf, site, numbers)
}
