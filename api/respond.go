package api

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"purser/internal/document"
	"purser/internal/revisions"
)

// The media types of answers.
const (
	typeXYAML = "application/x-yaml"
	typeYAML  = "application/yaml"
	typeJSON  = "application/json"
	typeText  = "text/plain"
)

// negotiate picks the media type of an answer: the first of what Accept likes best that is offered, else
// application/x-yaml, as the reference always answers (spec/api.md §0 D11).
func negotiate(r *http.Request, offered ...string) string {
	offered = append(offered, typeXYAML, typeYAML, typeJSON)
	best, bestQuality := typeXYAML, 0.0
	for header := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, params, err := mime.ParseMediaType(strings.TrimSpace(header))
		if err != nil || !slices.Contains(offered, kind) && kind != "*/*" {
			continue
		}
		quality := 1.0
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			quality = q
		}
		if kind == "*/*" {
			kind = typeXYAML
		}
		if quality > bestQuality {
			best, bestQuality = kind, quality
		}
	}
	return best
}

// write answers with a view as one YAML document or JSON value.
func (s *server) write(w http.ResponseWriter, r *http.Request, status int, view any) {
	text, err := json.Marshal(view)
	if err != nil {
		observed(r).note("write the answer: " + err.Error())
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	kind := negotiate(r)
	w.Header().Set("Content-Type", kind)
	if kind == typeJSON {
		text = append(text, '\n')
	} else {
		text = document.AppendYAML(nil, text)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that went away needs no answer
}

// flushSize is how much of a stream of documents is gathered before it is sent, in bytes.
const flushSize = 64 << 10

// writeDocuments answers with documents: as a stream of YAML documents, or as a JSON array.
func (s *server) writeDocuments(w http.ResponseWriter, r *http.Request, documents []*revisions.Stored,
	view documentView,
) {
	kind := negotiate(r)
	w.Header().Set("Content-Type", kind)
	stream := documentStream{json: kind == typeJSON}
	stream.begin()
	for _, doc := range documents {
		stream.add(view(doc))
		if len(stream.out) >= flushSize {
			if _, err := w.Write(stream.out); err != nil {
				return
			}
			stream.out = stream.out[:0]
		}
	}
	stream.end()
	_, _ = w.Write(stream.out) // a client that went away needs no answer
}

// documentStream frames documents for either media type.
type documentStream struct {
	json  bool
	count int
	out   []byte
}

func (d *documentStream) begin() {
	if d.json {
		d.out = append(d.out, '[')
	}
}

func (d *documentStream) add(text []byte) {
	if d.json {
		if d.count > 0 {
			d.out = append(d.out, ',', '\n')
		}
		d.out = append(d.out, text...)
	} else {
		d.out = append(d.out, "---\n"...)
		d.out = document.AppendYAML(d.out, text)
	}
	d.count++
}

func (d *documentStream) end() {
	if d.json {
		d.out = append(d.out, ']', '\n')
	}
}
