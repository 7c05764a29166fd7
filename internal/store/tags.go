package store

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"purser/internal/revisions"
)

const (
	tagNames = `SELECT revision, tag FROM tags WHERE site = $1 AND revision = ANY($2) ORDER BY revision, tag`

	tagsOf = `SELECT tag, data FROM tags
		WHERE site = $1 AND revision = $2 AND ($3::text[] IS NULL OR tag = ANY($3)) ORDER BY tag`

	taggedRevision = `SELECT coalesce(max(revision), 0) FROM tags WHERE site = $1 AND tag = $2`

	upsertTag = `INSERT INTO tags (site, revision, tag, data) VALUES ($1, $2, $3, $4)
		ON CONFLICT (site, revision, tag) DO UPDATE SET data = excluded.data`

	deleteTags = `DELETE FROM tags WHERE site = $1 AND revision = $2 AND ($3::text[] IS NULL OR tag = ANY($3))`
)

// Tags implements queries.Store.
func (s *Store) Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	return collect(ctx, s, func(row pgx.CollectableRow) (tag revisions.Tag, err error) {
		err = row.Scan(&tag.Name, &tag.Data)
		return tag, err //nolint:wrapcheck // explained by collect
	}, tagsOf, s.site, revision, names)
}

// Tagged implements queries.Store.
func (s *Store) Tagged(ctx context.Context, tag string) (int64, error) {
	return s.number(ctx, taggedRevision, s.site, tag)
}

// Tag implements revisions.Store.
func (s *Store) Tag(ctx context.Context, revision int64, tag revisions.Tag) error {
	err := s.retry(ctx, s.deadlines.Write, func(ctx context.Context) error {
		_, err := s.pool.Exec(ctx, upsertTag, s.site, revision, tag.Name, string(tag.Data))
		return err //nolint:wrapcheck // explained by the caller
	})
	if hasCode(err, foreignKeyViolation) {
		return revisions.UnknownRevision(strconv.FormatInt(revision, 10))
	}
	return err
}

// Untag implements revisions.Store.
func (s *Store) Untag(ctx context.Context, revision int64, names ...string) (had int, err error) {
	err = s.retry(ctx, s.deadlines.Write, func(ctx context.Context) error {
		var tag pgconn.CommandTag
		tag, err := s.pool.Exec(ctx, deleteTags, s.site, revision, names)
		had = int(tag.RowsAffected())
		return err //nolint:wrapcheck // explained by the caller
	})
	return had, err
}

func scanTagNames(rows pgx.Rows, tags map[int64][]string) error {
	var revision int64
	var name string
	_, err := pgx.ForEachRow(rows, []any{&revision, &name}, func() error {
		tags[revision] = append(tags[revision], name)
		return nil
	})
	return err //nolint:wrapcheck // explained by the caller
}
