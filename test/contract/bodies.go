package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v5" //nolint:depguard // for answers; it checks no documents here
	"gopkg.in/yaml.v3"
)

// schemas checks bodies against the schemas of openapi.yaml. It compiles each schema once.
type schemas struct {
	mutex    sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[*openapi3.Schema]*jsonschema.Schema
}

// contractURL is the URL of openapi.yaml for the compiler.
const contractURL = "contract:///openapi.json"

func newSchemas(doc *openapi3.T) (*schemas, error) {
	text, err := doc.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml as JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.Draft, compiler.AssertFormat = jsonschema.Draft2020, true
	if err := compiler.AddResource(contractURL, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("openapi.yaml as a schema: %w", err)
	}
	return &schemas{compiler: compiler, compiled: map[*openapi3.Schema]*jsonschema.Schema{}}, nil
}

// compile returns the compiled form of a schema.
func (s *schemas) compile(schema *openapi3.Schema) (*jsonschema.Schema, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if compiled := s.compiled[schema]; compiled != nil {
		return compiled, nil
	}
	text, err := schema.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("schema as JSON: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte(`"$ref":"#/`), []byte(`"$ref":"`+contractURL+`#/`))
	url := fmt.Sprintf("contract:///%d.json", len(s.compiled))
	if err := s.compiler.AddResource(url, bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("add schema: %w", err)
	}
	compiled, err := s.compiler.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	s.compiled[schema] = compiled
	return compiled, nil
}

// valid checks a value that was decoded by encoding/json.
func (s *schemas) valid(schema *openapi3.Schema, value any) error {
	compiled, err := s.compile(schema)
	if err != nil {
		return err
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("the body: %#w", err)
	}
	return nil
}

// check decodes a body according to its media type and checks it.
func (s *schemas) check(schema *openapi3.Schema, kind, text string) error {
	var value any = text
	var err error
	switch kind, _, _ := strings.Cut(kind, ";"); {
	case strings.HasSuffix(kind, "json"):
		err = json.Unmarshal([]byte(text), &value)
	case strings.HasSuffix(kind, "yaml"):
		value, err = s.decodeYAML(schema, text)
	}
	if err != nil {
		return fmt.Errorf("decode the body: %w", err)
	}
	return s.valid(schema, value)
}

// decodeYAML decodes a stream of documents, as an array if the schema is for one.
func (s *schemas) decodeYAML(schema *openapi3.Schema, text string) (any, error) {
	documents := []any{}
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return s.presented(documents, schema)
		}
		if err != nil {
			return nil, fmt.Errorf("read YAML: %w", err)
		}
		if document, err = Plain(document); err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// presented returns the documents of a stream in the form that the schema requires. If the schema has alternatives, the
// first that accepts the documents is used.
func (s *schemas) presented(documents []any, schema *openapi3.Schema) (any, error) {
	for _, alternative := range schema.OneOf {
		value, err := s.presented(documents, alternative.Value)
		if err == nil && s.valid(alternative.Value, value) == nil {
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

// Plain converts a value of the YAML library to one of the JSON library.
func Plain(value any) (any, error) {
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

// withTextKeys converts numeric keys to strings, as the server does.
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
