package api

import (
	"net/http"

	"purser/api/parameters"
	"purser/api/views"
	"purser/internal/queries"
)

// GET /api/v1.0/buckets
func (s *server) listBuckets(w http.ResponseWriter, r *http.Request) error {
	q := parameters.Of(r)
	page := q.Page()
	if err := q.Err(); err != nil {
		return err
	}
	buckets, more, err := s.questions(r).Buckets(r.Context(), page)
	if err != nil {
		return err
	}
	writePage(s, w, r, page, more, views.ListOf(buckets, s.links(r).BucketItem))
	return nil
}

// writePage answers with a page of a list.
func writePage[T any](s *server, w http.ResponseWriter, r *http.Request, page queries.Page, more bool,
	of views.List[T],
) {
	s.answers.Write(w, r, http.StatusOK, views.PageOf(s.links(r), r.URL, page, more, of))
}
