package api

import (
	"context"
	"net/http"
	"strings"

	"purser/internal/document"
	"purser/internal/queries"
)

// GET /api/v1.0/documents/{namespace}/{kind}/{version}/{layer}/{name}/history
func (s *server) documentHistory(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	page := q.page()
	q.flag("cleartext-secrets", true) // which viewer reads
	if err := q.error(); err != nil {
		return err
	}
	changes, more, err := s.questions(r).History(r.Context(), identityOf(r), page)
	if err != nil {
		return err
	}
	views := make([]documentChange, len(changes))
	for i, change := range changes {
		if views[i], err = documentChangeOf(r.Context(), change); err != nil {
			return err
		}
	}
	writePage(s, w, r, page, more, list[documentChange]{len(views), views})
	return nil
}

// identityOf returns the identity of the document in the path, where "-" stands for no layer.
func identityOf(r *http.Request) document.Identity {
	parts := []string{revisionName(r, "namespace"), revisionName(r, "kind"), revisionName(r, "version")}
	id := document.Identity{
		Schema: strings.Join(parts, "/"), Layer: revisionName(r, "layer"), Name: revisionName(r, "name"),
	}
	if id.Layer == "-" {
		id.Layer = ""
	}
	return id
}

// documentChange shows a change of a document.
type documentChange struct {
	changeView

	Bucket string `json:"bucket"` // that the document is in, or was in last
	Change string `json:"change"`
	Diff   string `json:"diff"`
}

func documentChangeOf(ctx context.Context, c queries.DocumentChange) (documentChange, error) {
	before := int64(0)
	if c.Before != nil {
		before = c.Before.Revision
	}
	text, err := unifiedDiff(ctx, before, c.Revision, c.DocumentDifference)
	return documentChange{changeViewOf(c.Change), c.Bucket(), c.Difference.String(), text}, err
}
