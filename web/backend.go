package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"purser/internal/client"
	"purser/internal/document"
)

// backend calls the API on behalf of the user of a request.
type backend struct {
	handler http.Handler
	outer   *http.Request // the browser's request
	token   string        // "" for none: the client certificate of the connection counts, if there is one
}

// call is a request to the API.
type call struct {
	method string   // "": GET
	path   []string // below /api/v1.0, not escaped
	query  url.Values
	accept string // "": application/json
	body   []byte // JSON
	match  string // If-Match
}

// The media types of answers.
const (
	typeJSON = "application/json"
	typeYAML = "application/x-yaml"
	typeText = "text/plain"
	typeHTML = "text/html"
)

// refusal is an error answer of the API.
type refusal struct {
	absence

	status   int
	message  string
	messages []detail
	header   http.Header
}

// absence reports whether a revision does not exist, and which is the newest.
type absence struct {
	Absent bool
	Newest int64 // 0 if there is none
}

// detail is one of several messages of an error.
type detail struct {
	Message   string            `json:"message"`
	Documents []client.Identity `json:"documents"` // that the message is about
}

// String returns the message, with the document that it is about unless the message names it.
func (d detail) String() string {
	if len(d.Documents) != 1 || strings.Contains(d.Message, "] "+d.Documents[0].Name) {
		return d.Message
	}
	return titleOfDocument(d.Documents[0]) + ": " + d.Message
}

// titleOfDocument names a document as messages of the API do.
func titleOfDocument(id client.Identity) string {
	if id.Layer == "" {
		return "[" + id.Schema + "] " + id.Name
	}
	return "[" + id.Schema + ", " + id.Layer + "] " + id.Name
}

// Error implements error. Several messages are sentences.
func (r *refusal) Error() string {
	var parts []string
	if r.message != "" {
		parts = append(parts, r.message)
	}
	for _, d := range r.messages {
		switch n := len(parts); {
		case d.Message == "":
		case n == 1 && parts[0] == r.message && strings.HasPrefix(d.Message, r.message): // more, or with its document
			parts[n-1] = d.String()
		default:
			parts = append(parts, d.String())
		}
	}
	switch len(parts) {
	case 0:
		return http.StatusText(r.status)
	case 1:
		return parts[0]
	}
	for i, part := range parts {
		parts[i] = ended(part)
	}
	return strings.Join(parts, " ")
}

// refusedWith reports whether an error is an answer of the API with one of the status codes.
func refusedWith(err error, codes ...int) bool {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	return slices.Contains(codes, refused.status)
}

// get requests JSON and decodes it.
func (b backend) get(ctx context.Context, into any, query url.Values, path ...string) error {
	answer, err := b.do(ctx, call{path: path, query: query})
	if err != nil {
		return err
	}
	return answer.decode(into)
}

// text requests text of a media type.
func (b backend) text(ctx context.Context, accept string, query url.Values, path ...string) (string, error) {
	answer, err := b.do(ctx, call{path: path, query: query, accept: accept})
	if err != nil {
		return "", err
	}
	return answer.body.String(), nil
}

// do sends a request to the API and returns its answer. An error answer is returned as a *refusal.
func (b backend) do(ctx context.Context, c call) (*answer, error) {
	request, err := b.request(ctx, c)
	if err != nil {
		return nil, err
	}
	got, err := serve(b.handler, request)
	if err != nil {
		return nil, err
	}
	if got.status/100 != 2 {
		return nil, got.refusal(ctx)
	}
	return got, nil
}

// request returns the request to send to the API.
func (b backend) request(ctx context.Context, c call) (*http.Request, error) {
	escaped := make([]string, len(c.path))
	for i, step := range c.path {
		if step == "" { // the API treats a path that ends there as the list of all
			return nil, &refusal{status: http.StatusBadRequest, message: "A name is missing."}
		}
		escaped[i] = url.PathEscape(step)
	}
	target := "/api/v1.0/" + strings.Join(escaped, "/")
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	body := io.Reader(http.NoBody)
	if c.body != nil {
		body = bytes.NewReader(c.body)
	}
	method := c.method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("build a request for the API: %w", err)
	}
	request.Host, request.RemoteAddr, request.TLS = b.outer.Host, b.outer.RemoteAddr, b.outer.TLS
	request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.1", 1, 1
	request.Header.Set("Accept", typeJSON)
	accept := ""
	if c.accept != "" {
		accept = c.accept + ", application/json;q=0.1" // errors have another type
	}
	set := map[string]string{
		"Accept": accept, "If-Match": c.match, "X-Context-Marker": b.outer.Header.Get("X-Context-Marker"),
	}
	if b.token != "" {
		set["Authorization"] = "Bearer " + b.token
	}
	if c.body != nil {
		set["Content-Type"] = typeJSON
	}
	for name, value := range set {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	return request, nil
}

// maxAnswer bounds an answer of the API to the pages, in bytes.
const maxAnswer = 32 << 20

var errLarge = errors.New("the API's answer is too large for a page")

// serve calls a handler and returns its answer. It returns an error if the handler panics to abort its answer.
func serve(handler http.Handler, request *http.Request) (got *answer, err error) {
	got = &answer{header: http.Header{}}
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
		return nil, &refusal{
			status: http.StatusRequestEntityTooLarge, header: got.header,
			message: fmt.Sprintf("This is more than the %d MiB that a page is made of. Ask for less of it, or use the API.",
				maxAnswer>>20),
		}
	}
	if got.status == 0 {
		got.status = http.StatusOK
	}
	return got, nil
}

// answer is an answer of the API, kept in memory. It implements http.ResponseWriter.
type answer struct {
	status   int
	header   http.Header
	body     bytes.Buffer
	overflow bool // there is more than maxAnswer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(text) > maxAnswer {
		a.overflow = true
		return 0, errLarge
	}
	return a.body.Write(text) //nolint:wrapcheck // it never fails
}

func (a *answer) decode(into any) error {
	if err := json.Unmarshal(a.body.Bytes(), into); err != nil {
		return fmt.Errorf("read the API's answer: %w", err)
	}
	return nil
}

// refusal returns the error in an answer. The answer to a request for YAML is YAML.
func (a *answer) refusal(ctx context.Context) error {
	refused := &refusal{status: a.status, header: a.header}
	var envelope struct {
		Message string `json:"message"`
		Details struct {
			Messages []detail `json:"messageList"`
		} `json:"details"`
	}
	text := a.body.Bytes()
	if strings.HasPrefix(a.header.Get("Content-Type"), typeYAML) {
		if value, err := document.ParseOne(ctx, text, document.YAML, document.DefaultLimits()); err == nil {
			text = document.AppendJSON(nil, value)
		}
	}
	if json.Unmarshal(text, &envelope) == nil {
		refused.message, refused.messages = envelope.Message, envelope.Details.Messages
	}
	return refused
}

// together does several things concurrently and returns the first error. It cancels the others as if the user had
// disconnected: any other cause would be logged as an error of the server.
func together(ctx context.Context, work ...func(context.Context) error) (first error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var once sync.Once
	for _, do := range work {
		group.Go(func() {
			if err := do(ctx); err != nil {
				once.Do(func() {
					first = err
					cancel()
				})
			}
		})
	}
	group.Wait()
	return first
}

// serious drops errors about parts that a page can do without: those that the user may not see, those that do not
// exist, and those that cannot be made from the documents.
func serious(err error) error {
	if refusedWith(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusBadRequest,
		http.StatusConflict, http.StatusRequestEntityTooLarge) {
		return nil
	}
	return err
}
