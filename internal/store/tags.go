package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/revisions"
)

// Tags implements queries.Store.
func (s *Store) Tags(ctx context.Context, revision int64, names ...string) ([]revisions.Tag, error) {
	return collect(ctx, s.Database, pgx.RowToStructByPos[revisions.Tag], stmt.TagsOf, named{
		"site": s.site, "revision": revision, "names": names,
	})
}

// Tagged implements queries.Store.
func (s *Store) Tagged(ctx context.Context, tag string) (int64, error) {
	return collectFirst(ctx, s.Database, pgx.RowTo[int64], stmt.TaggedRevision, named{"site": s.site, "tag": tag})
}

// Tag implements revisions.Store.
func (s *Store) Tag(ctx context.Context, about revisions.About, tag revisions.Tag) (bool, error) {
	return s.writeTags(ctx, stmt.SetTag, about, named{
		"tag": tag.Name, "data": tag.Data, "max_tags": revisions.MaxTags, "max_bytes": revisions.MaxTagBytes,
	})
}

// Untag implements revisions.Store.
func (s *Store) Untag(ctx context.Context, about revisions.About, names ...string) (bool, error) {
	return s.writeTags(ctx, stmt.DeleteTags, about, named{"names": names})
}

// writeTags runs SetTag or DeleteTags with further arguments, in one round trip, and reports whether it changed
// anything; if not, there is no event and no audit entry.
func (s *Store) writeTags(ctx context.Context, sql string, about revisions.About, args named) (bool, error) {
	args["site"], args["revision"], args["stamps"] = s.site, about.Revision, about.Stamps
	args["audit"] = (*auditRecord)(about.Audit)
	rows, err := s.exec(ctx, sql, args)
	if HasCode(err, foreignKeyViolation) { // the revision is deleted meanwhile
		return false, nil
	}
	if rows > 0 {
		s.announce()
	}
	return rows > 0, err
}
