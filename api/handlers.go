package api

import (
	"net/http"

	"purser/api/mediatype"
	"purser/internal/fault"
)

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
	s.answers.Write(w, r, http.StatusOK, map[string]any{"v1.0": map[string]string{"path": v1, "status": "stable"}})
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
	answer := map[string]string{"status": "ready"}
	if s.Problem != nil {
		if err := s.Problem(); err != nil {
			answer["problem"] = err.Error()
		}
	}
	s.answers.Write(w, r, http.StatusOK, answer)
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
