package api

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"purser/internal/document/blockyaml"
	"purser/internal/revisions"
)

// flushSize is the number of bytes after which a stream of documents is flushed.
const flushSize = 1 << 20

// buffers holds the buffers of streams for reuse.
var streamBuffers = sync.Pool{New: func() any { return new([]byte) }}

// writeDocuments answers with documents, as a stream of YAML documents or as a JSON array. each passes batches of
// documents to its argument; revision returns the revision shown in a document's status; texts has prepared texts of
// some documents. If the answer cannot be completed, the connection is closed.
func (a *answerWriter) writeDocuments(w http.ResponseWriter, r *http.Request,
	each func(do func([]*revisions.Stored) error) error, revision func(*revisions.Stored) int64, texts preparedTexts,
) error {
	kind := negotiate(r)
	buffer := streamBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds no other type
	stream, out := newDocumentStream(kind == typeJSON, a.texts, texts), (*buffer)[:0]
	defer func() {
		*buffer = out
		streamBuffers.Put(buffer)
	}()
	flushed, until := false, time.Now().Add(a.patience)
	flush := func() error {
		if !flushed {
			w.Header().Set("Content-Type", kind)
		}
		flushed = true
		_ = payForAnswer(r, len(out)) // the answer has begun
		err := writeParts(w, out, until)
		out = out[:0]
		return err // a disconnected client needs no answer
	}
	err := each(func(documents []*revisions.Stored) error {
		for _, doc := range documents {
			out = stream.add(out, doc, revision(doc))
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
	out = stream.appendEnd(out)
	if !flushed {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	}
	_ = flush()
	return nil
}

// writeStream answers with a stream of texts that are not stored documents.
func (a *answerWriter) writeStream(w http.ResponseWriter, r *http.Request, texts [][]byte) {
	kind := negotiate(r)
	w.Header().Set("Content-Type", kind)
	var stream []byte
	if kind == typeJSON {
		stream = slices.Concat([]byte("["), bytes.Join(texts, []byte(",\n")), []byte("]\n"))
	} else {
		for _, text := range texts {
			stream = blockyaml.Append(append(stream, "---\n"...), text)
		}
	}
	_ = writeParts(w, stream, time.Now().Add(a.patience)) // the client may have disconnected
}
