package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	latestRevision = `SELECT head FROM sites WHERE site = $1`

	siteEpoch = `SELECT epoch FROM sites WHERE site = $1`

	revisionsByNumber = `SELECT r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message,
			coalesce(r.origin, 0), EXISTS (
			SELECT FROM failures f WHERE f.site = r.site AND f.revision = r.revision AND f.rule IS NOT NULL)
		FROM revisions r WHERE r.site = $1 AND r.revision = ANY($2) ORDER BY r.revision`

	aroundRevision = `SELECT epoch, prunes, head, documents, live,
			EXISTS (SELECT FROM revisions r WHERE r.site = s.site AND r.revision = $2),
			coalesce((SELECT max(revision) FROM revisions r WHERE r.site = s.site AND r.revision < $2), 0),
			coalesce((SELECT min(revision) FROM revisions r WHERE r.site = s.site AND r.revision > $2), 0)
		FROM sites s WHERE s.site = $1`
)

// number runs a query for one number.
func (s *Store) number(ctx context.Context, sql string, args ...any) (int64, error) {
	found, err := collect(ctx, s, pgx.RowTo[int64], sql, args...)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Latest implements revisions.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return s.number(ctx, latestRevision, s.site)
}

// Around implements revisions.Store.
func (s *Store) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (n revisions.Neighbourhood, err error) {
		err = row.Scan(append(headFields(&n.Head), &n.Exists, &n.Previous, &n.Next)...)
		return n, err //nolint:wrapcheck // explained by collect
	}, aroundRevision, s.site, revision)
	if err != nil || len(found) == 0 {
		return revisions.Neighbourhood{}, err
	}
	return found[0], nil
}

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	var kind string
	err = row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &kind, &r.User, &r.Message, &r.Origin, &r.Failed)
	if err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.Kind, err = revisions.ParseKind(kind)
	return r, err //nolint:wrapcheck // says what is wrong
}

// List implements revisions.Store.
func (s *Store) List(ctx context.Context, query revisions.Query) ([]int64, error) {
	q := &statement{}
	q.add("SELECT revision FROM revisions r WHERE site = ", q.arg(s.site))
	if query.Tags != nil {
		q.add(" AND revision IN (SELECT t.revision FROM tags t WHERE t.site = r.site AND t.tag = ANY(",
			q.arg(query.Tags), "))")
	}
	direction := ""
	if query.Backwards {
		direction = " DESC"
	}
	q.add(" ORDER BY ")
	for _, key := range query.Sort {
		column := "revision"
		if key == revisions.ByTime {
			column = "created_at"
		}
		q.add(column, direction, ", ")
	}
	q.add("revision")
	if len(query.Sort) == 0 {
		q.add(direction)
	}
	if query.Limit >= 0 {
		q.add(" LIMIT ", q.arg(query.Limit))
	}
	q.add(" OFFSET ", q.arg(query.Offset))
	return collect(ctx, s, pgx.RowTo[int64], q.sql.String(), q.args...)
}

const (
	occupiedBuckets = `SELECT bucket FROM occupancies
		WHERE site = $1 AND since <= $2 AND (until IS NULL OR until > $2) ORDER BY bucket`

	existingOf = `SELECT revision FROM revisions WHERE site = $1 AND revision = ANY($2)`
)

// Occupied implements revisions.Store.
func (s *Store) Occupied(ctx context.Context, revision int64) ([]string, error) {
	return collect(ctx, s, pgx.RowTo[string], occupiedBuckets, s.site, revision)
}

// The parts of a comparison of an older revision ($2) with a newer one ($3). At each node there is at most one version
// of an identity, so what is looked at is what changed in between, whatever the history.
const (
	// onlyOlder takes the closed versions that hang at the older revision's nodes before the newer one.
	onlyOlder = `SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = ANY($4) AND d.until > $2 AND d.until <= $3 AND d.since <= $2
		ORDER BY d.place`

	// onlyNewer takes the live versions that came in between, and the closed ones at the newer revision's nodes after the
	// older one.
	onlyNewer = `SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		JOIN buckets b ON b.site = d.site AND b.bucket = d.bucket AND b.changed > $2
		WHERE d.site = $1 AND d.until IS NULL AND d.since > $2 AND d.since <= $3
		UNION ALL
		SELECT ` + documentColumns + `, NULL::bytea FROM documents d
		WHERE d.site = $1 AND d.until IS NOT NULL AND d.fork = ANY($4) AND d.since > $2 AND d.since <= $3 AND d.until > $3
		ORDER BY place`
)

// Compare implements revisions.Store.
func (s *Store) Compare(ctx context.Context, before, after int64) (revisions.Comparison, error) {
	var c revisions.Comparison
	older, newer := min(before, after), max(before, after)
	fromOlder, fromNewer := nodesBetween(older, newer)
	existing := map[int64]bool{0: true}
	err := s.snapshot(ctx, func(batch *pgx.Batch) {
		documents := func(into *[]*revisions.Stored) func(pgx.Rows) error {
			return func(rows pgx.Rows) (err error) {
				*into, err = pgx.CollectRows(rows, s.scanDocument)
				return err //nolint:wrapcheck // explained by snapshot
			}
		}
		names := func(into *[]string) func(pgx.Rows) error {
			return func(rows pgx.Rows) (err error) {
				*into, err = pgx.CollectRows(rows, pgx.RowTo[string])
				return err //nolint:wrapcheck // explained by snapshot
			}
		}
		batch.Queue(headState, s.site).QueryRow(func(row pgx.Row) error { return row.Scan(headFields(&c.Head)...) })
		batch.Queue(existingOf, s.site, []int64{before, after}).Query(func(rows pgx.Rows) error {
			var revision int64
			_, err := pgx.ForEachRow(rows, []any{&revision}, func() error { existing[revision] = true; return nil })
			return err //nolint:wrapcheck // explained by snapshot
		})
		batch.Queue(occupiedBuckets, s.site, before).Query(names(&c.Before))
		batch.Queue(occupiedBuckets, s.site, after).Query(names(&c.After))
		batch.Queue(onlyOlder, s.site, older, newer, fromOlder).Query(documents(&c.Gone))
		batch.Queue(onlyNewer, s.site, older, newer, fromNewer).Query(documents(&c.Come))
	})
	if before > after {
		c.Gone, c.Come = c.Come, c.Gone
	}
	for _, revision := range []int64{before, after} {
		if !existing[revision] {
			c.Missing = append(c.Missing, revision)
		}
	}
	return c, err
}

// The tables that Purge empties.
var purge = []string{
	`DELETE FROM tags WHERE site = $1`,
	`DELETE FROM results WHERE site = $1`,
	`DELETE FROM reported WHERE site = $1`,
	`DELETE FROM failures WHERE site = $1`,
	`DELETE FROM checks WHERE site = $1`,
	`DELETE FROM documents WHERE site = $1`,
	`DELETE FROM contents WHERE site = $1`,
	`DELETE FROM buckets WHERE site = $1`,
	`DELETE FROM occupancies WHERE site = $1`,
	`DELETE FROM revisions WHERE site = $1`,
}

const (
	lockSite = headState + ` FOR UPDATE`

	resetSite = `UPDATE sites SET epoch = epoch + 1, head = 0, documents = 0, live = 0, purged_at = $2, purged_by = $3,
		purge_message = $4 WHERE site = $1`

	lastPurge = `SELECT purged_at, purged_by, purge_message FROM sites WHERE site = $1 AND purged_at IS NOT NULL`
)

// Purge implements revisions.Store.
func (s *Store) Purge(ctx context.Context, p revisions.Purge, expected revisions.Expected) error {
	return s.retry(ctx, func() error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var head revisions.Head
			if err := tx.QueryRow(ctx, lockSite, s.site).Scan(headFields(&head)...); err != nil {
				return err //nolint:wrapcheck // explained by the caller
			}
			if err := expected.Check(head); err != nil {
				return err //nolint:wrapcheck // a fault, as it is
			}
			batch := &pgx.Batch{}
			batch.Queue(resetSite, s.site, p.At, p.User, p.Message)
			for _, statement := range purge {
				batch.Queue(statement, s.site)
			}
			return tx.SendBatch(ctx, batch).Close()
		})
	})
}

// Purged implements revisions.Store.
func (s *Store) Purged(ctx context.Context) (*revisions.Purge, error) {
	found, err := collect(ctx, s, func(row pgx.CollectableRow) (p revisions.Purge, err error) {
		err = row.Scan(&p.At, &p.User, &p.Message)
		return p, err //nolint:wrapcheck // explained by collect
	}, lastPurge, s.site)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
