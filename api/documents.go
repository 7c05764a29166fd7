package api

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"purser/internal/cache"
	"purser/internal/document"
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
	stream, out := documentStream{json: kind == typeJSON, texts: a.texts, prepared: texts}, (*buffer)[:0]
	defer func() {
		*buffer = out
		streamBuffers.Put(buffer)
	}()
	return a.writeParted(w, r, kind, func(flush func([]byte) ([]byte, error)) ([]byte, error) {
		err := each(func(documents []*revisions.Stored) (err error) {
			for _, doc := range documents {
				out = stream.add(out, doc, revision(doc))
				if len(out) >= flushSize {
					if out, err = flush(out); err != nil {
						return err
					}
				}
			}
			return nil
		})
		out = stream.appendEnd(out)
		return out, err
	})
}

// writeParted answers with what write returns last, and what it passes to flush before, which returns a buffer to go on
// with. If the answer cannot be completed once a part was flushed, the connection is closed.
func (a *answerWriter) writeParted(w http.ResponseWriter, r *http.Request, kind string,
	write func(flush func(part []byte) ([]byte, error)) (last []byte, err error),
) error {
	flushed, until := false, time.Now().Add(a.patience)
	flush := func(part []byte) ([]byte, error) {
		if !flushed {
			w.Header().Set("Content-Type", kind)
		}
		flushed = true
		_ = payForAnswer(r, len(part)) // the answer has begun
		return part[:0], writeParts(w, part, until)
	}
	last, err := write(flush)
	switch {
	case err != nil && flushed:
		infoOf(r).note(err.Error())
		panic(http.ErrAbortHandler)
	case err != nil:
		return err
	}
	if !flushed {
		w.Header().Set("Content-Length", strconv.Itoa(len(last)))
	}
	_, _ = flush(last) // a disconnected client needs no answer
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

// documentStream writes documents as a stream of YAML documents or as a JSON array.
type documentStream struct {
	json     bool
	texts    *textCache
	prepared preparedTexts
	count    int
	text     []byte

	last statusText // that was written last; most documents of a stream share it
}

// status is the status of documents as YAML.
type statusText struct {
	bucket   string
	revision int64
	text     []byte
}

// add appends a document; revision is the one that its status shows.
func (d *documentStream) add(out []byte, doc *revisions.Stored, revision int64) []byte {
	d.count++
	switch {
	case d.json && d.count == 1:
		out = append(out, '[')
	case d.json:
		out = append(out, ',', '\n')
	default:
		out = append(out, "---\n"...)
		if revision == doc.Revision {
			return append(out, d.yamlOf(textKey{doc, true})...)
		}
		return d.appendStatus(append(out, d.yamlOf(textKey{doc, false})...), doc.Bucket, revision)
	}
	out = appendDocument(append(out, '{'), doc)
	return append(appendStatus(append(out, ','), doc.Bucket, revision), '}')
}

// appendEnd appends what follows the last document.
func (d *documentStream) appendEnd(out []byte) []byte {
	switch {
	case d.json && d.count == 0:
		return append(out, "[]\n"...)
	case d.json:
		return append(out, "]\n"...)
	}
	return out
}

// yaml returns a document without its status.
func (d *documentStream) yaml(doc *revisions.Stored) []byte {
	d.text = append(appendDocument(append(d.text[:0], '{'), doc), '}')
	return blockyaml.Append(make([]byte, 0, len(d.text)*3/2), d.text)
}

func (d *documentStream) appendStatus(out []byte, bucket string, revision int64) []byte {
	if d.last.text == nil || d.last.bucket != bucket || d.last.revision != revision {
		d.text = append(appendStatus(append(d.text[:0], '{'), bucket, revision), '}')
		d.last = statusText{bucket, revision, blockyaml.Append(nil, d.text)}
	}
	return append(out, d.last.text...)
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

// preparedTexts holds texts of documents that were generated before the answer is written.
type preparedTexts map[textKey][]byte

// maxPrepared is the total size of prepared texts, in bytes.
const maxPrepared = 4 << 20

// prepareTexts generates the texts of documents with their stored status. It omits the last documents of a large
// answer.
func prepareTexts(documents []*revisions.Stored) preparedTexts {
	texts, stream, size := preparedTexts{}, documentStream{}, 0
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

// appendDocument appends the members of a document's view except for its status.
func appendDocument(text []byte, doc *revisions.Stored) []byte {
	text = append(append(text, `"data":`...), doc.Data...)
	text = strconv.AppendInt(append(text, `,"id":`...), doc.ID, 10)
	text = append(append(text, `,"metadata":`...), doc.Metadata...)
	return document.AppendJSON(append(text, `,"schema":`...), doc.Schema)
}

// appendStatus appends the status member of a document's view.
func appendStatus(text []byte, bucket string, revision int64) []byte {
	return document.AppendJSON(append(text, `"status":`...), document.Mapping{
		{Key: "bucket", Value: bucket},
		{Key: "revision", Value: document.Number(strconv.FormatInt(revision, 10))},
	})
}

// statusOnly returns the list item of a bucket that has no documents.
func statusOnly(bucket string, revision int64) []byte {
	return append(appendStatus([]byte("{"), bucket, revision), '}')
}
