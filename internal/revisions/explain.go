package revisions

import (
	"context"
	"fmt"

	"purser/internal/document"
	"purser/internal/rendering"
)

// Explanation tells where the data of a rendered document comes from. Its documents are positions in Documents.
type Explanation struct {
	*rendering.Explanation

	Documents []*Stored // of the revision
}

// Explain tells where the data of one document of a revision comes from, or what of it is at a path and below it; "."
// is all. A document that identity names without a layer is the one that services read; cleartext leaves encrypted ones
// out. Faults: NotFound, Gone; those
// of rendering.
func (s *Service) Explain(ctx context.Context, id int64, identity document.Identity, path string, cleartext bool) (
	Explanation, error,
) {
	documents, _, err := s.unrendered(ctx, id, cleartext)
	if err != nil {
		return Explanation{}, err
	}
	resolve, failed, err := s.resolver(ctx, documents)
	if err != nil {
		return Explanation{}, err
	}
	explained, err := rendering.Explain(ctx, contentsOf(documents), identity, path, rendering.Options{Resolve: resolve})
	if failure := failed(); failure != nil {
		err = failure
	}
	if err != nil {
		return Explanation{}, fmt.Errorf("explain a document of revision %d: %w", id, err)
	}
	return Explanation{explained, documents}, nil
}
