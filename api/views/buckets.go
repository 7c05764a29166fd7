package views

import (
	"context"
	"net/url"

	"purser/internal/queries"
	"purser/internal/wire"
)

// Bucket returns the view of a bucket in a list.
func (l Links) Bucket(b queries.Bucket) wire.Bucket {
	return wire.Bucket{
		Name: b.Name, Documents: b.Documents, Last: last(b.Last),
		URL: l.Origin + "/api/v1.0/revisions/latest/documents?" + url.Values{"status.bucket": {b.Name}}.Encode(),
	}
}

func last(c queries.Change) wire.Last {
	return wire.Last{
		Revision: c.Revision, ChangedAt: wire.TimeText(c.At), User: wire.Optional(c.User), Message: wire.Optional(c.Message),
	}
}

// DocumentChange returns the view of a change of a document, with its difference. The error is from the budget.
func DocumentChange(ctx context.Context, c queries.DocumentChange) (wire.DocumentChange, error) {
	before := int64(0)
	if c.Before != nil {
		before = c.Before.Revision
	}
	text, err := unifiedDiff(ctx, before, c.Revision, c.DocumentDifference)
	return wire.DocumentChange{
		Last: last(c.Change), Bucket: c.Bucket(), Change: c.Difference.String(), Diff: text,
	}, err
}
