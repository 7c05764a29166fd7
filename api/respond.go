package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"purser/api/mediatype"
	"purser/api/views"
	"purser/internal/document/blockyaml"

	"purser/internal/cache"
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
	s.writeOf(w, r, http.StatusOK, s.links(r).Revision(described), stampPrefix(described.Revision))
}

// stampPrefix returns the prefix of ETags that can be used in the If-Match of a request about a revision.
func stampPrefix(revision revisions.Revision) string {
	return fmt.Sprintf("%d-%v.", revision.ID, revision.Stamp)
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
	if reading && status == http.StatusOK && notModified(w, r, `"`+prefix+digest(kind+"\n"+string(text))+`"`) {
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
		s.send(w, r, code, mediatype.Text, []byte(text), stampPrefix(shown.Revision))
		return nil
	}
	s.writeOf(w, r, code, views.StatusOf(shown), stampPrefix(shown.Revision))
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
	each func(do func([]*revisions.Stored) error) error, revision func(*revisions.Stored) int64, texts prepared,
) error {
	kind := mediatype.Negotiate(r)
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds no other type
	stream := documentStream{json: kind == mediatype.JSON, texts: s.texts, prepared: texts, out: (*buffer)[:0]}
	defer func() {
		*buffer = stream.out
		buffers.Put(buffer)
	}()
	stream.begin()
	flushed := false
	flush := func() error {
		if !flushed {
			w.Header().Set("Content-Type", kind)
		}
		flushed = true
		_, err := w.Write(stream.out)
		stream.out = stream.out[:0]
		return err //nolint:wrapcheck // a disconnected client needs no answer
	}
	err := each(func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			stream.add(doc, revision(doc))
			if len(stream.out) >= flushSize {
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
	stream.end()
	if !flushed {
		w.Header().Set("Content-Length", strconv.Itoa(len(stream.out)))
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

// documentStream writes documents in either media type.
type documentStream struct {
	json     bool
	texts    *textCache
	prepared prepared
	count    int
	out      []byte
	text     []byte

	last status // that was written last; most documents of a stream share it
}

// status is the status of documents as YAML.
type status struct {
	bucket   string
	revision int64
	text     []byte
}

func (d *documentStream) begin() {
	if d.json {
		d.out = append(d.out, '[')
	}
}

func (d *documentStream) add(doc *revisions.Stored, revision int64) {
	if d.json {
		if d.count > 0 {
			d.out = append(d.out, ',', '\n')
		}
		d.out = views.AppendDocument(append(d.out, '{'), doc)
		d.out = append(views.AppendStatus(append(d.out, ','), doc.Bucket, revision), '}')
	} else {
		d.out = append(d.out, "---\n"...)
		if revision == doc.Revision {
			d.out = append(d.out, d.yamlOf(textKey{doc, true})...)
		} else {
			d.out = d.appendStatus(append(d.out, d.yamlOf(textKey{doc, false})...), doc.Bucket, revision)
		}
	}
	d.count++
}

// yaml returns a document without its status.
func (d *documentStream) yaml(doc *revisions.Stored) []byte {
	d.text = append(views.AppendDocument(append(d.text[:0], '{'), doc), '}')
	return blockyaml.Append(make([]byte, 0, len(d.text)*3/2), d.text)
}

func (d *documentStream) appendStatus(out []byte, bucket string, revision int64) []byte {
	if d.last.text == nil || d.last.bucket != bucket || d.last.revision != revision {
		d.text = append(views.AppendStatus(append(d.text[:0], '{'), bucket, revision), '}')
		d.last = status{bucket, revision, blockyaml.Append(nil, d.text)}
	}
	return append(out, d.last.text...)
}

func (d *documentStream) end() {
	if d.json {
		d.out = append(d.out, ']', '\n')
	}
}

// textCache caches the YAML of documents by pointer. It has only documents that are cached themselves and so keep their
// pointers.
type textCache = cache.Cache[textKey, []byte]

// textKey identifies the text of a document with or without its stored status.
type textKey struct {
	*revisions.Stored

	status bool
}

// yamlOf returns the text of a document, from the cache if it is there.
func (d *documentStream) yamlOf(key textKey) []byte {
	if text, ok := d.texts.Get(key); ok {
		return text
	}
	text, made := d.prepared[key]
	if !made {
		text = d.yamlWith(key)
	}
	if key.Shared {
		d.texts.Add(key, text, cap(text))
	}
	return text
}

// yamlWith returns the text of a document with or without its stored status.
func (d *documentStream) yamlWith(key textKey) []byte {
	text := d.yaml(key.Stored)
	if key.status {
		text = d.appendStatus(text, key.Bucket, key.Revision)
	}
	return text
}

// prepared holds texts of documents that were generated before the answer is written.
type prepared map[textKey][]byte

// maxPrepared is the total size of prepared texts, in bytes.
const maxPrepared = 4 << 20

// prepare generates the texts of documents with their stored status. It omits the last documents of a large answer.
func prepare(documents []*revisions.Stored) prepared {
	texts, stream, size := prepared{}, documentStream{}, 0
	for _, doc := range documents {
		if size >= maxPrepared {
			break
		}
		key := textKey{doc, true}
		texts[key] = stream.yamlWith(key)
		size += len(texts[key])
	}
	return texts
}
