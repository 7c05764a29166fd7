package api

import (
	"net/http"

	"purser/api/mediatype"
	"purser/api/views"
	"purser/internal/document"
)

// GET /api/v1.0/revisions/{revision}/rendered-documents/explain
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	identity := document.Identity{Schema: q.text("schema"), Layer: q.text("layer"), Name: q.text("name")}
	path := q.text("path")
	if identity.Schema == "" || identity.Name == "" {
		q.fail("name", "Name the document to be explained: ?schema=example/Kind/v1&name=...")
	}
	if err := q.error(); err != nil {
		return err
	}
	if path == "" {
		path = "."
	}
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	explained, err := s.questions(r).Explain(r.Context(), id, identity, path)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if mediatype.Negotiate(r, mediatype.Text) == mediatype.Text {
		s.writeText(w, r, mediatype.Text, []byte(views.ExplanationText(explained)))
		return nil
	}
	s.write(w, r, http.StatusOK, views.ExplanationOf(explained))
	return nil
}
