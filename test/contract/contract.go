// Package contract checks requests and answers of the API against openapi.yaml, for tests.
package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"gopkg.in/yaml.v3"

	"purser"
)

// Contract is openapi.yaml, parsed once.
type Contract struct {
	Doc *openapi3.T
	// plain is Doc as OpenAPI 3.0, for parameters and headers: for 3.1, the library would compile their schemas again for
	// each value. TestContract_parameters checks that they use no keyword that 3.0 lacks.
	plain  *openapi3.T
	bodies *schemas
}

// Load returns the contract.
var Load = sync.OnceValues(func() (*Contract, error) {
	text, err := withOthers(purser.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml with x-content: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("load openapi.yaml: %w", err)
	}
	bodies, err := newSchemas(doc)
	if err != nil {
		return nil, err
	}
	for _, header := range doc.Components.Headers {
		if schema := header.Value.Schema.Value; schema.Const != nil { // a keyword that 3.0 lacks
			schema.Enum, schema.Const = []any{schema.Const}, nil
		}
	}
	plain := *doc
	plain.OpenAPI = "3.0.3"
	return &Contract{Doc: doc, plain: &plain, bodies: bodies}, nil
})

// withOthers returns openapi.yaml with the media types of x-content, from which no clients are generated, as content.
func withOthers(text []byte) ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read it: %w", err)
	}
	addOthers(document)
	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write it: %w", err)
	}
	return text, nil
}

// addOthers adds the members of each x-content in a value to the content beside it.
func addOthers(value any) {
	switch v := value.(type) {
	case map[string]any:
		others, _ := v["x-content"].(map[string]any)
		if content, ok := v["content"].(map[string]any); ok {
			maps.Copy(content, others)
		}
		for _, member := range v {
			addOthers(member)
		}
	case []any:
		for _, item := range v {
			addOthers(item)
		}
	}
}

// CheckRequest checks a request with this body. It accepts any request that matches no operation.
func (c *Contract) CheckRequest(r *http.Request, body string) error {
	input := c.input(r)
	operation := input.Route.Operation
	if operation == nil {
		return nil
	}
	if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	described := operation.RequestBody
	if described == nil || body == "" && !described.Value.Required {
		return nil
	}
	if err := c.checkBody(described.Value.Content, r.Header, body); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}

// CheckAnswer checks the status, the headers and, except for HEAD, the body of the answer to a request.
func (c *Contract) CheckAnswer(r *http.Request, status int, header http.Header, body string) error {
	input := c.input(r)
	if input.Route.Operation == nil || isBelowSite(r) && (status == http.StatusNotFound || status == http.StatusGone) {
		input.Route.Operation = c.everywhere(status)
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true},
	}
	if err := openapi3filter.ValidateResponse(context.Background(), response); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	content := input.Route.Operation.Responses.Status(status).Value.Content
	switch {
	case len(content) == 0 && body != "":
		return errors.New("answer: a body where there is none in the contract")
	case len(content) == 0 || r.Method == http.MethodHead || status == http.StatusNotModified:
		return nil
	}
	if err := c.checkBody(content, header, body); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// input returns a request for the checks of the library.
func (c *Contract) input(r *http.Request) *openapi3filter.RequestValidationInput {
	route, params := c.route(r)
	return &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			// Whether a token is needed depends on the server's flags.
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			ExcludeRequestBody: true, SkipSettingDefaults: true,
		},
	}
}

// maxChecked bounds the bodies that are checked, in bytes. Larger ones have the same shape as others, and take long.
const maxChecked = 64 << 10

func (c *Contract) checkBody(content openapi3.Content, header http.Header, text string) error {
	kind, _, _ := strings.Cut(strings.ToLower(header.Get("Content-Type")), ";")
	described := content.Get(kind)
	if described == nil && kind == "application/yaml" {
		described = content["application/x-yaml"]
	}
	if described == nil {
		return fmt.Errorf("a body of type %q, which the contract does not know here", kind)
	}
	if described.Schema == nil || len(text) > maxChecked || isCoded(header) {
		return nil
	}
	return c.bodies.check(described.Schema.Value, kind, text)
}

// isCoded reports whether a body is compressed.
func isCoded(header http.Header) bool {
	coding := header.Get("Content-Encoding")
	return coding != "" && coding != "identity"
}

// isBelowSite reports whether a path begins with that of a site. Its requests are answered with 404 if there is no such
// site, and with 410 while it is being deleted, whatever the operation. Below "-", which stands for all sites, there
// are paths of their own.
func isBelowSite(r *http.Request) bool {
	sent := strings.Split(strings.TrimSuffix(r.URL.EscapedPath(), "/"), "/")
	return len(sent) > 3 && sent[1] == "sites" && sent[2] != "-"
}

// route returns the path of the contract that matches a request, with its operation if there is one.
func (c *Contract) route(r *http.Request) (*routers.Route, map[string]string) {
	sent := strings.Split(strings.TrimSuffix(r.URL.EscapedPath(), "/"), "/")
	if isBelowSite(r) { // each path also exists there
		sent = append([]string{""}, sent[3:]...)
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, path := range c.Doc.Paths.InMatchingOrder() {
		if params, ok := matches(strings.Split(strings.TrimSuffix(path, "/"), "/"), sent); ok {
			item := c.Doc.Paths.Value(path)
			return &routers.Route{Spec: c.plain, Path: path, PathItem: item, Operation: item.GetOperation(method)}, params
		}
	}
	return &routers.Route{Spec: c.plain, PathItem: &openapi3.PathItem{}}, nil
}

func matches(pattern, sent []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range pattern {
		switch {
		case len(sent) != len(pattern):
			return nil, false
		case strings.HasPrefix(part, "{") && sent[i] != "":
			params[strings.Trim(part, "{}")], _ = url.PathUnescape(sent[i])
		case part != sent[i]:
			return nil, false
		}
	}
	return params, true
}

// everywhere returns what the contract says about requests that match no operation.
func (c *Contract) everywhere(status int) *openapi3.Operation {
	name := map[int]string{
		http.StatusNotFound: "NoSuchRoute", http.StatusGone: "SiteDeleted", http.StatusMethodNotAllowed: "MethodNotAllowed",
		http.StatusUnsupportedMediaType: "UnsupportedType", http.StatusBadRequest: "BadDocuments",
		http.StatusUnauthorized: "Unauthenticated", http.StatusServiceUnavailable: "Unavailable",
	}[status]
	response := c.Doc.Components.Responses[name]
	if response == nil { // OPTIONS
		response = &openapi3.ResponseRef{Value: openapi3.NewResponse()}
	}
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, response))}
}
