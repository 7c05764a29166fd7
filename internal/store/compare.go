package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

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
