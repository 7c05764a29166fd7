package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"purser/internal/queries"
)

// Boundaries implements queries.Store.
func (s *Store) Boundaries(ctx context.Context, q queries.BoundaryQuery) (
	boundaries []queries.Boundary, cut bool, err error,
) {
	var found int // by the query, before its limit in bytes
	boundaries, err = collect(ctx, s, func(row pgx.CollectableRow) (e queries.Boundary, err error) {
		var at *time.Time
		first := []any{&found, &e.Revision, &at, &e.User, &e.Message, &e.Gone, &e.Follows}
		e.Version, err = scanPacked(prefixed(row, first...))
		e.At = utc(at)
		return e, err
	}, stmt.Boundaries, named{
		"site": s.site, "name": q.Document.Name, "schema": q.Document.Schema, "layer": q.Document.Layer,
		"cleartext": q.Cleartext, "offset": q.Offset, "limit": q.Limit, "max_bytes": q.MaxBytes,
	})
	size := 0
	for i, e := range boundaries {
		size += len(e.Version.Metadata) + unpackedSize(e.Version.Data, len(e.Version.Data))
		if i > 1 && size > q.MaxBytes {
			boundaries = boundaries[:i]
			break
		}
		if err := s.unpack(e.Version); err != nil {
			return nil, false, err
		}
	}
	return boundaries, len(boundaries) < found, err
}
