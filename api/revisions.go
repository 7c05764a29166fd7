package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/validations"
)

// GET /api/v1.0/revisions
func (s *server) listRevisions(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	query := s.revisionQuery(q)
	if err := q.error(); err != nil {
		return err
	}
	found, err := s.Queries.List(r.Context(), query)
	if err != nil {
		return err
	}
	s.write(w, r, http.StatusOK, s.revisionList(r, query, found))
	return nil
}

// GET /api/v1.0/revisions/{revision}
func (s *server) showRevision(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	described, err := s.Queries.Describe(r.Context(), id)
	if err != nil {
		return err
	}
	s.writeRevision(w, r, described)
	return nil
}

// GET /api/v1.0/revisions/{revision}/documents
func (s *server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	selection := s.selection(q)
	if err := q.error(); err != nil {
		return err
	}
	return s.writeSelected(w, r, selection, s.Queries.Documents)
}

// GET /api/v1.0/revisions/{revision}/rendered-documents
func (s *server) listRendered(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	selection := s.selection(q)
	if err := q.error(); err != nil {
		return err
	}
	selection.Abstract = nil // no rendered document is abstract
	return s.writeSelected(w, r, selection, s.Queries.Rendered)
}

// writeSelected answers with the selected documents of a revision.
func (s *server) writeSelected(w http.ResponseWriter, r *http.Request, selection queries.Selection,
	read func(context.Context, int64, queries.Selection) (queries.Selected, error),
) error {
	selection.Cleartext = !s.seesEncrypted(r)
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if r.Header.Get("If-None-Match") != "" {
		stamp, err := s.Queries.Stamp(r.Context(), id)
		if err != nil {
			return asHTTPNotFound(err)
		}
		if tag := s.documentsTag(r, id, stamp); matchesETag(r, tag) && notModified(w, r, tag) { // without reading documents
			return nil
		}
	}
	ctx := r.Context()
	found, err := read(ctx, id, selection)
	if err != nil {
		return asHTTPNotFound(err)
	}
	w.Header().Set("Vary", "Accept")
	if !found.Provisional && notModified(w, r, s.documentsTag(r, id, found.Stamp)) {
		return nil
	}
	if !s.Compat {
		setLinks(w, r, selection.Page, found.More)
	}
	each := func(do func([]*revisions.Stored) error) error {
		return s.Queries.Each(ctx, selection, found, do)
	}
	return s.writeDocuments(w, r, each, func(doc *revisions.Stored) int64 { return doc.Revision })
}

// documentsTag returns the ETag of a list of documents. It depends on the media type, the query and whether the caller
// may read encrypted documents.
func (s *server) documentsTag(r *http.Request, revision int64, stamp revisions.Stamp) string {
	return entityTag(revision, stamp, "documents", negotiate(r), r.URL.RawQuery, strconv.FormatBool(s.seesEncrypted(r)))
}

// setLinks sets Link to the URLs of the next and previous pages (spec/api.md §0 C5).
func setLinks(w http.ResponseWriter, r *http.Request, page queries.Page, more bool) {
	next, previous := pages(r, page, more)
	for _, link := range []struct {
		url *string
		rel string
	}{{next, "next"}, {previous, "prev"}} {
		if link.url != nil {
			w.Header().Add("Link", "<"+*link.url+`>; rel="`+link.rel+`"`)
		}
	}
}

// pages returns the URLs of the next and previous pages, nil if there is none.
func pages(r *http.Request, page queries.Page, more bool) (next, previous *string) {
	if page.Limit == 0 {
		return nil, nil // an empty page has no neighbours
	}
	if more {
		next = pageURL(r, page.Offset+page.Limit, page.Limit)
	}
	if page.Offset > 0 {
		limit := page.Limit
		if limit < 0 || limit > page.Offset {
			limit = page.Offset
		}
		previous = pageURL(r, page.Offset-limit, limit)
	}
	return next, previous
}

func pageURL(r *http.Request, offset, limit int) *string {
	query := r.URL.Query()
	query.Set("offset", strconv.Itoa(offset))
	query.Set("limit", strconv.Itoa(limit))
	return new(origin(r) + (&url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: query.Encode()}).String())
}

// GET /api/v1.0/revisions/{revision}/status
func (s *server) status(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	expect := q.texts("expect")
	expected := expect != nil
	if expected && (len(expect) > 1 || expect[0] != "success") {
		q.fail("expect", "The only value it may have is \"success\".")
	}
	if err := q.error(); err != nil {
		return err
	}
	shown, err := s.Queries.Status(r.Context(), revisionName(r, "revision"))
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
