package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"purser/internal/fault"
	"purser/internal/validations"
)

// handler answers a request; a fault it returns becomes the answer instead.
type handler func(w http.ResponseWriter, r *http.Request) error

// GET /versions
func (s *server) versions(w http.ResponseWriter, r *http.Request) error {
	s.write(w, r, http.StatusOK, map[string]any{"v1.0": map[string]string{"path": "/api/v1.0", "status": "stable"}})
	return nil
}

// GET /api/v1.0/health
func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /readyz
func (s *server) ready(w http.ResponseWriter, r *http.Request) error {
	if err := s.Ping(r.Context()); err != nil {
		return fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The database does not answer").Because(err)
	}
	s.write(w, r, http.StatusOK, map[string]string{"status": "ready"})
	return nil
}

// GET /metrics
func (s *server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.exposition.ServeHTTP(w, r)
	return nil
}

// GET /openapi.yaml
func (s *server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", typeYAML)
	_, _ = w.Write(s.OpenAPI) // a client that went away needs no answer
	return nil
}

// revision resolves the revision that a path names.
func (s *server) revision(r *http.Request) (id int64, err error) {
	id, err = s.Queries.Resolve(r.Context(), revisionName(r, "revision"))
	observed(r).revision = id
	return id, err
}

// revisionOrEmpty is revision for the routes where 0 is the revision without documents.
func (s *server) revisionOrEmpty(r *http.Request, parameter string) (int64, error) {
	if revisionName(r, parameter) == "0" {
		return 0, nil
	}
	return s.Queries.Resolve(r.Context(), revisionName(r, parameter))
}

// revisionName is how a part of the path names a revision.
func revisionName(r *http.Request, parameter string) string {
	text := chi.URLParam(r, parameter)
	name, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return text // which names none
	}
	return name
}

// pathName reads a part of the path that names something.
func pathName(r *http.Request, parameter string) (string, error) {
	text, err := url.PathUnescape(chi.URLParam(r, parameter))
	if err != nil {
		text = "\xff" // whatever it is, it is no text
	}
	return text, validations.CheckName(text, "The {"+parameter+"} of the path")
}
