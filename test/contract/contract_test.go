package contract

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"purser"
	"purser/api"
)

func mustContract(t *testing.T) *Contract {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract_isOpenAPI(t *testing.T) {
	t.Parallel()
	// TestContract_examples checks the examples with schemas that are compiled once.
	if err := mustContract(t).Doc.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

// Parameters and headers are checked as OpenAPI 3.0, which ignores keywords that it does not know, so they must not
// have any.
func TestContract_parameters(t *testing.T) {
	t.Parallel()
	c := mustContract(t)
	for path, item := range c.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
				isPlain(t, method+" "+path+" "+parameter.Value.Name, parameter.Value.Schema)
			}
			for status, response := range operation.Responses.Map() {
				for name, header := range response.Value.Headers {
					isPlain(t, method+" "+path+" "+status+" "+name, header.Value.Schema)
				}
			}
		}
	}
}

// isPlain checks that a schema is valid in OpenAPI 3.0.
func isPlain(t *testing.T, where string, schema *openapi3.SchemaRef) {
	t.Helper()
	if err := schema.Value.Validate(t.Context(), openapi3.DisableExamplesValidation()); err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

// Generators make a type of each component, whatever section it is in, and one of each answer, whatever its media type.
// They cannot encode alternatives that have no name.
func TestContract_isForGenerators(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(purser.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(
		slices.Collect(maps.Keys(doc.Components.Schemas)), slices.Collect(maps.Keys(doc.Components.Parameters)),
		slices.Collect(maps.Keys(doc.Components.Responses)), slices.Collect(maps.Keys(doc.Components.Headers)),
	)
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) < len(names) {
		t.Errorf("a schema, parameter, response or header has the name of another: %s", cmp.Diff(unique, names))
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody != nil {
				isOneType(t, operation.OperationID+" request", operation.RequestBody.Value.Content)
			}
			for status, response := range operation.Responses.Map() {
				isOneType(t, operation.OperationID+" "+status, response.Value.Content)
			}
		}
	}
}

// isOneType checks that a body that may be JSON is otherwise YAML, and that its alternatives have a name.
func isOneType(t *testing.T, where string, content openapi3.Content) {
	t.Helper()
	for kind, body := range content {
		if content["application/json"] != nil && kind != "application/json" && kind != "application/x-yaml" {
			t.Errorf("%s: %s beside JSON; list it as x-content", where, kind)
		}
		if schema := body.Schema; schema.Ref == "" && len(schema.Value.OneOf)+len(schema.Value.AnyOf) > 0 {
			t.Errorf("%s as %s: make a component of the alternatives", where, kind)
		}
	}
}

func TestContract_routes(t *testing.T) {
	t.Parallel()
	described := map[string]map[string][]string{}
	for path, item := range mustContract(t).Doc.Paths.Map() {
		described[path] = map[string][]string{}
		for method, operation := range item.Operations() {
			described[path][method] = nil
			for _, parameter := range operation.Parameters {
				if parameter.Value.In == openapi3.ParameterInQuery {
					described[path][method] = append(described[path][method], parameter.Value.Name)
				}
			}
			slices.Sort(described[path][method])
		}
	}
	served := api.Routes()
	for _, methods := range served {
		for _, parameters := range methods {
			slices.Sort(parameters)
		}
	}
	if diff := cmp.Diff(described, served); diff != "" {
		t.Errorf("routes (-openapi.yaml +server):\n%s", diff)
	}
}

func TestContract_examples(t *testing.T) {
	t.Parallel()
	for path, item := range mustContract(t).Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			t.Run(method+" "+path, func(t *testing.T) {
				t.Parallel()
				for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
					if parameter.Value.Example == nil {
						t.Errorf("the parameter %s has no example", parameter.Value.Name)
					} else if err := mustContract(t).bodies.valid(parameter.Value.Schema.Value, parameter.Value.Example); err != nil {
						t.Errorf("the example of the parameter %s does not obey its schema: %v", parameter.Value.Name, err)
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
			err := mustContract(t).bodies.valid(body.Schema.Value, example.Value.Value)
			if err != nil {
				t.Errorf("%s as %s: the example %s does not obey its schema: %v", where, kind, name, err)
			}
		}
	}
}

// The contract checks detect deviations.
func TestContract_isHeldAgainst(t *testing.T) {
	t.Parallel()
	c := mustContract(t)
	good := exchange{path: "/api/v1.0/revisions", status: http.StatusOK, text: "{count: 0, results: []}", header: http.Header{
		"Content-Type":           {"application/x-yaml"},
		"Etag":                   {`"2c5d120bab1ac9e9"`},
		"Vary":                   {"Accept, Accept-Encoding"},
		"X-Content-Type-Options": {"nosniff"},
		"X-Deckhand-Req":         {"req-0b9d4a5e-3f0c-4d8e-9c59-6f2f0f4a1c7d"},
	}}
	if err := good.check(c); err != nil {
		t.Fatalf("what obeys the contract is refused: %v", err)
	}
	for name, spoil := range map[string]func(*exchange){
		"status":         func(e *exchange) { e.status = http.StatusTeapot },
		"media type":     func(e *exchange) { e.header.Set("Content-Type", "text/html") },
		"missing key":    func(e *exchange) { e.text = "{results: []}" },
		"extra key":      func(e *exchange) { e.text = "{count: 0, results: [], more: 1}" },
		"two documents":  func(e *exchange) { e.text += "\n---\n{}" },
		"missing header": func(e *exchange) { e.header.Del("X-Deckhand-Req") },
		"wrong header":   func(e *exchange) { e.header.Set("X-Deckhand-Req", "1") },
		"wrong request":  func(e *exchange) { e.path += "?limit=x" },
	} {
		bad := good
		bad.header = good.header.Clone()
		spoil(&bad)
		if bad.check(c) == nil {
			t.Errorf("a wrong %s goes unnoticed", name)
		}
	}
}

// exchange is a GET and its answer.
type exchange struct {
	path   string
	status int
	header http.Header
	text   string
}

func (e exchange) check(c *Contract) error {
	r := httptest.NewRequest(http.MethodGet, e.path, http.NoBody)
	return errors.Join(c.CheckRequest(r, ""), c.CheckAnswer(r, e.status, e.header, e.text))
}
