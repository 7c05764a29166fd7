package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"purser/internal/client"
	"purser/internal/words"
)

// api is a client of the API in this process, for the user of a browser's request. Its error answers are *refusal;
// other errors are faults of the server, or say that the user disconnected.
type api struct{ *client.Client }

// maxAnswer bounds an answer of the API to the pages, in bytes.
const maxAnswer = 32 << 20

// newAPI returns a client for the site that is named, the default one for "".
func newAPI(handler http.Handler, outer *http.Request, token, site string) api {
	return api{newClient(inProcess{handler, outer, token, maxAnswer}, site, maxAnswer)}
}

// newClient returns a client that sends each request once.
func newClient(transport http.RoundTripper, site string, most int) *client.Client {
	c, err := client.New(client.Config{
		Server: "http://api", Site: site, Transport: transport, MaxBytes: int64(most), Once: true,
	})
	if err != nil {
		panic(err) // none of this depends on the request
	}
	return c
}

// sites returns a client for what is about sites themselves.
func (a api) sites() api { return api{a.Sites()} }

// Do sends a request and returns its answer.
func (a api) Do(ctx context.Context, r client.Request) (client.Answer, error) {
	answer, err := a.Client.Do(ctx, r)
	return answer, refused(err)
}

// Get requests JSON and decodes it.
func (a api) Get(ctx context.Context, into any, query url.Values, path ...string) error {
	_, err := a.Client.Get(ctx, into, query, path...)
	return refused(err)
}

// Text requests text of a media type.
func (a api) Text(ctx context.Context, accept string, query url.Values, path ...string) (string, error) {
	answer, err := a.Do(ctx, client.Request{Path: path, Query: query, Accept: accept})
	return string(answer.Body), err
}

// inProcess calls the API's handler, with its authentication, authorization, limits and audit. Without a token,
// the client certificate of the browser's connection counts, if there is one.
type inProcess struct {
	api   http.Handler
	outer *http.Request // the browser's
	token string
	most  int // bytes of an answer
}

// request returns a request as the API receives it.
func (p inProcess) request(r *http.Request) *http.Request {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "", ""
	r.Host, r.RemoteAddr, r.TLS = p.outer.Host, p.outer.RemoteAddr, p.outer.TLS
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if marker := p.outer.Header.Get("X-Context-Marker"); marker != "" {
		r.Header.Set("X-Context-Marker", marker)
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	return r
}

// RoundTrip implements http.RoundTripper. The answer is in memory.
func (p inProcess) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if at := r.URL.EscapedPath(); strings.Contains(at, "//") || strings.HasSuffix(at, "/") {
		return nil, &refusal{Status: http.StatusBadRequest, Message: "A name is missing."} // else it would be a list of all
	}
	got := &recorder{header: http.Header{}, most: p.most}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the API broke its answer off: %v", p)
		}
	}()
	p.api.ServeHTTP(got, p.request(r))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if got.overflow {
		return nil, &refusal{
			Status: http.StatusRequestEntityTooLarge,
			Message: fmt.Sprintf("This is more than the %d MiB that a page is made of. Ask for less of it, or use the API.",
				p.most>>20),
		}
	}
	got.WriteHeader(http.StatusOK)
	return &http.Response{
		StatusCode: got.status, Header: got.header, Body: io.NopCloser(&got.body), ContentLength: int64(got.body.Len()),
		Request: r,
	}, nil
}

// recorder keeps an answer in memory. It implements http.ResponseWriter.
type recorder struct {
	status   int // 0 until it is known
	header   http.Header
	body     bytes.Buffer
	most     int
	overflow bool // there is more than that
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
}

var errLarge = errors.New("the API's answer is too large for a page")

// Write implements http.ResponseWriter.
func (r *recorder) Write(text []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(text) > r.most {
		r.overflow = true
		return 0, errLarge
	}
	r.body.Write(text)
	return len(text), nil
}

// refusal is an error answer of the API, or an error that a page shows like one.
type refusal struct {
	Status  int
	Message string
	After   int   // seconds until a request may succeed; 0 if unknown
	Absent  bool  // the revision does not exist
	Newest  int64 // the one to look at instead; 0 if there is none

	messages []client.Message
}

// refused returns an error of the client, as a *refusal if it is one.
func refused(err error) error {
	if answered, ok := errors.AsType[*client.Error](err); ok {
		return &refusal{
			Status: answered.Status, Message: answered.Message, After: int(answered.After.Seconds()),
			messages: answered.Messages,
		}
	}
	if refused, ok := errors.AsType[*refusal](err); ok { // of the transport
		return refused
	}
	return err
}

// Error implements error. Several messages are sentences.
func (r *refusal) Error() string {
	var parts []string
	if r.Message != "" {
		parts = append(parts, r.Message)
	}
	for _, m := range r.messages {
		text := m.Message
		if len(m.Documents) == 1 && !strings.Contains(text, "] "+m.Documents[0].Name) {
			text = m.Documents[0].String() + ": " + text
		}
		switch n := len(parts); {
		case m.Message == "" || m.IsRequestHint() && r.Message != "":
		case n == 1 && parts[0] == r.Message && strings.HasPrefix(m.Message, r.Message): // more, or with its document
			parts[0] = text
		default:
			parts = append(parts, text)
		}
	}
	switch len(parts) {
	case 0:
		return http.StatusText(r.Status)
	case 1:
		return parts[0]
	}
	for i, part := range parts {
		parts[i] = words.Ended(part)
	}
	return strings.Join(parts, " ")
}

// refusedWith reports whether an error is a refusal with one of the status codes.
func refusedWith(err error, codes ...int) bool {
	refused, ok := errors.AsType[*refusal](err)
	return ok && slices.Contains(codes, refused.Status)
}

// dropExpected drops errors about parts that a page can do without: those that the user may not see, those that do not
// exist, and those that cannot be made from the documents.
func dropExpected(err error) error {
	if refusedWith(err, http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusBadRequest,
		http.StatusConflict, http.StatusRequestEntityTooLarge) {
		return nil
	}
	return err
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
