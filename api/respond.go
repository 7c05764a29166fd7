package api

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"purser/api/conditions"
	"purser/api/mediatype"
	"purser/api/requests"
	"purser/api/views"
	"purser/internal/document/blockyaml"
	"purser/internal/queries"
	"purser/internal/revisions"
)

// origin returns the beginning of links in answers: PublicURL or, without it, the scheme and host by which the
// client says that it reached the server. Anybody may have chosen the host that a request names, so no page shows it.
func (s *server) origin(r *http.Request) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// links returns the writer of views with links for a request.
func (s *server) links(r *http.Request) views.Links {
	return views.Links{Origin: s.origin(r), Compat: s.Compat}
}

// writeRevision answers with a revision. Its ETag can be used for the If-Match of a change.
func (s *server) writeRevision(w http.ResponseWriter, r *http.Request, described queries.Described) {
	s.answers.WriteAs(w, r, http.StatusOK, mediatype.Negotiate(r), s.links(r).Revision(described),
		conditions.Prefix(described.Revision))
}

// writeStatus answers with a verdict, as text if Accept prefers that.
func (s *server) writeStatus(w http.ResponseWriter, r *http.Request, code int, shown revisions.Shown) error {
	if mediatype.Negotiate(r, mediatype.Text) == mediatype.Text {
		text, err := s.statusText(r, shown)
		if err != nil {
			return err
		}
		s.answers.Send(w, r, code, mediatype.Text, []byte(text), conditions.Prefix(shown.Revision))
		return nil
	}
	s.answers.WriteAs(w, r, code, mediatype.Negotiate(r), views.StatusOf(shown), conditions.Prefix(shown.Revision))
	return nil
}

// flushSize is the number of bytes after which a stream of documents is flushed.
const flushSize = 1 << 20

// buffers holds the buffers of streams for reuse.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// writeDocuments answers with documents, as a stream of YAML documents or as a JSON array. each passes batches of
// documents to its argument; revision returns the revision shown in a document's status; texts has prepared texts of
// some documents. If the answer cannot be completed, the connection is closed.
func (s *server) writeDocuments(w http.ResponseWriter, r *http.Request,
	each func(do func([]*revisions.Stored) error) error, revision func(*revisions.Stored) int64, texts views.Prepared,
) error {
	kind := mediatype.Negotiate(r)
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds no other type
	stream, out := views.NewDocumentStream(kind == mediatype.JSON, s.texts, texts), (*buffer)[:0]
	defer func() {
		*buffer = out
		buffers.Put(buffer)
	}()
	flushed := false
	flush := func() error {
		if !flushed {
			w.Header().Set("Content-Type", kind)
		}
		flushed = true
		_, err := w.Write(out)
		out = out[:0]
		return err //nolint:wrapcheck // a disconnected client needs no answer
	}
	err := each(func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			out = stream.Append(out, doc, revision(doc))
			if len(out) >= flushSize {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	switch {
	case err != nil && flushed:
		requests.Of(r).Note(err.Error())
		panic(http.ErrAbortHandler)
	case err != nil:
		return err
	}
	out = stream.AppendEnd(out)
	if !flushed {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	}
	_ = flush()
	return nil
}

// all returns an iterator that passes all documents in one batch.
func all(documents []*revisions.Stored) func(do func([]*revisions.Stored) error) error {
	return func(do func([]*revisions.Stored) error) error { return do(documents) }
}

// writeStream answers with a stream of texts that are not stored documents.
func (s *server) writeStream(w http.ResponseWriter, r *http.Request, texts [][]byte) {
	kind := mediatype.Negotiate(r)
	w.Header().Set("Content-Type", kind)
	var stream []byte
	if kind == mediatype.JSON {
		stream = slices.Concat([]byte("["), bytes.Join(texts, []byte(",\n")), []byte("]\n"))
	} else {
		for _, text := range texts {
			stream = blockyaml.Append(append(stream, "---\n"...), text)
		}
	}
	_, _ = w.Write(stream) // the client may have disconnected
}
