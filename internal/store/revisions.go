package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
	"purser/internal/store/site"
)

const (
	latestRevision = `SELECT head FROM sites WHERE site = $1`

	aroundRevision = `SELECT ` + site.HeadColumns + `,
			(SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = $2),
			coalesce((SELECT max(revision) FROM revisions r WHERE r.site = s.site AND r.revision < $2), 0),
			coalesce((SELECT min(revision) FROM revisions r WHERE r.site = s.site AND r.revision > $2), 0)
		FROM sites s WHERE s.site = $1`

	lastPurge = `SELECT purged_at, purged_by, purge_message FROM sites WHERE site = $1 AND purged_at IS NOT NULL`
)

// Latest implements queries.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return postgres.CollectFirst(ctx, s.site.DB, pgx.RowTo[int64], latestRevision, s.site.Name)
}

// Around implements revisions.Store and queries.Store.
func (s *Store) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	return postgres.CollectFirst(ctx, s.site.DB, func(row pgx.CollectableRow) (n revisions.Neighbourhood, err error) {
		var stamp *revisions.Stamp
		err = row.Scan(append(site.HeadFields(&n.Head), &stamp, &n.Previous, &n.Next)...)
		if n.Exists = stamp != nil; n.Exists {
			n.Stamp = *stamp
		}
		return n, err //nolint:wrapcheck // explained by collect
	}, aroundRevision, s.site.Name, revision)
}

// List implements queries.Store.
func (s *Store) List(ctx context.Context, query queries.Query) (numbers []int64, purged *revisions.Purge, err error) {
	q := listed(s.site.Name, query)
	_, err = s.site.Snapshot(ctx, func(questions *postgres.Questions) {
		questions.Ask(postgres.Into(&numbers, pgx.RowTo[int64]), q.sql.String(), q.args...)
		questions.Ask(postgres.First(&purged, scanPurge), lastPurge, s.site.Name)
	})
	return numbers, purged, err
}

func scanPurge(row pgx.CollectableRow) (p *revisions.Purge, err error) {
	p = &revisions.Purge{}
	err = row.Scan(&p.At, &p.User, &p.Message)
	return p, err //nolint:wrapcheck // explained by the caller
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
