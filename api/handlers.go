package api

import (
	"net/http"

	"purser/internal/fault"
)

// GET /
func (s *server) front(w http.ResponseWriter, r *http.Request) error {
	view := s.links(r).front(!s.Access.MetricsElsewhere, s.Pages)
	kind := preferredType(r, typeText,
		typeText, typeHTML, typeXYAML, typeYAML, typeJSON)
	switch kind {
	case typeText:
		s.answers.writeText(w, r, kind, []byte(view.text()))
	case typeHTML:
		s.answers.writeText(w, r, kind, []byte(view.hTML()))
	default:
		s.answers.writeAs(w, r, http.StatusOK, kind, view, "")
	}
	return nil
}

// GET /versions
func (s *server) versions(w http.ResponseWriter, r *http.Request) error {
	s.answers.write(w, r, http.StatusOK, map[string]any{"v1.0": map[string]string{"path": v1, "status": "stable"}})
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
	s.answers.write(w, r, http.StatusOK, answer)
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
	_, _ = w.Write(s.OpenAPI) // the client may have disconnected
	return nil
}
