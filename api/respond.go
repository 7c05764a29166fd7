package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"purser/api/conditions"
	"purser/api/mediatype"
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

// write answers with a view as a YAML document or JSON value, or with 304 if the client of a GET already has it.
func (s *server) write(w http.ResponseWriter, r *http.Request, status int, view any) {
	s.writeOf(w, r, status, view, "")
}

// writeRevision answers with a revision. Its ETag can be used for the If-Match of a change.
func (s *server) writeRevision(w http.ResponseWriter, r *http.Request, described queries.Described) {
	s.writeOf(w, r, http.StatusOK, s.links(r).Revision(described), conditions.Prefix(described.Revision))
}

// writeOf is write with a prefix for the ETag.
func (s *server) writeOf(w http.ResponseWriter, r *http.Request, status int, view any, prefix string) {
	s.writeAs(w, r, status, mediatype.Negotiate(r), view, prefix)
}

// writeAs is writeOf in a given media type, YAML or JSON.
func (s *server) writeAs(w http.ResponseWriter, r *http.Request, status int, kind string, view any, prefix string) {
	text, err := json.Marshal(view)
	if err != nil {
		infoOf(r).note("write the answer: " + err.Error())
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if kind == mediatype.JSON {
		text = append(text, '\n')
	} else {
		text = blockyaml.Append(nil, text)
	}
	s.send(w, r, status, kind, text, prefix)
}

// writeText answers with text of a media type.
func (s *server) writeText(w http.ResponseWriter, r *http.Request, kind string, text []byte) {
	s.send(w, r, http.StatusOK, kind, text, "")
}

func (s *server) send(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte, prefix string) {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reading && status == http.StatusOK && conditions.NotModified(w, r, conditions.TextTag(prefix, kind, string(text))) {
		return
	}
	s.deliver(w, r, status, kind, text)
}

// pagePolicy stops browsers from running or loading anything for a page, and from showing it inside another one, so
// that a name or description that looks like a script is harmless.
const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// deliver answers with text, without comparing ETags.
func (s *server) deliver(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte) {
	switch kind {
	case mediatype.HTML:
		w.Header().Set("Content-Security-Policy", pagePolicy+"; style-src 'unsafe-inline'") // schemadocs writes a <style>
	case mediatype.SVG:
		w.Header().Set("Content-Security-Policy", pagePolicy)
	}
	if strings.HasPrefix(kind, "text/") {
		kind += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	end := s.bounds.send(w, r, len(text))
	_, err := w.Write(text) // the client may have disconnected
	end(err)
}

// writeStatus answers with a verdict, as text if Accept prefers that.
func (s *server) writeStatus(w http.ResponseWriter, r *http.Request, code int, shown revisions.Shown) error {
	if mediatype.Negotiate(r, mediatype.Text) == mediatype.Text {
		text, err := s.statusText(r, shown)
		if err != nil {
			return err
		}
		s.send(w, r, code, mediatype.Text, []byte(text), conditions.Prefix(shown.Revision))
		return nil
	}
	s.writeOf(w, r, code, views.StatusOf(shown), conditions.Prefix(shown.Revision))
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
		infoOf(r).note(err.Error())
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
