package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
)

// Outdated implements revisions.Store.
func (s *Store) Outdated(ctx context.Context, prefix []byte, after document.Digest, limit int) (
	[]revisions.SealedContent, error,
) {
	return collect(ctx, s, func(row pgx.CollectableRow) (c revisions.SealedContent, err error) {
		var body []byte
		if err := row.Scan(intoDigest(&c.Digest), &body, &c.Sealed); err != nil {
			return c, fmt.Errorf("read a secret: %w", err)
		}
		if body, err = s.codec.unpack(body); err != nil {
			return c, err
		}
		if err := json.Unmarshal(body, &c.Reference); err != nil {
			return c, fmt.Errorf("read the reference to a secret: %w", err)
		}
		return c, nil
	}, stmt.OutdatedSecrets, named{"site": s.site, "prefix": prefix, "after": after[:], "limit": limit})
}

// Sealed implements revisions.Store.
func (s *Store) Sealed(ctx context.Context) (int, error) {
	return collectFirst(ctx, s, pgx.RowTo[int], stmt.CountSecrets, named{"site": s.site})
}

// Reseal implements revisions.Store.
func (s *Store) Reseal(ctx context.Context, content revisions.SealedContent, sealed []byte) error {
	_, err := s.exec(ctx, stmt.ResealContent, named{
		"site": s.site, "digest": content.Digest[:], "old": content.Sealed, "new": sealed,
	})
	return err
}

// ForgetSealed implements revisions.Store. It drops the live documents, which are rendered and checked. The cached
// buckets stay: their documents are only compared with new ones, and their secrets are never opened.
func (s *Store) ForgetSealed() { s.live.Remove(struct{}{}) }
