package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
)

const (
	latestRevision = `SELECT head FROM sites WHERE site = $1`

	revisionColumns = `r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message, coalesce(r.origin, 0),
		EXISTS (SELECT FROM failures f WHERE f.site = r.site AND f.revision = r.revision AND f.rule IS NOT NULL),
		r.client_versions, r.stamp`

	// revisionsWith selects revisions with their tags, after the time; a list of numbers and revisionsEnd follow.
	revisionsWith = `SELECT now(), ARRAY(
			SELECT t.tag FROM tags t WHERE t.site = r.site AND t.revision = r.revision ORDER BY t.tag), ` + revisionColumns + `
		FROM revisions r
		WHERE r.site = $1 AND r.revision = ANY(`
	revisionsEnd = `) ORDER BY r.revision`

	sameRevision = `SELECT revision FROM revisions WHERE site = $1 AND revision = $2 AND stamp = $3`

	aroundRevision = `SELECT ` + headColumns + `,
			(SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = $2),
			coalesce((SELECT max(revision) FROM revisions r WHERE r.site = s.site AND r.revision < $2), 0),
			coalesce((SELECT min(revision) FROM revisions r WHERE r.site = s.site AND r.revision > $2), 0)
		FROM sites s WHERE s.site = $1`
)

// number runs a query for one number.
func (s *Store) number(ctx context.Context, sql string, args ...any) (int64, error) {
	found, err := postgres.Collect(ctx, s.db, pgx.RowTo[int64], sql, args...)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Latest implements queries.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return s.number(ctx, latestRevision, s.site)
}

// Around implements revisions.Store and queries.Store.
func (s *Store) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	found, err := postgres.Collect(ctx, s.db, func(row pgx.CollectableRow) (n revisions.Neighbourhood, err error) {
		var stamp *revisions.Stamp
		err = row.Scan(append(headFields(&n.Head), &stamp, &n.Previous, &n.Next)...)
		if n.Exists = stamp != nil; n.Exists {
			n.Stamp = *stamp
		}
		return n, err //nolint:wrapcheck // explained by collect
	}, aroundRevision, s.site, revision)
	if err != nil || len(found) == 0 {
		return revisions.Neighbourhood{}, err
	}
	return found[0], nil
}

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	var kind string
	err = row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &kind, &r.User, &r.Message, &r.Origin, &r.Failed,
		postgres.IntoDigest(&r.ClientVersions), &r.Stamp)
	if err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.Kind, err = revisions.ParseKind(kind)
	return r, err
}

// List implements queries.Store.
func (s *Store) List(ctx context.Context, query queries.Query) (numbers []int64, purged *revisions.Purge, err error) {
	q := listed(s.site, query)
	_, err = s.db.Snapshot(ctx, func(questions *postgres.Questions) {
		questions.Ask(postgres.Into(&numbers, pgx.RowTo[int64]), q.sql.String(), q.args...)
		questions.Ask(postgres.First(&purged, scanPurge), lastPurge, s.site)
	})
	return numbers, purged, err
}

// listed returns the statement for the numbers of revisions.
func listed(site string, query queries.Query) *statement {
	q := &statement{}
	q.add("SELECT revision FROM revisions r WHERE site = ", q.arg(site))
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
		if key == queries.ByTime {
			column = "created_at"
		}
		q.add(column, direction, ", ")
	}
	q.add("revision")
	if len(query.Sort) == 0 {
		q.add(direction)
	}
	if query.Limit >= 0 { // not as an argument: a plan for any limit sorts all revisions
		q.add(" LIMIT ", strconv.Itoa(query.Limit))
	}
	q.add(" OFFSET ", q.arg(query.Offset))
	return q
}
