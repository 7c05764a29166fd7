package evidence

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/events"
	"purser/internal/revisions"
	"purser/internal/store/journal"
	"purser/internal/store/postgres"
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
func (s *Source) Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	return postgres.Collect(ctx, s.site.DB, func(row pgx.CollectableRow) (tag revisions.Tag, err error) {
		err = row.Scan(&tag.Name, &tag.Data)
		return tag, err //nolint:wrapcheck // explained by collect
	}, tagsOf, s.site.Name, revision, names)
}

// Tagged implements queries.Store.
func (s *Source) Tagged(ctx context.Context, tag string) (int64, error) {
	return postgres.CollectFirst(ctx, s.site.DB, pgx.RowTo[int64], taggedRevision, s.site.Name, tag)
}

// Tag implements revisions.Store.
func (s *Source) Tag(ctx context.Context, about revisions.About, tag revisions.Tag) (bool, error) {
	return s.writeTags(ctx, about, events.TagSet, upsertTag, tag.Name, string(tag.Data), revisions.MaxTags,
		revisions.MaxTagBytes)
}

// Untag implements revisions.Store.
func (s *Source) Untag(ctx context.Context, about revisions.About, names ...string) (bool, error) {
	return s.writeTags(ctx, about, events.TagDeleted, deleteTags, names)
}

// writeTags writes tags of a revision in a short transaction, adds an event of a type for each and records the write in
// the audit, in one transaction and one round trip. The statement begins with the site, the revision and its stamps as
// parameters. It reports whether the write changed anything; if not, there is no event and no audit entry.
func (s *Source) writeTags(ctx context.Context, about revisions.About, told events.Type, sql string, values ...any) (
	done bool, err error,
) {
	args := append([]any{s.site.Name, about.Revision, about.Stamps}, values...)
	sql, args = journal.WithTags(sql, args, told, about.Audit)
	err = s.site.Retry(ctx, s.site.Deadlines.Write, func(ctx context.Context) error {
		tag, err := s.site.Pool.Exec(ctx, sql, args...)
		done = tag.RowsAffected() > 0
		return err //nolint:wrapcheck // explained by retry
	})
	if postgres.HasCode(err, postgres.ForeignKeyViolation) { // the revision is deleted meanwhile
		return false, nil
	}
	if done {
		s.journal.Wake()
	}
	return done, err
}
