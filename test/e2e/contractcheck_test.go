package e2e_test

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

// contract is openapi.yaml, parsed once.
type contract struct {
	doc *openapi3.T
	// plain is doc as OpenAPI 3.0, for parameters and headers: for 3.1, the library would compile their schemas again for
	// each value. TestContract_parameters checks that they use no keyword that 3.0 lacks.
	plain  *openapi3.T
	bodies *schemas
}

var loadContract = sync.OnceValues(func() (*contract, error) {
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
	return &contract{doc: doc, plain: &plain, bodies: bodies}, nil
})

// withOthers returns openapi.yaml with the media types of x-content, from which no clients are generated, as content.
func withOthers(text []byte) ([]byte, error) {
	var document map[string]any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	addOthers(document)
	return yaml.Marshal(document)
}

// addOthers adds the members of each x-content in a value to the content beside it.
func addOthers(value any) {
	switch v := value.(type) {
	case map[string]any:
		if others, ok := v["x-content"].(map[string]any); ok {
			maps.Copy(v["content"].(map[string]any), others)
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

// checkContract checks a request and its answer against openapi.yaml.
func checkContract(base string, a answer) error {
	c, err := loadContract()
	if err != nil {
		return err
	}
	sent, err := build(context.Background(), base, a.request)
	if err != nil {
		return err
	}
	route, params := c.route(sent)
	input := &openapi3filter.RequestValidationInput{
		Request: sent, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			// Whether a token is needed depends on the server's flags.
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			ExcludeRequestBody: true,
		},
	}
	if !a.bad && a.stream == nil && route.Operation != nil {
		if err := c.checkRequest(input, a); err != nil {
			return fmt.Errorf("request: %w", err)
		}
	}
	if route.Operation == nil {
		route.Operation = c.everywhere(a.status)
	}
	if err := c.checkAnswer(input, a); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

func (c *contract) checkRequest(input *openapi3filter.RequestValidationInput, a answer) error {
	if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
		return err
	}
	described := input.Route.Operation.RequestBody
	if described == nil || a.body == "" && !described.Value.Required {
		return nil
	}
	return c.checkBody(described.Value.Content, input.Request.Header, a.body)
}

// checkAnswer checks the status, the headers and, except for HEAD, the body.
func (c *contract) checkAnswer(input *openapi3filter.RequestValidationInput, a answer) error {
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.got,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: true},
	}
	if err := openapi3filter.ValidateResponse(context.Background(), response); err != nil {
		return err
	}
	content := input.Route.Operation.Responses.Status(a.status).Value.Content
	switch {
	case len(content) == 0 && a.text != "":
		return errors.New("a body where there is none in the contract")
	case len(content) == 0 || a.method == http.MethodHead || a.status == http.StatusNotModified:
		return nil
	}
	return c.checkBody(content, a.got, a.text)
}

// maxChecked bounds the bodies that are checked, in bytes. Larger ones have the same shape as others, and take long.
const maxChecked = 64 << 10

func (c *contract) checkBody(content openapi3.Content, header http.Header, text string) error {
	kind := header.Get("Content-Type")
	described := content.Get(kind)
	if described == nil && kind == "application/yaml" {
		described = content["application/x-yaml"]
	}
	if described == nil {
		return fmt.Errorf("a body of type %q, which the contract does not know here", kind)
	}
	if described.Schema == nil || len(text) > maxChecked {
		return nil
	}
	return c.bodies.check(described.Schema.Value, kind, text)
}

// route returns the path of the contract that matches a request, with its operation if there is one.
func (c *contract) route(r *http.Request) (*routers.Route, map[string]string) {
	sent := strings.Split(strings.TrimSuffix(r.URL.EscapedPath(), "/"), "/")
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, path := range c.doc.Paths.InMatchingOrder() {
		if params, ok := matches(strings.Split(strings.TrimSuffix(path, "/"), "/"), sent); ok {
			item := c.doc.Paths.Value(path)
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
func (c *contract) everywhere(status int) *openapi3.Operation {
	name := map[int]string{
		http.StatusNotFound: "NoSuchRoute", http.StatusMethodNotAllowed: "MethodNotAllowed",
		http.StatusUnsupportedMediaType: "UnsupportedType", http.StatusBadRequest: "BadDocuments",
		http.StatusUnauthorized: "Unauthenticated",
	}[status]
	response := c.doc.Components.Responses[name]
	if response == nil { // OPTIONS
		response = &openapi3.ResponseRef{Value: openapi3.NewResponse()}
	}
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, response))}
}
