package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"purser"
	"purser/api"
)

// contract is openapi.yaml.
var contract = sync.OnceValues(func() (*openapi3.T, error) {
	for _, kind := range []string{"application/x-yaml", "application/yaml"} {
		openapi3filter.RegisterBodyDecoder(kind, decodeYAML)
	}
	for _, kind := range []string{typeGraphviz, typeSVG, "text/html", "text/markdown"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
	doc, err := openapi3.NewLoader().LoadFromData(purser.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("load openapi.yaml: %w", err)
	}
	return doc, doc.Validate(context.Background())
})

// decodeYAML presents a stream as an array where the contract has an array, as openapi.yaml says.
func decodeYAML(body io.Reader, _ http.Header, schema *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	documents := []any{}
	decoder := yaml.NewDecoder(body)
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read YAML: %w", err)
		}
		if document, err = plain(document); err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return presented(documents, schema.Value)
}

// presented is a stream as a schema has it; of several schemas, as the first that it obeys.
func presented(documents []any, schema *openapi3.Schema) (any, error) {
	for _, alternative := range schema.OneOf {
		value, err := presented(documents, alternative.Value)
		if err == nil && alternative.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()) == nil {
			return value, nil
		}
	}
	switch {
	case schema.Type.Is("array"):
		return documents, nil
	case len(documents) != 1:
		return nil, fmt.Errorf("%d YAML documents where one is expected", len(documents))
	}
	return documents[0], nil
}

// plain makes what the YAML library returns what the JSON library would.
func plain(value any) (any, error) {
	text, err := json.Marshal(withTextKeys(value))
	if err != nil {
		return nil, fmt.Errorf("not representable as JSON: %w", err)
	}
	var same any
	if err := json.Unmarshal(text, &same); err != nil {
		return nil, fmt.Errorf("read it back: %w", err)
	}
	return same, nil
}

// withTextKeys makes keys that are numbers text, as the server does.
func withTextKeys(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = withTextKeys(member)
		}
	case map[any]any:
		text := map[string]any{}
		for key, member := range v {
			text[fmt.Sprint(key)] = withTextKeys(member)
		}
		return text
	case []any:
		for i, item := range v {
			v[i] = withTextKeys(item)
		}
	}
	return value
}

// checkContract holds a request and its answer against openapi.yaml.
func checkContract(base string, a answer) error {
	doc, err := contract()
	if err != nil {
		return err
	}
	sent, err := build(context.Background(), base, a.request)
	if err != nil {
		return err
	}
	route, params := route(doc, sent)
	input := &openapi3filter.RequestValidationInput{
		Request: sent, PathParams: params, Route: route,
		// Whether a token is needed depends on how the server was started.
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
	}
	if !a.bad && a.stream == nil && route.Operation != nil {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("request: %w", err)
		}
	}
	if route.Operation == nil {
		route.Operation = everywhere(doc, a.status)
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.got, Body: io.NopCloser(strings.NewReader(a.text)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateResponse(context.Background(), response); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return checkBodiless(a, route.Operation)
}

// checkBodiless makes sure that there is no body where the contract has none: the library does not look.
func checkBodiless(a answer, operation *openapi3.Operation) error {
	described := operation.Responses.Status(a.status)
	if len(described.Value.Content) > 0 || a.text == "" {
		return nil
	}
	return errors.New("answer: a body where there is none in the contract")
}

// route finds the path of the contract that a request is for, and its operation if there is one.
func route(doc *openapi3.T, r *http.Request) (*routers.Route, map[string]string) {
	sent := strings.Split(strings.TrimSuffix(r.URL.EscapedPath(), "/"), "/")
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, path := range doc.Paths.InMatchingOrder() {
		if params, ok := matches(strings.Split(path, "/"), sent); ok {
			item := doc.Paths.Value(path)
			return &routers.Route{Spec: doc, Path: path, PathItem: item, Operation: item.GetOperation(method)}, params
		}
	}
	return &routers.Route{Spec: doc, PathItem: &openapi3.PathItem{}}, nil
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

// everywhere is what the contract says of requests that are for none of its operations.
func everywhere(doc *openapi3.T, status int) *openapi3.Operation {
	name := map[int]string{
		http.StatusNotFound: "NoSuchRoute", http.StatusMethodNotAllowed: "MethodNotAllowed",
		http.StatusUnsupportedMediaType: "UnsupportedType", http.StatusBadRequest: "BadDocuments",
		http.StatusUnauthorized: "Unauthenticated",
	}[status]
	response := doc.Components.Responses[name]
	if response == nil { // OPTIONS
		response = &openapi3.ResponseRef{Value: openapi3.NewResponse()}
	}
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, response))}
}

func mustContract(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestContract_routes(t *testing.T) {
	t.Parallel()
	described := map[string][]string{}
	for path, item := range mustContract(t).Paths.Map() {
		described[path] = slices.Sorted(maps.Keys(item.Operations()))
	}
	served := api.Routes()
	for _, methods := range served {
		slices.Sort(methods)
	}
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("routes (-openapi.yaml +server):\n%s", diff)
	}
}

func TestContract_examples(t *testing.T) {
	t.Parallel()
	for path, item := range mustContract(t).Paths.Map() {
		for method, operation := range item.Operations() {
			t.Run(method+" "+path, func(t *testing.T) {
				t.Parallel()
				for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
					if parameter.Value.Example == nil {
						t.Errorf("the parameter %s has no example", parameter.Value.Name)
					}
				}
				if operation.RequestBody != nil {
					checkExamples(t, "request", operation.RequestBody.Value.Content)
				}
				for status, response := range operation.Responses.Map() {
					checkExamples(t, status, response.Value.Content)
				}
			})
		}
	}
}

func checkExamples(t *testing.T, where string, content openapi3.Content) {
	t.Helper()
	for kind, body := range content {
		if len(body.Examples) == 0 {
			t.Errorf("%s as %s has no example", where, kind)
		}
		for name, example := range body.Examples {
			err := body.Schema.Value.VisitJSON(example.Value.Value, openapi3.EnableJSONSchema2020())
			if err != nil {
				t.Errorf("%s as %s: the example %s does not obey its schema: %v", where, kind, name, err)
			}
		}
	}
}

func TestContract_isServed(t *testing.T) {
	t.Parallel()
	got := start(t).get(t, "/openapi.yaml").is(t, http.StatusOK)
	if !bytes.Equal(purser.OpenAPI, []byte(got.text)) {
		t.Error("the server serves another text than openapi.yaml")
	}
}

// Of the checks themselves: they find what differs.
func TestContract_isHeldAgainst(t *testing.T) {
	t.Parallel()
	mustContract(t)
	good := answer{
		request: request{method: http.MethodGet, path: "revisions"}, status: http.StatusOK, text: "{count: 0, results: []}",
		got: http.Header{
			"Content-Type":   {"application/x-yaml"},
			"Etag":           {`"2c5d120bab1ac9e9"`},
			"Vary":           {"Accept"},
			"X-Deckhand-Req": {"req-0b9d4a5e-3f0c-4d8e-9c59-6f2f0f4a1c7d"},
		},
	}
	if err := checkContract("http://x", good); err != nil {
		t.Fatalf("what obeys the contract is refused: %v", err)
	}
	for name, spoil := range map[string]func(*answer){
		"status":         func(a *answer) { a.status = http.StatusTeapot },
		"media type":     func(a *answer) { a.got.Set("Content-Type", "text/html") },
		"missing key":    func(a *answer) { a.text = "{results: []}" },
		"extra key":      func(a *answer) { a.text = "{count: 0, results: [], more: 1}" },
		"two documents":  func(a *answer) { a.text += "\n---\n{}" },
		"missing header": func(a *answer) { a.got.Del("X-Deckhand-Req") },
		"wrong header":   func(a *answer) { a.got.Set("X-Deckhand-Req", "1") },
		"wrong request":  func(a *answer) { a.path = "revisions?limit=x" },
	} {
		bad := good
		bad.got = good.got.Clone()
		spoil(&bad)
		if checkContract("http://x", bad) == nil {
			t.Errorf("a wrong %s goes unnoticed", name)
		}
	}
}
