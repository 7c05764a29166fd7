package api

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"

	"purser/internal/queries"
	"purser/internal/revisions"
	"purser/internal/wire"
)

// GET /api/v1.0/revisions
func (s *server) listRevisions(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	query := q.revisions(s.Compat)
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.questions(r).List(r.Context(), query)
	if err != nil {
		return err
	}
	s.answers.write(w, r, http.StatusOK, s.links(r).revisions(r.URL, query.Page, found))
	return nil
}

// GET /api/v1.0/revisions/{revision}
func (s *server) showRevision(w http.ResponseWriter, r *http.Request) error {
	id, err := s.revision(r)
	if err != nil {
		return err
	}
	described, err := s.questions(r).Describe(r.Context(), id)
	if err != nil {
		return err
	}
	s.answers.writeAs(w, r, http.StatusOK, negotiate(r), s.links(r).revision(described),
		tagPrefix(described.Revision))
	return nil
}

// GET /api/v1.0/revisions/{revision}/documents
func (s *server) listDocuments(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	selection := q.selection(s.Compat)
	if err := q.err(); err != nil {
		return err
	}
	return s.writeSelected(w, r, selection, queries.View.Documents)
}

// GET /api/v1.0/revisions/{revision}/rendered-documents
func (s *server) listRendered(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	selection := q.selection(s.Compat)
	if err := q.err(); err != nil {
		return err
	}
	selection.Abstract = nil // no rendered document is abstract
	return s.writeSelected(w, r, selection, func(v queries.View, ctx context.Context, id int64, of queries.Selection) (
		queries.Selected, error,
	) {
		found, err := v.Rendered(ctx, id, of)
		if infoOf(r).viewer.Secrets() && slices.ContainsFunc(found.Documents, mayHoldSecret) {
			w.Header().Set("Cache-Control", noTransform)
		}
		return found, err
	})
}

// mayHoldSecret reports whether a rendered document may contain a secret.
func mayHoldSecret(doc *revisions.Stored) bool {
	if traits, decoded := doc.Decoded(); decoded {
		return doc.Tainted || traits.Encrypted
	}
	return doc.Tainted || bytes.Contains(doc.Metadata, []byte(`"storagePolicy":"encrypted"`))
}

// writeSelected answers with the selected documents of a revision.
func (s *server) writeSelected(w http.ResponseWriter, r *http.Request, selection queries.Selection,
	read func(queries.View, context.Context, int64, queries.Selection) (queries.Selected, error),
) error {
	view := s.questions(r)
	id, err := s.revision(r)
	if err != nil {
		return asHTTPNotFound(err)
	}
	if r.Header.Get("If-None-Match") != "" {
		stamp, err := view.Stamp(r.Context(), id)
		if err != nil {
			return asHTTPNotFound(err)
		}
		tag := s.documentsTag(r, id, stamp)
		if matchesTag(r, tag) && notModified(w, r, tag) { // without reading documents
			return nil
		}
	}
	ctx := r.Context()
	found, end, err := s.reserved(ctx, func() (queries.Selected, error) { return read(view, ctx, id, selection) })
	if err != nil {
		return asHTTPNotFound(err)
	}
	defer end()
	w.Header().Set("Vary", varies)
	if !found.Provisional && notModified(w, r, s.documentsTag(r, id, found.Stamp)) {
		return nil
	}
	if !s.Compat {
		s.setLinks(w, r, selection.Page, found)
	}
	each := func(do func([]*revisions.Stored) error) error {
		return view.Each(ctx, found, do)
	}
	return s.answers.writeDocuments(w, r, each, func(doc *revisions.Stored) int64 { return doc.Revision }, nil)
}

// reserved reads documents and reserves the memory for them until end is called. While it waits for memory it holds no
// documents, and reads them again then.
func (s *server) reserved(ctx context.Context, read func() (queries.Selected, error)) (
	found queries.Selected, end func(), err error,
) {
	if found, err = read(); err != nil {
		return found, nil, err
	}
	size := found.Held()
	if end = s.answers.try(ctx, size); end != nil {
		return found, end, nil
	}
	found = queries.Selected{}
	if end, err = s.answers.reserve(ctx, size); err != nil {
		return found, nil, err
	}
	if found, err = read(); err != nil {
		end()
	}
	return found, end, err
}

// documentsTag returns the ETag of a list of documents. It depends on the media type, the query and whether the caller
// may read encrypted documents.
func (s *server) documentsTag(r *http.Request, revision int64, stamp revisions.Stamp) string {
	sees := strconv.FormatBool(infoOf(r).viewer.Encrypted)
	return revisionTag(revision, stamp, "documents", negotiate(r), r.URL.RawQuery, sees)
}

// setLinks sets Link to the URLs of the next and previous pages. A search that has not looked at all documents says so,
// and the next page goes on with it.
func (s *server) setLinks(w http.ResponseWriter, r *http.Request, page queries.Page, found queries.Selected) {
	next, previous := s.links(r).pages(r.URL, page, page.Limit, found.More)
	if found.Searched > 0 {
		w.Header().Set("Purser-Searched", strconv.Itoa(found.Searched))
		next = s.links(r).further(r.URL, found.Searched)
	}
	for _, link := range []struct {
		url wire.Optional
		rel string
	}{{next, "next"}, {previous, "prev"}} {
		if link.url != "" {
			w.Header().Add("Link", "<"+string(link.url)+`>; rel="`+link.rel+`"`)
		}
	}
}
