package answers

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"purser/api/mediatype"
	"purser/api/requests"
	"purser/api/views"
	"purser/internal/document/blockyaml"
	"purser/internal/revisions"
)

// flushSize is the number of bytes after which a stream of documents is flushed.
const flushSize = 1 << 20

// buffers holds the buffers of streams for reuse.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// WriteDocuments answers with documents, as a stream of YAML documents or as a JSON array. each passes batches of
// documents to its argument; revision returns the revision shown in a document's status; texts has prepared texts of
// some documents. If the answer cannot be completed, the connection is closed.
func (a *Writer) WriteDocuments(w http.ResponseWriter, r *http.Request,
	each func(do func([]*revisions.Stored) error) error, revision func(*revisions.Stored) int64, texts views.Prepared,
) error {
	kind := mediatype.Negotiate(r)
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds no other type
	stream, out := views.NewDocumentStream(kind == mediatype.JSON, a.texts, texts), (*buffer)[:0]
	defer func() {
		*buffer = out
		buffers.Put(buffer)
	}()
	flushed, until := false, time.Now().Add(a.patience)
	flush := func() error {
		if !flushed {
			w.Header().Set("Content-Type", kind)
		}
		flushed = true
		_ = pay(r, len(out)) // the answer has begun
		err := write(w, out, until)
		out = out[:0]
		return err // a disconnected client needs no answer
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

// WriteStream answers with a stream of texts that are not stored documents.
func (a *Writer) WriteStream(w http.ResponseWriter, r *http.Request, texts [][]byte) {
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
	_ = write(w, stream, time.Now().Add(a.patience)) // the client may have disconnected
}
