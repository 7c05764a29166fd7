package api

import (
	"net/http"

	"purser/api/mediatype"
	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/document"
)

// GET /api/v1.0/revisions/{revision}/rendered-documents/explain
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	identity := document.Identity{Schema: q.Text("schema"), Layer: q.Text("layer"), Name: q.Text("name")}
	path := q.Text("path")
	if identity.Schema == "" || identity.Name == "" {
		q.Fail("name", "Name the document to be explained: ?schema=example/Kind/v1&name=...")
	}
	if err := q.Err(); err != nil {
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
		s.answers.WriteText(w, r, mediatype.Text, []byte(views.ExplanationText(explained)))
		return nil
	}
	s.answers.Write(w, r, http.StatusOK, views.Explanation(explained))
	return nil
}
