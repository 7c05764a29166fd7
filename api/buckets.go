package api

import (
	"context"
	"net/url"

	"purser/internal/queries"
	"purser/internal/wire"
)

// bucket returns the view of a bucket in a list.
func (l links) bucket(b queries.Bucket) wire.Bucket {
	return wire.Bucket{
		Name: b.Name, Documents: b.Documents, Last: lastView(b.Last),
		URL: l.origin + "/api/v1.0/revisions/latest/documents?" + url.Values{"status.bucket": {b.Name}}.Encode(),
	}
}

func lastView(c queries.Change) wire.Last {
	return wire.Last{
		Revision: c.Revision, ChangedAt: wire.TimeText(c.At), User: wire.Optional(c.User), Message: wire.Optional(c.Message),
	}
}

// documentChangeView returns the view of a change of a document, with its difference. The error is from the budget.
func documentChangeView(ctx context.Context, c queries.DocumentChange) (wire.DocumentChange, error) {
	before := int64(0)
	if c.Before != nil {
		before = c.Before.Revision
	}
	text, err := unifiedDiff(ctx, before, c.Revision, c.DocumentDifference)
	return wire.DocumentChange{
		Last: lastView(c.Change), Bucket: c.Bucket(), Change: c.Difference.String(), Diff: text,
	}, err
}
