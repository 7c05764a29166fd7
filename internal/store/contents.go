package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
)

// Contents implements queries.Store.
func (s *Store) Contents(ctx context.Context, digests []document.Digest) (map[document.Digest][]byte, error) {
	return s.readContents(ctx, general, digests)
}

// readContents returns the texts of contents.
func (s *Store) readContents(ctx context.Context, use connections, digests []document.Digest) (
	texts map[document.Digest][]byte, err error,
) {
	if len(digests) == 0 {
		return map[document.Digest][]byte{}, nil
	}
	_, err = s.read(ctx, use, func(ctx context.Context, r *reading) error {
		rows, err := s.pool.Query(ctx, stmt.ContentsByDigest, named{"site": s.site, "digests": digestArray(digests)})
		if err == nil {
			texts, err = s.collectContents(r.rows(rows), len(digests))
		}
		return err
	})
	return texts, err
}

// contentsIn is readContents in a transaction.
func (s *Store) contentsIn(ctx context.Context, tx pgx.Tx, digests []document.Digest) (
	map[document.Digest][]byte, error,
) {
	rows, err := tx.Query(ctx, stmt.ContentsByDigest, named{"site": s.site, "digests": digestArray(digests)})
	if err != nil {
		return nil, err
	}
	return s.collectContents(rows, len(digests))
}

func (s *Store) collectContents(rows pgx.Rows, most int) (map[document.Digest][]byte, error) {
	texts := make(map[document.Digest][]byte, most)
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (digest document.Digest, err error) {
		var body []byte
		if err := row.Scan(intoDigest(&digest), &body); err != nil {
			return digest, fmt.Errorf("read a content: %w", err)
		}
		texts[digest], err = s.codec.unpack(body)
		return digest, err
	})
	return texts, err
}
