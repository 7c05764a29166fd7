package api

import (
	"net/http"

	"purser/internal/document"
)

// GET /api/v1.0/revisions/{revision}/rendered-documents/explain
func (s *server) explain(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	identity := document.Identity{Schema: q.text("schema"), Layer: q.text("layer"), Name: q.text("name")}
	path := q.text("path")
	if identity.Schema == "" || identity.Name == "" {
		q.fail("name", "Name the document to be explained: ?schema=example/Kind/v1&name=...")
	}
	if err := q.err(); err != nil {
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
	if negotiate(r, typeText) == typeText {
		s.answers.writeText(w, r, typeText, []byte(explanationText(explained)))
		return nil
	}
	s.answers.write(w, r, http.StatusOK, explanationView(explained))
	return nil
}
