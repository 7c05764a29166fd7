package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"purser/internal/document"
	"purser/internal/revisions"
)

// VersionsDigest implements queries.Store.
func (s *Store) VersionsDigest(ctx context.Context, revision int64) (digest document.Digest, err error) {
	err = s.within(ctx, s.deadlines.Append, func(ctx context.Context) error {
		return s.withConn(ctx, general, func(ctx context.Context) error {
			digest, err = s.versionsDigest(ctx, s.pool, revision)
			return err
		})
	})
	return digest, err
}

// querier is a connection or a pool of them.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// versionsDigest returns the digest of all documents of a revision. It keeps none of them.
func (s *Store) versionsDigest(ctx context.Context, conn querier, revision int64) (digest document.Digest, err error) {
	rows, err := conn.Query(ctx, stmt.VersionsAt, named{"site": s.site, "revision": revision})
	if err != nil {
		return digest, fmt.Errorf("read all documents: %w", err)
	}
	defer rows.Close()
	digest = revisions.VersionsDigest(func(yield func(*revisions.Stored) bool) {
		for rows.Next() {
			doc := &revisions.Stored{Document: &document.Document{}}
			err = rows.Scan(&doc.Schema, &doc.Name, &doc.Layer, &doc.Bucket, &doc.Metadata, (*nullDigest)(&doc.Digest))
			if err != nil || !yield(doc) {
				return
			}
		}
	})
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		return digest, fmt.Errorf("read all documents: %w", err)
	}
	return digest, nil
}
