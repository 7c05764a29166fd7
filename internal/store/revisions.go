package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// Latest implements queries.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return collectFirst(ctx, s, pgx.RowTo[int64], stmt.LatestRevision, named{"site": s.site})
}

// Around implements revisions.Store and queries.Store.
func (s *Store) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	return collectFirst(ctx, s, func(row pgx.CollectableRow) (n revisions.Neighbourhood, err error) {
		var stamp *revisions.Stamp
		err = row.Scan(append(headFields(&n.Head), &stamp, &n.Previous, &n.Next)...)
		if n.Exists = stamp != nil; n.Exists {
			n.Stamp = *stamp
		}
		return n, err
	}, stmt.HeadAround, named{"site": s.site, "revision": revision})
}

// List implements queries.Store.
func (s *Store) List(ctx context.Context, query queries.Query) (numbers []int64, purged *revisions.Purge, err error) {
	q := listed(s.site, query)
	_, err = s.inSnapshot(ctx, general, func(questions *questions) {
		questions.ask(into(&numbers, pgx.RowTo[int64]), q.sql.String(), q.args...)
		questions.ask(first(&purged, scanPurge), stmt.LastPurge, named{"site": s.site})
	})
	return numbers, purged, err
}

func scanPurge(row pgx.CollectableRow) (p *revisions.Purge, err error) {
	p = &revisions.Purge{}
	err = row.Scan(&p.At, &p.User, &p.Message)
	return p, err
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

// askNewest asks for the newest revision, which stays zero if there is none, and for the policies in force in it.
func askNewest(q *questions, site string, newest *revisions.Revision, policies *[]policyRow) {
	q.ask(first(newest, scanRevision), stmt.NewestRevision, named{"site": site})
	q.ask(into(policies, scanPolicy), stmt.LivePolicies, named{"site": site})
}

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	var kind string
	err = row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &kind, &r.User, &r.Message, &r.Origin, &r.Failed,
		intoDigest(&r.ClientVersions), &r.Stamp, &r.SecretFails, &r.SecretOutside)
	if err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.CreatedAt = r.CreatedAt.UTC()
	r.Kind, err = revisions.ParseKind(kind)
	return r, err
}
