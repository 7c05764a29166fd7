package queries

import (
	"context"
	"fmt"

	"purser/internal/changes"
	"purser/internal/document"
	"purser/internal/rendering"
	"purser/internal/revisions"
)

// Explanation is the origin of the data of a rendered document. It refers to documents by their positions in Documents.
type Explanation struct {
	*rendering.Explanation

	Documents []*revisions.Stored // of the revision
}

// Explain returns the origin of the data of a document in a revision, at a path and below it; "." is all of the data.
// An identity without a layer means the rendered document of that name. Faults: NotFound, Gone; those of rendering.
func (v View) Explain(ctx context.Context, id int64, identity document.Identity, path string) (
	Explanation, error,
) {
	stamp, err := v.Stamp(ctx, id)
	if err != nil {
		return Explanation{}, err
	}
	key := explanationKey{
		changes.RenderKey{Site: v.renderer.Site, Revision: id, Stamp: stamp, Cleartext: !v.viewer.Secrets()}, identity, path,
	}
	explained, err := shareAnswer(ctx, v.Service, key, func(ctx context.Context) (Explanation, int, error) {
		documents, err := v.unrendered(ctx, key.RenderKey)
		if err != nil {
			return Explanation{}, 0, err
		}
		explained, err := v.renderer.Explain(ctx, documents, identity, path)
		return Explanation{explained, documents}, -1, err
	})
	if err != nil {
		return Explanation{}, fmt.Errorf("explain a document of revision %d: %w", id, err)
	}
	return explained, nil
}

// explanationKey identifies an explanation.
type explanationKey struct {
	changes.RenderKey

	identity document.Identity
	path     string
}
