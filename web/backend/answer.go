package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"purser/internal/document"
)

// Answer is an answer of the API.
type Answer struct {
	Header http.Header
	Body   []byte
}

// Decode decodes an answer in JSON.
func (a Answer) Decode(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("read the API's answer: %w", err)
	}
	return nil
}

// maxAnswer bounds an answer of the API to the pages, in bytes.
const maxAnswer = 32 << 20

var errLarge = errors.New("the API's answer is too large for a page")

// record calls a handler and returns what it writes. It returns an error if the handler panics to abort its answer.
func record(handler http.Handler, request *http.Request) (got *recorder, err error) {
	got = &recorder{header: http.Header{}}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the API broke its answer off: %v", p)
		}
	}()
	handler.ServeHTTP(got, request)
	if err := request.Context().Err(); err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if got.overflow {
		return nil, &Refusal{
			Status: http.StatusRequestEntityTooLarge, Header: got.header,
			Message: fmt.Sprintf("This is more than the %d MiB that a page is made of. Ask for less of it, or use the API.",
				maxAnswer>>20),
		}
	}
	if got.status == 0 {
		got.status = http.StatusOK
	}
	return got, nil
}

// refusal returns the error in an answer. The answer to a request for YAML is YAML.
func (a Answer) refusal(ctx context.Context, status int) *Refusal {
	refused := &Refusal{Status: status, Header: a.Header}
	var envelope struct {
		Message string `json:"message"`
		Details struct {
			Messages []detail `json:"messageList"`
		} `json:"details"`
	}
	text := a.Body
	if strings.HasPrefix(a.Header.Get("Content-Type"), TypeYAML) {
		if value, err := document.ParseOne(ctx, text, document.YAML, document.DefaultLimits()); err == nil {
			text = document.AppendJSON(nil, value)
		}
	}
	if json.Unmarshal(text, &envelope) == nil {
		refused.Message, refused.messages = envelope.Message, envelope.Details.Messages
	}
	return refused
}

// recorder keeps an answer in memory. It implements http.ResponseWriter.
type recorder struct {
	status   int // 0 until it is known
	header   http.Header
	body     bytes.Buffer
	overflow bool // there is more than maxAnswer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(text []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(text) > maxAnswer {
		r.overflow = true
		return 0, errLarge
	}
	return r.body.Write(text) //nolint:wrapcheck // it never fails
}
