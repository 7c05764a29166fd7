package web

import (
	"context"
	"net/url"

	"purser/internal/wire"
)

// maxLeaves is the maximum number of values that a page explains.
const maxLeaves = 200

// explained requests the origin of each value of the rendered document.
func (v *visit) explained(ctx context.Context, revision string, id wire.Identity) (shown documentForm, err error) {
	shown.More = newPager(v.URL, maxLeaves)
	query := v.secrets(url.Values{"schema": {id.Schema}, "name": {id.Name}})
	if id.Layer != "" {
		query.Set("layer", string(id.Layer))
	}
	var found wire.Explanation
	err = v.api.Get(ctx, &found, query, "revisions", revision, "rendered-documents", "explain")
	if err != nil && dropExpected(err) == nil {
		shown.Why = []string{"This document cannot be explained: " + err.Error()}
		return shown, nil
	}
	shown.Parents = found.Parents
	from := min(shown.More.Offset, len(found.Leaves))
	end := min(from+maxLeaves, len(found.Leaves))
	shown.Leaves = found.Leaves[from:end]
	shown.More.End(len(shown.Leaves), end < len(found.Leaves))
	return shown, err
}
