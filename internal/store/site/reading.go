package site

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
	"purser/internal/store/postgres"
)

const sameRevision = `SELECT revision FROM revisions WHERE site = $1 AND revision = $2 AND stamp = $3`

// Has reports whether there is a revision with a number and a stamp.
func (s *Site) Has(ctx context.Context, revision int64, stamp revisions.Stamp) (bool, error) {
	found, err := postgres.Collect(ctx, s.DB, pgx.RowTo[int64], sameRevision, s.Name, revision, stamp)
	return len(found) > 0, err
}

// CollectOf is postgres.Collect for a query about a revision that was read before; the site and its number are the
// first arguments. Fault: NotFound if the revision has been deleted, or its number belongs to another one.
func CollectOf[T any](ctx context.Context, s *Site, of revisions.Revision, scan pgx.RowToFunc[T], sql string,
	args ...any,
) (items []T, err error) {
	var found []int64
	_, err = s.Snapshot(ctx, func(q *postgres.Questions) {
		q.Ask(postgres.Into(&found, pgx.RowTo[int64]), sameRevision, s.Name, of.ID, of.Stamp)
		q.Ask(postgres.Into(&items, scan), sql, append([]any{s.Name, of.ID}, args...)...)
	})
	if err == nil && len(found) == 0 {
		return nil, revisions.UnknownRevision(strconv.FormatInt(of.ID, 10))
	}
	return items, err
}

const contentsByDigest = `SELECT digest, body FROM contents WHERE site = $1 AND digest = ANY($2)`

// Contents returns the texts of contents. read is a method of the database, such as ReadFirst.
func (s *Site) Contents(ctx context.Context,
	read func(ctx context.Context, do func(context.Context, *postgres.Reading) error) error, digests []document.Digest,
) (texts map[document.Digest][]byte, err error) {
	err = read(ctx, func(ctx context.Context, r *postgres.Reading) error {
		rows, err := s.Pool.Query(ctx, contentsByDigest, s.Name, postgres.Digests(digests))
		if err == nil {
			texts, err = s.collectContents(r.Rows(rows), len(digests))
		}
		return err
	})
	return texts, err
}

// ContentsIn is Contents in a transaction.
func (s *Site) ContentsIn(ctx context.Context, tx pgx.Tx, digests []document.Digest) (
	map[document.Digest][]byte, error,
) {
	rows, err := tx.Query(ctx, contentsByDigest, s.Name, postgres.Digests(digests))
	if err != nil {
		return nil, err //nolint:wrapcheck // explained by the caller
	}
	return s.collectContents(rows, len(digests))
}

func (s *Site) collectContents(rows pgx.Rows, most int) (map[document.Digest][]byte, error) {
	texts := make(map[document.Digest][]byte, most)
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (digest document.Digest, err error) {
		var body []byte
		if err := row.Scan(postgres.IntoDigest(&digest), &body); err != nil {
			return digest, fmt.Errorf("read a content: %w", err)
		}
		texts[digest], err = s.Codec.Unpack(body)
		return digest, err
	})
	return texts, err //nolint:wrapcheck // explained by the callers
}
