package api

import (
	"net/http"
	"net/url"

	"purser/internal/queries"
)

// GET /api/v1.0/buckets
func (s *server) listBuckets(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	page := q.page()
	if err := q.error(); err != nil {
		return err
	}
	buckets, more, err := s.questions(r).Buckets(r.Context(), page)
	if err != nil {
		return err
	}
	writePage(s, w, r, page, more, listOf(buckets, func(b queries.Bucket) bucketItem { return s.bucketItem(r, b) }))
	return nil
}

// bucketItem shows a bucket and its last change.
type bucketItem struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	changeView

	URL string `json:"url"` // of its documents
}

func (s *server) bucketItem(r *http.Request, b queries.Bucket) bucketItem {
	return bucketItem{
		Name: b.Name, Documents: b.Documents, changeView: changeViewOf(b.Last),
		URL: s.origin(r) + "/api/v1.0/revisions/latest/documents?" + url.Values{"status.bucket": {b.Name}}.Encode(),
	}
}

// changeView shows who changed something, when and why: nothing but the revision if that is deleted by now.
type changeView struct {
	Revision  int64   `json:"revision"`
	ChangedAt *string `json:"changedAt"`
	User      *string `json:"user"`
	Message   *string `json:"message"`
}

func changeViewOf(c queries.Change) changeView {
	return changeView{c.Revision, timeText(c.At), optional(c.User), optional(c.Message)}
}

// alwaysPaged is a list that has pages with --compat=deckhand, too.
type alwaysPaged[T any] struct {
	list[T]

	Next *string `json:"next"`
	Prev *string `json:"prev"`
}

// writePage answers with a page of a list.
func writePage[T any](s *server, w http.ResponseWriter, r *http.Request, page queries.Page, more bool, of list[T]) {
	view := alwaysPaged[T]{list: of}
	view.Next, view.Prev = s.pages(r, page, more)
	if more && 0 < of.Count && of.Count < page.Limit { // the items are large
		view.Next = s.pageURL(r, page.Offset+of.Count, page.Limit)
	}
	s.write(w, r, http.StatusOK, view)
}
