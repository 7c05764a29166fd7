package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
)

// The boundaries of a document. shown is the first remaining revision that has a version or a later state, gone the
// first one that does not have it any more: a version for which these are the same is in none. A version follows
// another if its shown is the other's gone. A boundary has the number of the revision that made it; if a version ended
// in a revision that was pruned together with its successors, the boundary has the first remaining one.
//
// Each version has a boundary, except those in no revision, and older versions have older ones. A page therefore needs
// only as many of the newest versions as it has boundaries up to its end, and the one before them. The versions are
// sorted at each level, so that revisions are looked up for these alone.
const (
	versionsOf = `WITH versions AS (
			SELECT d.id, d.since, d.until,
				(SELECT min(r.revision) FROM revisions r WHERE r.site = $1 AND r.revision >= d.since) AS shown,
				(SELECT min(r.revision) FROM revisions r WHERE r.site = $1 AND r.revision >= d.until) AS gone
			FROM (SELECT d.id, d.since, d.until FROM documents d
				WHERE d.site = $1 AND d.name = $2 AND d.schema = $3 AND d.layer = $4`
	boundariesOfVersions = ` ORDER BY d.since DESC OFFSET 0) d ORDER BY d.since DESC OFFSET 0),
		newest AS (
			SELECT id, since, until, shown, gone FROM versions WHERE shown IS DISTINCT FROM gone
			ORDER BY since DESC LIMIT $5::bigint + $6::bigint + 1),
		seen AS (
			SELECT id, since, until, shown, gone, lag(gone) OVER w AS before, lead(shown) OVER w AS after FROM newest
			WINDOW w AS (ORDER BY since)),
		boundaries AS (
			SELECT id, since AS revision, since AS cause, false AS ends, before IS NOT DISTINCT FROM shown AS follows FROM seen
			UNION ALL
			SELECT id, gone, until, true, false FROM seen WHERE gone IS DISTINCT FROM after
			ORDER BY revision DESC OFFSET $5 LIMIT $6)
		SELECT d.found, d.revision, r.created_at, coalesce(r.author, ''), coalesce(r.message, ''), d.ends, d.follows,
			` + documentColumns + `, d.body, NULL::bytea
		FROM (
			SELECT e.revision, e.cause, e.ends, e.follows, ` + documentColumns + `, c.body, count(*) OVER () AS found,
				row_number() OVER newest AS n,
				sum(octet_length(d.metadata) + octet_length(c.body)) OVER newest AS size
			FROM boundaries e
			CROSS JOIN LATERAL (` + selectVersion + ` FROM documents d WHERE d.site = $1 AND d.id = e.id OFFSET 0) d
			CROSS JOIN LATERAL (SELECT body FROM contents WHERE site = $1 AND digest = d.content OFFSET 0) c
			WINDOW newest AS (ORDER BY e.revision DESC)) d
		LEFT JOIN LATERAL (SELECT created_at, author, message FROM revisions
			WHERE site = $1 AND revision = d.cause OFFSET 0) r ON true
		WHERE d.n <= 2 OR d.size <= $7
		ORDER BY d.revision DESC`

	allBoundaries       = versionsOf + boundariesOfVersions
	cleartextBoundaries = versionsOf + ` AND NOT d.encrypted` + boundariesOfVersions
)

// Boundaries implements queries.Store.
func (s *Store) Boundaries(ctx context.Context, q queries.BoundaryQuery) (
	boundaries []queries.Boundary, cut bool, err error,
) {
	sql := allBoundaries
	if q.Cleartext {
		sql = cleartextBoundaries
	}
	var found int // by the query, before its limit in bytes
	boundaries, err = collect(ctx, s, func(row pgx.CollectableRow) (e queries.Boundary, err error) {
		var at *time.Time
		first := []any{&found, &e.Revision, &at, &e.User, &e.Message, &e.Gone, &e.Follows}
		e.Version, err = scanPacked(prefixed(row, first...))
		e.At = utc(at)
		return e, err
	}, sql, s.site, q.Document.Name, q.Document.Schema, q.Document.Layer, q.Offset, q.Limit, q.MaxBytes)
	size := 0
	for i, e := range boundaries {
		size += len(e.Version.Metadata) + unpackedSize(e.Version.Data, len(e.Version.Data))
		if i > 1 && size > q.MaxBytes {
			boundaries = boundaries[:i]
			break
		}
		if err := s.unpack(e.Version); err != nil {
			return nil, false, err
		}
	}
	return boundaries, len(boundaries) < found, err
}
