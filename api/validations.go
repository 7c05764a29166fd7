package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"purser/internal/authz"
	"purser/internal/fault"
	"purser/internal/queries"
	"purser/internal/validations"
	"purser/internal/wire"
	"purser/internal/words"
)

// GET /api/v1.0/revisions/{revision}/validations
func (s *server) listValidations(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	withNewest := q.flag("newest", false)
	if err := q.err(); err != nil {
		return err
	}
	summaries, newest, err := s.questions(r).Validations(r.Context(), revisionName(r, "revision"), withNewest)
	if err != nil {
		return err
	}
	if !withNewest {
		newest = nil
	}
	s.answers.write(w, r, http.StatusOK, resultsView(queries.Results{Summaries: summaries, Newest: newest}))
	return nil
}

// GET /api/v1.0/revisions/{revision}/validations/detail
func (s *server) listValidationDetails(w http.ResponseWriter, r *http.Request) error {
	page, err := s.entryPage(r)
	if err != nil {
		return err
	}
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	found, err := s.questions(r).Entries(r.Context(), id, "", page)
	if err != nil {
		return asHTTPNotFound(err)
	}
	view := func(entry validations.Entry) wire.Entry {
		view := s.links(r).entry(id, entry)
		view.ID = &entry.ID
		return view
	}
	s.answers.write(w, r, http.StatusOK, entryPageView(s.links(r), r.URL, page, found, view))
	return nil
}

// entryPage reads which page of a list of entries is requested. Deckhand has no pages.
func (s *server) entryPage(r *http.Request) (queries.Page, error) {
	if s.Compat {
		return queries.Page{Limit: -1}, nil
	}
	q := paramsOf(r)
	page := queries.Page{Offset: q.count("offset", 0), Limit: q.count("limit", defaultEntries)}
	return page, q.err()
}

// GET /api/v1.0/revisions/{revision}/validations/{name}
func (s *server) listEntries(w http.ResponseWriter, r *http.Request) error {
	page, err := s.entryPage(r)
	if err != nil {
		return err
	}
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	found, err := s.questions(r).Statuses(r.Context(), id, validation, page)
	if err != nil {
		return err
	}
	view := func(entry validations.Entry) wire.EntryItem {
		item := wire.EntryItem{ID: entry.ID, Status: entry.Status}
		if entry.CarriedFrom > 0 && !s.Compat {
			item.CreatedAt, item.CarriedFrom = new(wire.TimeText(entry.CreatedAt)), entry.CarriedFrom
		}
		return item
	}
	s.answers.write(w, r, http.StatusOK, entryPageView(s.links(r), r.URL, page, found, view))
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
		text = "" // not a number
	}
	position, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return queries.UnknownEntry(id, validation, text)
	case err != nil:
		return fault.New(fault.Invalid, "HTTPBadRequest", "The {entry_id} parameter must be an integer.").
			Hint("It is the position of an entry, from 0 on, and not '%s'.", words.Excerpt(text))
	}
	entry, err := s.questions(r).Entry(r.Context(), id, validation, position)
	if err != nil {
		return err
	}
	view := s.links(r).entry(id, entry)
	if view.URL != "" {
		view.URL += "/entries/" + strconv.Itoa(position)
	}
	s.answers.write(w, r, http.StatusOK, view)
	return nil
}

// maxResult bounds the body of a posted result, in bytes.
const maxResult = 1 << 20

// POST /api/v1.0/revisions/{revision}/validations/{name}
func (s *server) postValidation(w http.ResponseWriter, r *http.Request) error {
	id, validation, err := s.validation(r)
	if err != nil {
		return err
	}
	options, err := s.about(r, id, http.StatusCreated)
	if err != nil {
		return err
	}
	if options, err = s.requireAbout(r, authz.CreateValidation, options, id, validation); err != nil {
		return err
	}
	if options.Claim, err = s.claimOf(r); err != nil {
		return err
	}
	options.Viewer = infoOf(r).viewer
	body, err := s.readOne(w, r, maxResult)
	if err != nil {
		return err
	}
	posted, err := s.at(r).Service.Post(r.Context(), id, options, validation, body, s.at(r).Queries.Rendering)
	if err != nil {
		return err
	}
	infoOf(r).audited, infoOf(r).unchanged = options.Audit != nil, posted.Before
	status := http.StatusCreated
	if posted.Before {
		status = http.StatusOK
	}
	view := wire.Posted{Status: posted.Status, Validator: posted.Validator, Warning: posted.Warning}
	if !s.Compat {
		view.Revision, view.Stamp = id, posted.Stamp.String()
	}
	s.answers.write(w, r, status, view)
	return nil
}

func (s *server) validation(r *http.Request) (revision int64, validation string, err error) {
	if validation, err = pathName(r, "name"); err != nil {
		return 0, "", err
	}
	revision, err = s.revision(r)
	return revision, validation, err
}
