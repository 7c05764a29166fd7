package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

// headFields returns the destinations of the columns of a site's counters.
func headFields(head *revisions.Head) []any {
	return []any{&head.Epoch, &head.Stamp, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live}
}

// has reports whether there is a revision with a number and a stamp.
func (s *Store) has(ctx context.Context, revision int64, stamp revisions.Stamp) (bool, error) {
	found, err := collect(ctx, s, pgx.RowTo[int64], stmt.HasRevision, named{
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
