package web

import (
	"context"
	"net/url"

	"purser/internal/wire"
)

// maxLeaves is the maximum number of values that a page explains.
const maxLeaves = 200

// explained requests the origin of each value of the rendered document.
func (v *visit) explained(ctx context.Context, revision string, page *documentView) error {
	page.More = newPager(v.URL, maxLeaves)
	query := v.secrets(url.Values{"schema": {page.ID.Schema}, "name": {page.ID.Name}})
	if page.ID.Layer != "" {
		query.Set("layer", string(page.ID.Layer))
	}
	var found wire.Explanation
	err := v.api.Get(ctx, &found, query, "revisions", revision, "rendered-documents", "explain")
	if err != nil && dropExpected(err) == nil {
		page.Why = "This document cannot be explained: " + err.Error()
		return nil
	}
	page.Parents = found.Parents
	from := min(page.More.Offset, len(found.Leaves))
	end := min(from+maxLeaves, len(found.Leaves))
	page.Leaves = found.Leaves[from:end]
	page.More.End(len(page.Leaves), end < len(found.Leaves))
	return err
}
