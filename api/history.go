package api

import (
	"net/http"
	"strings"

	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/document"
)

// GET /api/v1.0/documents/{namespace}/{kind}/{version}/{layer}/{name}/history
func (s *server) documentHistory(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	page := q.Page()
	q.Flag("cleartext-secrets", true) // read by viewerOf
	if err := q.Err(); err != nil {
		return err
	}
	changes, more, err := s.questions(r).History(r.Context(), identityOf(r), page)
	if err != nil {
		return err
	}
	shown := make([]views.DocumentChange, len(changes))
	for i, change := range changes {
		if shown[i], err = views.DocumentChangeOf(r.Context(), change); err != nil {
			return err
		}
	}
	writePage(s, w, r, page, more, views.List[views.DocumentChange]{Count: len(shown), Results: shown})
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
