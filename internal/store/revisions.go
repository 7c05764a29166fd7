package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
	"purser/internal/revisions"
)

const (
	latestRevision = `SELECT head FROM sites WHERE site = $1`

	aroundRevision = `SELECT ` + headColumns + `,
			(SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = $2),
			coalesce((SELECT max(revision) FROM revisions r WHERE r.site = s.site AND r.revision < $2), 0),
			coalesce((SELECT min(revision) FROM revisions r WHERE r.site = s.site AND r.revision > $2), 0)
		FROM sites s WHERE s.site = $1`

	lastPurge = `SELECT purged_at, purged_by, purge_message FROM sites WHERE site = $1 AND purged_at IS NOT NULL`
)

// Latest implements queries.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return collectFirst(ctx, s, pgx.RowTo[int64], latestRevision, s.site)
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
	}, aroundRevision, s.site, revision)
}

// List implements queries.Store.
func (s *Store) List(ctx context.Context, query queries.Query) (numbers []int64, purged *revisions.Purge, err error) {
	q := listed(s.site, query)
	_, err = s.inSnapshot(ctx, general, func(questions *questions) {
		questions.ask(into(&numbers, pgx.RowTo[int64]), q.sql.String(), q.args...)
		questions.ask(first(&purged, scanPurge), lastPurge, s.site)
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

const (
	revisionColumns = `r.revision, r.created_at, r.buckets, r.entries, r.kind, r.author, r.message, coalesce(r.origin, 0),
		r.outside > 0 OR r.secret_fails
			OR EXISTS (SELECT FROM entries f WHERE f.site = r.site AND f.revision = r.revision AND f.rule IS NOT NULL),
		r.client_versions, r.stamp, r.secret_fails, r.secret_outside`

	// revisionNumbered selects a revision with its tags, after the time; its number follows.
	revisionNumbered = `SELECT now(), ARRAY(
			SELECT t.tag FROM tags t WHERE t.site = r.site AND t.revision = r.revision ORDER BY t.tag), ` + revisionColumns + `
		FROM revisions r
		WHERE r.site = $1 AND r.revision = `

	newestRevision = `SELECT ` + revisionColumns + ` FROM revisions r
		WHERE r.site = $1 AND r.revision = (SELECT head FROM sites WHERE site = $1)`
)

// askNewest asks for the newest revision, which stays zero if there is none, and for the policies in force in it.
func askNewest(q *questions, site string, newest *revisions.Revision, policies *[]policyRow) {
	q.ask(first(newest, scanRevision), newestRevision, site)
	q.ask(into(policies, scanPolicy), livePolicies+` ORDER BY d.place`, site)
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
