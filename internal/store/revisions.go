package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"purser/internal/queries"
	"purser/internal/revisions"
)

// Latest implements queries.Store.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	return collectFirst(ctx, s.Database, pgx.RowTo[int64], stmt.LatestRevision, named{"site": s.site})
}

// Around implements revisions.Store and queries.Store.
func (s *Store) Around(ctx context.Context, revision int64) (revisions.Neighbourhood, error) {
	return collectFirst(ctx, s.Database, func(row pgx.CollectableRow) (n revisions.Neighbourhood, err error) {
		var stamp *revisions.Stamp
		err = row.Scan(append(headFields(&n.Head), &stamp, (*zeronull.Text)(&n.AuthorID), &n.Previous, &n.Next)...)
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

// afterDigits is a character after all hexadecimal digits.
const afterDigits = "g"

// listed returns the statement for the numbers of revisions.
func listed(site string, query queries.Query) *statement {
	q := &statement{}
	q.add("SELECT revision FROM revisions r WHERE site = ", q.arg(site))
	if query.Tags != nil {
		q.add(" AND revision IN (SELECT t.revision FROM tags t WHERE t.site = ", q.arg(site), " AND t.tag = ANY(",
			q.arg(query.Tags), "))")
	}
	if commit := cmp.Or(query.Commit, query.Source.Commit()); commit != "" {
		// An array, because a join might read all revisions.
		q.add(" AND revision = ANY(ARRAY(SELECT c.revision FROM revisions c WHERE c.site = ", q.arg(site))
		if query.Commit != "" {
			q.add(" AND c.source_commit BETWEEN ", q.arg(commit), " AND ", q.arg(commit+afterDigits))
		} else {
			q.add(" AND c.source_commit = ", q.arg(commit), " AND c.source = ", q.arg(query.Source))
		}
		q.add("))")
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

func scanRevision(row pgx.CollectableRow) (r revisions.Revision, err error) {
	var kind string
	err = row.Scan(&r.ID, &r.CreatedAt, &r.Buckets, &r.Entries, &kind, &r.User, &r.Message, &r.Source, &r.Origin,
		&r.Failed, (*nullDigest)(&r.ClientVersions), &r.Stamp, &r.SecretFails, &r.SecretOutside, &r.Inapplicable,
		&r.Upstreams, (*nullDigest)(&r.Chain), (*nullDigest)(&r.ChainParts.Previous),
		(*nullDigest)(&r.ChainParts.Removed))
	if err != nil {
		return r, fmt.Errorf("read a revision: %w", err)
	}
	r.Kind, err = revisions.ParseKind(kind)
	return r, err
}

// headFields returns the destinations of the columns of a site's counters.
func headFields(head *revisions.Head) []any {
	return []any{&head.Epoch, &head.Stamp, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live, &head.Texts}
}

// has reports whether there is a revision with a number and a stamp.
func (s *Store) has(ctx context.Context, revision int64, stamp revisions.Stamp) (bool, error) {
	found, err := collect(ctx, s.Database, pgx.RowTo[int64], stmt.HasRevision, named{
		"site": s.site, "revision": revision, "stamp": stamp,
	})
	return len(found) > 0, err
}

// collectOf is collect for a query about a revision that was read before. Fault: NotFound if the revision has been
// deleted, or its number belongs to another one.
func collectOf[T any](ctx context.Context, s *Store, of revisions.Revision, scan pgx.RowToFunc[T], sql string,
	args named,
) (items []T, err error) {
	var found []int64
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.ask(into(&found, pgx.RowTo[int64]), stmt.HasRevision, named{
			"site": s.site, "revision": of.ID, "stamp": of.Stamp,
		})
		q.ask(into(&items, scan), sql, args)
	})
	if err == nil && len(found) == 0 {
		return nil, revisions.UnknownRevision(strconv.FormatInt(of.ID, 10))
	}
	return items, err
}

// Compare implements queries.Store.
func (s *Store) Compare(ctx context.Context, before, after int64) (c revisions.Comparison, err error) {
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		c = revisions.Comparison{Target: after}
		q.askRow(headFields(&c.Head), stmt.ReadHead, named{"site": s.site})
		askStamps(q, s.site, &c, before, after)
		q.ask(into(&c.Before, pgx.RowTo[string]), stmt.OccupiedBuckets, named{"site": s.site, "revision": before})
		q.ask(into(&c.After, pgx.RowTo[string]), stmt.OccupiedBuckets, named{"site": s.site, "revision": after})
		older, newer := min(before, after), max(before, after)
		fromOlder, fromNewer := nodesBetween(older, newer)
		removed, added := &c.Removed, &c.Added
		if before > after {
			removed, added = added, removed
		}
		q.ask(into(removed, s.scanDocument), stmt.OnlyOlder, named{
			"site": s.site, "older": older, "newer": newer, "nodes": fromOlder,
		})
		q.ask(into(added, s.scanDocument), stmt.OnlyNewer, named{
			"site": s.site, "older": older, "newer": newer, "nodes": fromNewer,
		})
	})
	return c, err
}

// queueRollback reads the difference of the newest revision from a target.
func (s *Store) queueRollback(q *questions, c *revisions.Comparison, target int64) {
	c.Target = target
	before, after := ancestors(target)
	askStamps(q, s.site, c, target)
	q.ask(first(&c.Upstreams, scanUpstreams), stmt.SourcesOf, named{"site": s.site, "revision": target})
	q.ask(into(&c.Before, pgx.RowTo[string]), stmt.NewestOccupied, named{"site": s.site})
	q.ask(into(&c.After, pgx.RowTo[string]), stmt.OccupiedBuckets, named{"site": s.site, "revision": target})
	q.ask(into(&c.Added, s.scanDocument), stmt.OnlyTarget, named{
		"site": s.site, "target": target, "nodes": slices.Concat(before, after),
	})
	q.ask(into(&c.Removed, s.scanDocument), stmt.OnlyNewest, named{"site": s.site, "target": target})
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
	}, stmt.StampsOf, named{"site": site, "revisions": numbers})
}
