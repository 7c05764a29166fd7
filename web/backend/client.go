package backend

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Client calls the API on behalf of the user of a request.
type Client struct {
	api   http.Handler
	outer *http.Request // the browser's request
	token string
}

// New returns a client for the user of a browser's request. Without a token, the client certificate of the browser's
// connection counts, if there is one.
func New(api http.Handler, outer *http.Request, token string) Client {
	return Client{api, outer, token}
}

// Call is a request to the API.
type Call struct {
	Method string   // "": GET
	Path   []string // below /api/v1.0, not escaped
	Query  url.Values
	Accept string // "": application/json
	Body   []byte // JSON
	Match  string // If-Match
	Last   string // Last-Event-ID
}

// The media types of answers, beside JSON.
const (
	TypeYAML = "application/x-yaml"
	TypeText = "text/plain"
	TypeHTML = "text/html"
)

const typeJSON = "application/json"

// Get requests JSON and decodes it.
func (c Client) Get(ctx context.Context, into any, query url.Values, path ...string) error {
	answer, err := c.Do(ctx, Call{Path: path, Query: query})
	if err != nil {
		return err
	}
	return answer.Decode(into)
}

// Text requests text of a media type.
func (c Client) Text(ctx context.Context, accept string, query url.Values, path ...string) (string, error) {
	answer, err := c.Do(ctx, Call{Path: path, Query: query, Accept: accept})
	if err != nil {
		return "", err
	}
	return string(answer.Body), nil
}

// Do sends a request to the API and returns its answer. An error answer is returned as a *Refusal.
func (c Client) Do(ctx context.Context, call Call) (Answer, error) {
	request, err := c.request(ctx, call)
	if err != nil {
		return Answer{}, err
	}
	got, err := record(c.api, request)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{got.header, got.body.Bytes()}
	if got.status/100 != 2 {
		return Answer{}, answer.refusal(ctx, got.status)
	}
	return answer, nil
}

// Forward sends a request to the API, which writes its answer to w.
func (c Client) Forward(ctx context.Context, w http.ResponseWriter, call Call) error {
	request, err := c.request(ctx, call)
	if err != nil {
		return err
	}
	c.api.ServeHTTP(w, request)
	return nil
}

// request returns the request to send to the API.
func (c Client) request(ctx context.Context, call Call) (*http.Request, error) {
	escaped := make([]string, len(call.Path))
	for i, step := range call.Path {
		if step == "" { // the API treats a path that ends there as the list of all
			return nil, &Refusal{Status: http.StatusBadRequest, Message: "A name is missing."}
		}
		escaped[i] = url.PathEscape(step)
	}
	target := "/api/v1.0/" + strings.Join(escaped, "/")
	if len(call.Query) > 0 {
		target += "?" + call.Query.Encode()
	}
	body := io.Reader(http.NoBody)
	if call.Body != nil {
		body = bytes.NewReader(call.Body)
	}
	method := call.Method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, fmt.Errorf("build a request for the API: %w", err)
	}
	request.Host, request.RemoteAddr, request.TLS = c.outer.Host, c.outer.RemoteAddr, c.outer.TLS
	request.Proto, request.ProtoMajor, request.ProtoMinor = "HTTP/1.1", 1, 1
	c.setHeader(request.Header, call)
	return request, nil
}

func (c Client) setHeader(header http.Header, call Call) {
	header.Set("Accept", typeJSON)
	accept := ""
	if call.Accept != "" {
		accept = call.Accept + ", application/json;q=0.1" // errors have another type
	}
	set := map[string]string{
		"Accept": accept, "If-Match": call.Match, "Last-Event-ID": call.Last,
		"X-Context-Marker": c.outer.Header.Get("X-Context-Marker"),
	}
	if c.token != "" {
		set["Authorization"] = "Bearer " + c.token
	}
	if call.Body != nil {
		set["Content-Type"] = typeJSON
	}
	for name, value := range set {
		if value != "" {
			header.Set(name, value)
		}
	}
}

// Together does several things concurrently and returns the first error. It cancels the others as if the user had
// disconnected: any other cause would be logged as an error of the server.
func Together(ctx context.Context, work ...func(context.Context) error) (first error) {
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
