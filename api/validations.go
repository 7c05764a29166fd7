package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"purser/internal/document"
	"purser/internal/fault"
	"purser/internal/validations"
)

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
	text, err := url.PathUnescape(chi.URLParam(r, "entry"))
	if err != nil {
		text = "" // which is no number
	}
	position, err := strconv.Atoi(text)
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

// maxAttached is how many bytes may be attached to a revision at a time, as a result or to a tag.
const maxAttached = 1 << 20

// POST /api/v1.0/revisions/{revision}/validations/{name}
func (s *server) postValidation(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	text, media, err := s.readBody(w, r, min(s.Limits.Body, maxAttached))
	if err != nil {
		return err
	}
	body, err := document.ParseOne(r.Context(), text, media, s.Limits)
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

func (s *server) validation(r *http.Request) (revision int64, validation string, err error) {
	if validation, err = pathName(r, "name"); err != nil {
		return 0, "", err
	}
	revision, err = s.revision(r)
	return revision, validation, err
}
