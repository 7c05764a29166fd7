package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
)

const (
	addArchive = `INSERT INTO archives (site, content, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`

	// archiveSize adds the size of the archive of content c.
	archiveSize = ` + coalesce(
			(SELECT pg_column_size(a.body) FROM archives a WHERE a.site = c.site AND a.content = c.digest), 0)`

	archiveOf = `SELECT body FROM archives WHERE site = $1 AND content = $2`
)

// checkArchives checks that the archives of the commit that should be stored still are: a prune may have deleted them.
func (a *appending) checkArchives(known map[document.Digest]revisions.Content) error {
	for content, archive := range a.commit.Archives {
		if archive == nil && !known[content].Archived {
			return revisions.ErrMoved
		}
	}
	return nil
}

// queueArchives adds the archives of the commit.
func (a *appending) queueArchives(batch *pgx.Batch) {
	for content, archive := range a.commit.Archives {
		if archive != nil {
			batch.Queue(addArchive, a.store.site, content[:], archive)
		}
	}
}

// Archive implements queries.Store.
func (s *Store) Archive(ctx context.Context, content document.Digest) ([]byte, error) {
	found, err := postgres.Collect(ctx, s.db, pgx.RowTo[[]byte], archiveOf, s.site, content[:])
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}
