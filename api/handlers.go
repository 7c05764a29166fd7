package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/revisions"
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

// PUT /api/v1.0/buckets/{bucket}/documents
func (s *server) putBucket(w http.ResponseWriter, r *http.Request) error {
	bucket, err := name(r, "bucket")
	if err != nil {
		return err
	}
	body, media, err := s.readBody(w, r, s.Limits.Body)
	if err != nil {
		return err
	}
	written, err := s.Service.Put(r.Context(), bucket, body, media)
	if err != nil {
		return err
	}
	documents := s.visible(written.Documents)
	if len(documents) == 0 && written.Changed {
		s.writeStream(w, r, statusOnly(bucket, written.Revision))
		return nil
	}
	s.writeDocuments(w, r, documents, func(*revisions.Stored) int64 { return written.Revision })
	return nil
}

// visible leaves ValidationPolicies out where the reference does (spec/api.md §0 C4).
func (s *server) visible(documents []*revisions.Stored) []*revisions.Stored {
	if !s.Compat {
		return documents
	}
	var shown []*revisions.Stored
	for _, doc := range documents {
		if !strings.HasPrefix(doc.Schema, validations.PolicyPrefix) {
			shown = append(shown, doc)
		}
	}
	return shown
}

// GET /api/v1.0/revisions
func (s *server) listRevisions(w http.ResponseWriter, r *http.Request) error {
	offset, limit, err := s.page(r)
	if err != nil {
		return err
	}
	found, err := s.Service.List(r.Context(), offset, limit)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, listOf(found, func(shown revisions.Shown) revisionItem {
		return s.revisionItem(r, shown)
	}))
	return nil
}

// page reads limit and offset, which the reference does not know (spec/api.md §0 C5).
func (s *server) page(r *http.Request) (offset, limit int, err error) {
	if s.Compat {
		return 0, -1, nil
	}
	if offset, err = count(r, "offset", 0); err != nil {
		return 0, 0, err
	}
	limit, err = count(r, "limit", -1)
	return offset, limit, err
}

func count(r *http.Request, parameter string, absent int) (int, error) {
	values, given := r.URL.Query()[parameter]
	if !given {
		return absent, nil
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || len(values) > 1 {
		return 0, fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"%s\" parameter is invalid. It must be given once, as a whole number that is not negative.", parameter)
	}
	return n, nil
}

// DELETE /api/v1.0/revisions
func (s *server) purge(w http.ResponseWriter, r *http.Request) error {
	if err := s.Service.Purge(r.Context()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// GET /api/v1.0/revisions/{revision}
func (s *server) showRevision(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	shown, err := s.Service.Show(r.Context(), id)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, s.revisionView(r, shown))
	return nil
}

// GET /api/v1.0/revisions/{revision}/documents
func (s *server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	documents, err := s.Service.Documents(r.Context(), id)
	if err != nil {
		return asHTTPNotFound(err)
	}
	s.writeDocuments(w, r, s.visible(documents), func(doc *revisions.Stored) int64 { return doc.Revision })
	return nil
}

// GET /api/v1.0/revisions/{revision}/status
func (s *server) status(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	expect, expected := r.URL.Query()["expect"]
	if expected && (len(expect) > 1 || expect[0] != "success") {
		return fault.New(fault.Invalid, "HTTPInvalidParam",
			"The \"expect\" parameter is invalid. The only value it may have is \"success\".")
	}
	shown, err := s.Service.Status(r.Context(), id)
	if err != nil {
		return err
	}
	code := http.StatusOK
	if expected && shown.Verdict.Status != validations.Success {
		code = http.StatusPreconditionFailed
	}
	s.writeStatus(w, r, code, shown)
	return nil
}

// GET /api/v1.0/revisions/{revision}/validations
func (s *server) listValidations(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	summaries, err := s.Service.Validations(r.Context(), id)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, listOf(summaries, func(summary validations.Summary) validationView {
		return validationView{Name: summary.Name, Status: summary.Status}
	}))
	return nil
}

// GET /api/v1.0/revisions/{revision}/validations/detail
func (s *server) listValidationDetails(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	entries, err := s.Service.Entries(r.Context(), id, "")
	if err != nil {
		return asHTTPNotFound(err)
	}
	s.write(w, r, http.StatusOK, listOf(entries, func(entry validations.Entry) entryView {
		view := s.entryView(r, id, entry)
		view.ID = &entry.ID
		return view
	}))
	return nil
}

// GET /api/v1.0/revisions/{revision}/validations/{name}
func (s *server) listEntries(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	entries, err := s.Service.Statuses(r.Context(), id, validation)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, listOf(entries, func(entry validations.Entry) entryItem {
		return entryItem{entry.ID, entry.Status}
	}))
	return nil
}

// GET /api/v1.0/revisions/{revision}/validations/{name}/entries/{entry}
func (s *server) showEntry(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	position, err := strconv.Atoi(chi.URLParam(r, "entry"))
	if err != nil && !errors.Is(err, strconv.ErrRange) { // beyond all numbers there is no entry
		return fault.New(fault.Invalid, "HTTPBadRequest", "The {entry_id} parameter must be an integer.")
	}
	entry, err := s.Service.Entry(r.Context(), id, validation, position)
	if err != nil {
		return err
	}
	view := s.entryView(r, id, entry)
	if view.URL != "" {
		view.URL += "/entries/" + strconv.Itoa(position)
	}
	s.write(w, r, http.StatusOK, view)
	return nil
}

// maxResult is how many bytes a posted result may have; results are kept for good.
const maxResult = 1 << 20

// POST /api/v1.0/revisions/{revision}/validations/{name}
func (s *server) postValidation(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	text, media, err := s.readBody(w, r, min(s.Limits.Body, maxResult))
	if err != nil {
		return err
	}
	body, err := document.ParseOne(text, media, s.Limits)
	if err != nil {
		return err
	}
	result, err := s.Service.Post(r.Context(), id, validation, body)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusCreated, postedView{result.Status, result.Validator})
	return nil
}

// revision resolves the revision that a path names.
func (s *server) revision(r *http.Request) (int64, error) {
	id, err := url.PathUnescape(chi.URLParam(r, "revision"))
	if err != nil {
		return 0, revisions.UnknownRevision(chi.URLParam(r, "revision"))
	}
	return s.Service.Resolve(r.Context(), id)
}

func (s *server) validation(r *http.Request) (revision int64, validation string, err error) {
	if validation, err = name(r, "name"); err != nil {
		return 0, "", err
	}
	revision, err = s.revision(r)
	return revision, validation, err
}

// name reads a part of the path that names something.
func name(r *http.Request, parameter string) (string, error) {
	text, err := url.PathUnescape(chi.URLParam(r, parameter))
	if err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fault.New(fault.Invalid, "HTTPBadRequest", "The {%s} of the path is no UTF-8 text.", parameter)
	}
	if n := utf8.RuneCountInString(text); n > validations.MaxName {
		return "", fault.New(fault.Invalid, "HTTPBadRequest",
			"The {%s} of the path has %d characters, but at most %d are allowed.", parameter, n, validations.MaxName)
	}
	return text, nil
}
