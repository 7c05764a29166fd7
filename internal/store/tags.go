package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/revisions"
)

const (
	tagsOf = `SELECT tag, data FROM tags
		WHERE site = $1 AND revision = $2 AND ($3::text[] IS NULL OR tag = ANY($3)) ORDER BY tag`

	taggedRevision = `SELECT coalesce(max(revision), 0) FROM tags WHERE site = $1 AND tag = $2`

	// stamped selects a revision ($2) that has one of the stamps ($3), or any if these are null.
	stamped = ` FROM revisions r WHERE r.site = $1 AND r.revision = $2 AND ($3::bigint[] IS NULL OR r.stamp = ANY($3))`

	// upsertTag does nothing if the revision's other tags leave no room: they have $6 items or, with this one, $7 bytes.
	upsertTag = `INSERT INTO tags (site, revision, tag, data) SELECT r.site, r.revision, $4, $5` + stamped + `
		AND (SELECT count(*) < $6::bigint AND coalesce(sum(octet_length(t.tag) + octet_length(t.data)), 0) +
			octet_length($4::text) + octet_length($5::text) <= $7::bigint
			FROM tags t WHERE t.site = $1 AND t.revision = $2 AND t.tag <> $4)
		ON CONFLICT (site, revision, tag) DO UPDATE SET data = excluded.data`

	deleteTags = `DELETE FROM tags WHERE site = $1 AND revision = $2 AND ($4::text[] IS NULL OR tag = ANY($4))
		AND EXISTS (SELECT` + stamped + `)`
)

// Tags implements queries.Store.
func (s *Store) Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (tag revisions.Tag, err error) {
		err = row.Scan(&tag.Name, &tag.Data)
		return tag, err
	}, tagsOf, s.site, revision, names)
}

// Tagged implements queries.Store.
func (s *Store) Tagged(ctx context.Context, tag string) (int64, error) {
	return collectFirst(ctx, s, pgx.RowTo[int64], taggedRevision, s.site, tag)
}

// Tag implements revisions.Store.
func (s *Store) Tag(ctx context.Context, about revisions.About, tag revisions.Tag) (bool, error) {
	return s.writeTags(ctx, about, events.TagSet, upsertTag, tag.Name, string(tag.Data), revisions.MaxTags,
		revisions.MaxTagBytes)
}

// Untag implements revisions.Store.
func (s *Store) Untag(ctx context.Context, about revisions.About, names ...string) (bool, error) {
	return s.writeTags(ctx, about, events.TagDeleted, deleteTags, names)
}

// writeTags writes tags of a revision in a short transaction, adds an event of a type for each and records the write in
// the audit, in one transaction and one round trip. The statement begins with the site, the revision and its stamps as
// parameters. It reports whether the write changed anything; if not, there is no event and no audit entry.
func (s *Store) writeTags(ctx context.Context, about revisions.About, told events.Type, sql string, values ...any) (
	bool, error,
) {
	args := append([]any{s.site, about.Revision, about.Stamps}, values...)
	sql, args = withTags(sql, args, told, about.Audit)
	rows, err := s.exec(ctx, sql, args...)
	if HasCode(err, foreignKeyViolation) { // the revision is deleted meanwhile
		return false, nil
	}
	if rows > 0 {
		s.wake()
	}
	return rows > 0, err
}
