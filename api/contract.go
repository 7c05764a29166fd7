package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"purser/internal/document"
	"purser/internal/schemadocs"
)

// contract is openapi.yaml in its other forms.
type contract struct{ json, page []byte }

// contractOf returns a function that converts openapi.yaml the first time that it is called.
func contractOf(text []byte) func() (contract, error) {
	return sync.OnceValues(func() (contract, error) {
		value, err := document.ParseOne(context.Background(), text, document.YAML, document.DefaultLimits())
		if err != nil {
			return contract{}, fmt.Errorf("read openapi.yaml: %w", err)
		}
		mapping, _ := value.(document.Mapping)
		page, err := schemadocs.Contract(mapping)
		if err != nil {
			return contract{}, fmt.Errorf("write openapi.yaml as a page: %w", err)
		}
		return contract{document.AppendJSON(nil, mapping), page}, nil
	})
}

// GET /openapi.yaml
func (s *server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", typeYAML)
	_, _ = w.Write(s.OpenAPI) // the client may have disconnected
	return nil
}

// GET /openapi.json
func (s *server) openAPIAsJSON(w http.ResponseWriter, r *http.Request) error {
	made, err := s.contract()
	if err == nil {
		s.answers.writeText(w, r, typeJSON, made.json)
	}
	return err
}

// GET /docs
func (s *server) docs(w http.ResponseWriter, r *http.Request) error {
	made, err := s.contract()
	if err == nil {
		s.answers.writeText(w, r, typeHTML, made.page)
	}
	return err
}
