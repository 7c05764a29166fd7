package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"purser/api/mediatype"
	"purser/api/requests"
	"purser/api/views"
	"purser/api/waiting"
	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/validations"
)

// handler answers a request, or returns the error to answer with.
type handler func(w http.ResponseWriter, r *http.Request) error

// GET /
func (s *server) front(w http.ResponseWriter, r *http.Request) error {
	view := s.links(r).Front(!s.Access.MetricsElsewhere, s.Pages)
	kind := mediatype.Preferred(r, mediatype.Text,
		mediatype.Text, mediatype.HTML, mediatype.XYAML, mediatype.YAML, mediatype.JSON)
	switch kind {
	case mediatype.Text:
		s.answers.WriteText(w, r, kind, []byte(view.Text()))
	case mediatype.HTML:
		s.answers.WriteText(w, r, kind, []byte(view.HTML()))
	default:
		s.answers.WriteAs(w, r, http.StatusOK, kind, view, "")
	}
	return nil
}

// GET /versions
func (s *server) versions(w http.ResponseWriter, r *http.Request) error {
	s.answers.Write(w, r, http.StatusOK, map[string]any{"v1.0": map[string]string{"path": "/api/v1.0", "status": "stable"}})
	return nil
}

const healthPath = "/api/v1.0/health"

// GET /api/v1.0/health
func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /readyz
func (s *server) ready(w http.ResponseWriter, r *http.Request) error {
	switch err := s.Ping(r.Context()); {
	case fault.KindOf(err) == fault.Unavailable: // the message has the cause
		return err
	case err != nil:
		return fault.New(fault.Unavailable, "HTTPServiceUnavailable", "The database does not answer").Because(err)
	}
	s.answers.Write(w, r, http.StatusOK, map[string]string{"status": "ready"})
	return nil
}

// GET /api/v1.0/whoami
func (s *server) whoami(w http.ResponseWriter, r *http.Request) error {
	caller := requests.Of(r).Caller
	s.answers.Write(w, r, http.StatusOK, views.Whoami{
		User: views.User{ID: caller.UserID, Name: views.Optional(caller.UserName)}, Project: views.Optional(caller.ProjectID),
		Roles: views.NonNil(caller.Roles), Rules: s.Access.Rules.Policy().Passed(caller),
	})
	return nil
}

// GET /metrics
func (s *server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.exposition.ServeHTTP(w, r)
	return nil
}

// GET /openapi.yaml
func (s *server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", mediatype.YAML)
	_, _ = w.Write(s.OpenAPI) // the client may have disconnected
	return nil
}

// questions returns the queries of a request, as its caller may see their results.
func (s *server) questions(r *http.Request) queries.View {
	return s.Queries.For(requests.Of(r).Viewer).Noting(&waiting.Of(r).Fresh)
}

// mayEncrypt reports whether the caller may upload encrypted documents.
func (s *server) mayEncrypt(r *http.Request) bool {
	return s.gate.Allows(r, authz.CreateEncryptedDocuments)
}

// revision resolves the revision in the path.
func (s *server) revision(r *http.Request) (id int64, err error) {
	id, err = s.questions(r).Resolve(r.Context(), revisionName(r, "revision"))
	requests.Of(r).Revision = id
	return id, err
}

// revisionOrEmpty returns the revision that a parameter names; 0 names the empty revision before the first one.
func (s *server) revisionOrEmpty(r *http.Request, parameter string) (int64, error) {
	if revisionName(r, parameter) == "0" {
		return 0, nil
	}
	return s.questions(r).Resolve(r.Context(), revisionName(r, parameter))
}

// revisionName returns a part of the path that names a revision.
func revisionName(r *http.Request, parameter string) string {
	text := chi.URLParam(r, parameter)
	name, err := url.PathUnescape(text)
	if err != nil || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return text // not the name of a revision
	}
	return name
}

// pathName returns a part of the path that is the name of a bucket, a tag or a validation.
func pathName(r *http.Request, parameter string) (string, error) {
	text, err := url.PathUnescape(chi.URLParam(r, parameter))
	if err != nil {
		text = "\xff" // also invalid
	}
	return text, validations.CheckName(text, "The {"+parameter+"} of the path")
}

// asHTTPNotFound changes RevisionNotFound to HTTPNotFound, for the routes where the reference does (spec/api.md §1.5).
func asHTTPNotFound(err error) error {
	var f *fault.Fault
	if errors.As(err, &f) && f.Type == "RevisionNotFound" {
		return fault.New(f.Kind, "HTTPNotFound", "%s", f.Message)
	}
	return err
}
