package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

const (
	// headColumns are the counters of a site s.
	headColumns = `s.epoch, s.stamp, s.prunes, s.head, s.documents, s.live`

	// readHead reads the counters.
	readHead = `SELECT ` + headColumns + ` FROM sites s WHERE s.site = $1`

	// lockHead is the first statement, so that no two transactions that change the site wait for each other's rows.
	lockHead = readHead + ` FOR UPDATE`

	// lockBase is lockHead, with the stamp of the revision $2, 0 if it does not exist, and the version of the schema.
	lockBase = `SELECT ` + headColumns + `, coalesce(
			(SELECT r.stamp FROM revisions r WHERE r.site = s.site AND r.revision = $2), 0),
			(` + schemaVersion + `)
		FROM sites s WHERE s.site = $1 FOR UPDATE`
)

// headFields returns the destinations of a row of headColumns.
func headFields(head *revisions.Head) []any {
	return []any{&head.Epoch, &head.Stamp, &head.Prunes, &head.Revision, &head.LastDocument, &head.Live}
}

const sameRevision = `SELECT revision FROM revisions WHERE site = $1 AND revision = $2 AND stamp = $3`

// has reports whether there is a revision with a number and a stamp.
func (s *Store) has(ctx context.Context, revision int64, stamp revisions.Stamp) (bool, error) {
	found, err := collect(ctx, s, pgx.RowTo[int64], sameRevision, s.site, revision, stamp)
	return len(found) > 0, err
}

// collectOf is collect for a query about a revision that was read before; the site and its number are the first
// arguments. Fault: NotFound if the revision has been deleted, or its number belongs to another one.
func collectOf[T any](ctx context.Context, s *Store, of revisions.Revision, scan pgx.RowToFunc[T], sql string,
	args ...any,
) (items []T, err error) {
	var found []int64
	_, err = s.inSnapshot(ctx, general, func(q *questions) {
		q.ask(into(&found, pgx.RowTo[int64]), sameRevision, s.site, of.ID, of.Stamp)
		q.ask(into(&items, scan), sql, append([]any{s.site, of.ID}, args...)...)
	})
	if err == nil && len(found) == 0 {
		return nil, revisions.UnknownRevision(strconv.FormatInt(of.ID, 10))
	}
	return items, err
}
