package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"purser/internal/budget"
	"purser/internal/cache"
	"purser/internal/document/blockyaml"
	"purser/internal/fault"
	"purser/internal/words"
)

// answerWriter writes answers, and bounds the size of those that clients are slow to read.
type answerWriter struct {
	unsent   *budget.Shares // bytes of answers to slow clients
	texts    *textCache
	patience time.Duration
}

// newAnswerWriter returns a writer for all answers of a server, with a cache of texts of documents that holds
// textBytes. A client may take as long as patience to read an answer.
func newAnswerWriter(textBytes int, patience time.Duration) *answerWriter {
	return &answerWriter{budget.NewShares(maxUnsent), cache.New[textKey, []byte](textBytes), patience}
}

// write answers with a view as a YAML document or JSON value, or with 304 if the client of a GET already has it.
func (a *answerWriter) write(w http.ResponseWriter, r *http.Request, status int, view any) {
	a.writeAs(w, r, status, negotiate(r), view, "")
}

// writeAs is Write in a given media type, YAML or JSON, with a prefix for the ETag.
func (a *answerWriter) writeAs(w http.ResponseWriter, r *http.Request, status int, kind string, view any,
	prefix string,
) {
	text, err := json.Marshal(view)
	if err != nil {
		infoOf(r).note("write the answer: " + err.Error())
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if status < http.StatusBadRequest && isReading(r.Method) {
		if err := payForAnswer(r, len(text)); err != nil {
			a.fail(w, r, budget.About(err, "write the answer"))
			return
		}
	}
	a.sendJSON(w, r, status, kind, text, prefix)
}

// payForAnswer counts the work of writing bytes of an answer, as JSON or YAML, and compressed. It returns an error if
// that is too much, but does not wait for a permit: the answer is made already.
func payForAnswer(r *http.Request, bytes int) error {
	const byteSteps = 20
	err := budget.NewMeter(r.Context()).Read(byteSteps*bytes, 0)
	if errors.Is(err, budget.ErrLarge) {
		return nil
	}
	return err
}

// maxAnswer bounds an answer in addition to the documents that it is about, in bytes.
const maxAnswer = 4 << 20

// writeWithin answers with a view as writeAs does. Fault: TooLarge if it has more than 4 MiB and the given number of
// bytes, those of the documents that it is about; less says how to ask for less.
func (a *answerWriter) writeWithin(w http.ResponseWriter, r *http.Request, kind string, view any, bytes int,
	less string,
) error {
	text, err := json.Marshal(view)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if err := checkAnswerSize(len(text), bytes, less); err != nil {
		return err
	}
	if err := payForAnswer(r, len(text)); err != nil {
		return budget.About(err, "write the answer")
	}
	a.sendJSON(w, r, http.StatusOK, kind, text, "")
	return nil
}

// checkAnswerSize returns the fault of an answer that has more than 4 MiB and a number of bytes, those of the documents
// that it is about; less says how to ask for less.
func checkAnswerSize(size, bytes int, less string) error {
	if size <= maxAnswer+bytes {
		return nil
	}
	return fault.New(fault.TooLarge, "HTTPPayloadTooLarge", "The answer would have %d bytes, more than 4 MiB and the "+
		"size of the documents that it is about; %s", size, less)
}

// sendJSON is send for JSON text, which it writes as YAML if the media type is not JSON.
func (a *answerWriter) sendJSON(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte,
	prefix string,
) {
	if kind == typeJSON {
		text = append(text, '\n')
	} else {
		text = blockyaml.Append(make([]byte, 0, len(text)), text)
	}
	a.send(w, r, status, kind, text, prefix)
}

// writeText answers with text of a media type.
func (a *answerWriter) writeText(w http.ResponseWriter, r *http.Request, kind string, text []byte) {
	a.send(w, r, http.StatusOK, kind, text, "")
}

// send answers with text of a media type, with a prefix for the ETag, or with 304 if the client of a GET already has
// it.
func (a *answerWriter) send(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte,
	prefix string,
) {
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reading && status == http.StatusOK &&
		notModified(w, r, textTag(prefix, kind, text)) {
		return
	}
	a.deliver(w, r, status, kind, text)
}

// pagePolicy stops browsers from running or loading anything for a page, and from showing it inside another one, so
// that a name or description that looks like a script is harmless.
const pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// deliver answers with text, without comparing ETags. Text for people, of the media types text/…, is printable, because
// it has names and messages of others.
func (a *answerWriter) deliver(w http.ResponseWriter, r *http.Request, status int, kind string, text []byte) {
	switch kind {
	case typeHTML:
		w.Header().Set("Content-Security-Policy", pagePolicy+"; style-src 'unsafe-inline'") // schemadocs writes a <style>
	case typeSVG:
		w.Header().Set("Content-Security-Policy", pagePolicy)
	}
	if strings.HasPrefix(kind, "text/") {
		text, kind = []byte(words.Printable(string(text))), kind+"; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	a.writeBody(w, r, text)
}

// writeBody writes the body of an answer.
func (a *answerWriter) writeBody(w http.ResponseWriter, r *http.Request, text []byte) {
	end := a.begin(w, r, len(text))
	end(writeParts(w, text, time.Now().Add(a.patience))) // the client may have disconnected
}
