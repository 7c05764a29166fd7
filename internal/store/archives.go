package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
)

// checkArchives checks that the archives of the commit that should be stored still are: a prune may have deleted them.
func (a *appending) checkArchives(known map[document.Digest]revisions.Content) error {
	for content, archive := range a.commit.Archives {
		if archive == nil && !known[content].Archived {
			return revisions.ErrStaleSnapshot
		}
	}
	return nil
}

// queueArchives adds the archives of the commit.
func (a *appending) queueArchives(batch *pgx.Batch) {
	for content, archive := range a.commit.Archives {
		if archive != nil {
			batch.Queue(stmt.AddArchive, named{"site": a.store.site, "content": content[:], "body": archive})
		}
	}
}

// Archive implements queries.Store.
func (s *Store) Archive(ctx context.Context, content document.Digest) ([]byte, error) {
	return collectFirst(ctx, s, pgx.RowTo[[]byte], stmt.ArchiveOf, named{
		"site": s.site, "content": content[:],
	})
}
