package views

import (
	"context"
	"net/url"

	"purser/internal/queries"
)

// BucketItem shows a bucket and its last change.
type BucketItem struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	changeView

	URL string `json:"url"` // of its documents
}

// BucketItem returns the view of a bucket in a list.
func (l Links) BucketItem(b queries.Bucket) BucketItem {
	return BucketItem{
		Name: b.Name, Documents: b.Documents, changeView: changeViewOf(b.Last),
		URL: l.Origin + "/api/v1.0/revisions/latest/documents?" + url.Values{"status.bucket": {b.Name}}.Encode(),
	}
}

// changeView shows the author, time and reason of a change; only the revision if that has been deleted.
type changeView struct {
	Revision  int64   `json:"revision"`
	ChangedAt *string `json:"changedAt"`
	User      *string `json:"user"`
	Message   *string `json:"message"`
}

func changeViewOf(c queries.Change) changeView {
	return changeView{c.Revision, timeText(c.At), Optional(c.User), Optional(c.Message)}
}

// DocumentChange shows a change of a document.
type DocumentChange struct {
	changeView

	Bucket string `json:"bucket"` // the current or last bucket of the document
	Change string `json:"change"`
	Diff   string `json:"diff"`
}

// DocumentChangeOf returns the view of a change of a document, with its difference. The error is from the budget.
func DocumentChangeOf(ctx context.Context, c queries.DocumentChange) (DocumentChange, error) {
	before := int64(0)
	if c.Before != nil {
		before = c.Before.Revision
	}
	text, err := unifiedDiff(ctx, before, c.Revision, c.DocumentDifference)
	return DocumentChange{changeViewOf(c.Change), c.Bucket(), c.Difference.String(), text}, err
}
