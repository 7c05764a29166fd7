package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"purser/test/contract"
)

// request is an HTTP request. Its path is relative to /api/v1.0 unless it begins with a slash.
type request struct {
	method, path string
	body         string
	header       map[string]string
	stream       io.Reader // sent instead of body, in chunks, with unknown length
	bad          bool      // breaks the contract on purpose
}

// answer is the answer to a request.
type answer struct {
	request

	status int
	got    http.Header
	text   string
}

// yamlBody returns the header of requests with a YAML body.
func yamlBody() map[string]string { return map[string]string{"Content-Type": "application/x-yaml"} }

func (s *server) get(t *testing.T, path string, header ...string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodGet, path: path, header: pairs(header)})
}

func (s *server) put(t *testing.T, bucket, documents string) answer {
	t.Helper()
	return s.send(t, request{
		method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents, header: yamlBody(),
	})
}

// putBad is put with a body that breaks the contract.
func (s *server) putBad(t *testing.T, bucket, documents string) answer {
	t.Helper()
	return s.send(t, request{
		method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents, header: yamlBody(), bad: true,
	})
}

func (s *server) post(t *testing.T, path, body string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodPost, path: path, body: body, header: yamlBody()})
}

// report posts the result of a validation of a revision.
func (s *server) report(t *testing.T, revision int, validation, status string) {
	t.Helper()
	s.post(t, fmt.Sprintf("revisions/%d/validations/%s", revision, validation),
		"{status: "+status+", validator: {name: tester, version: '1'}}").is(t, http.StatusCreated)
}

func (s *server) purge(t *testing.T) {
	t.Helper()
	s.send(t, request{method: http.MethodDelete, path: "revisions"}).is(t, http.StatusNoContent)
}

func pairs(list []string) map[string]string {
	header := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		header[list[i]] = list[i+1]
	}
	return header
}

// send sends a request, and checks the request and the answer against the contract.
func (s *server) send(t *testing.T, r request) answer {
	t.Helper()
	a, err := s.try(t.Context(), r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, brief(r.path), err)
	}
	if err := checkContract(s.url, a); err != nil {
		t.Errorf("%s %s (answer %d) breaks openapi.yaml: %v\n%s", r.method, brief(r.path), a.status, err, brief(a.text))
	}
	if strings.Contains(a.text, decoy) {
		t.Errorf("%s %s (answer %d) shows something of another site:\n%s", r.method, brief(r.path), a.status, brief(a.text))
	}
	return a
}

func (s *server) try(ctx context.Context, r request) (answer, error) {
	built, err := build(ctx, s.url, r)
	if err != nil {
		return answer{}, err
	}
	response, err := s.client.Do(built)
	if err != nil {
		return answer{}, fmt.Errorf("send: %w", err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return answer{request: r, status: response.StatusCode, got: response.Header, text: string(text)}, nil
}

func build(ctx context.Context, url string, r request) (*http.Request, error) {
	if !strings.HasPrefix(r.path, "/") {
		r.path = "/api/v1.0/" + r.path
	}
	if r.path == "/" {
		url = strings.TrimSuffix(url, below()) // the front page is about the server
	}
	var body io.Reader = strings.NewReader(r.body)
	if r.stream != nil {
		body = r.stream
	}
	built, err := http.NewRequestWithContext(ctx, r.method, url+r.path, body)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	for name, value := range r.header {
		built.Header.Set(name, value)
	}
	return built, nil
}

func mustContract(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkContract checks a request and its answer against openapi.yaml.
func checkContract(base string, a answer) error {
	c, err := contract.Load()
	if err != nil {
		return err
	}
	sent, err := build(context.Background(), base, a.request)
	if err != nil {
		return err
	}
	if !a.bad && a.stream == nil {
		err = c.CheckRequest(sent, a.body)
	}
	return errors.Join(err, c.CheckAnswer(sent, a.status, a.got, a.text))
}

// is ends the test unless the answer has the given status.
func (a answer) is(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("%s %s: status %d, want %d\n%s", a.method, brief(a.path), a.status, status, brief(a.text))
	}
	return a
}

// fails checks that the answer is an error of the given type whose text contains all parts.
func (a answer) fails(t *testing.T, status int, errorType string, parts ...string) {
	t.Helper()
	a.is(t, status)
	got, _ := a.mapping(t)["details"].(map[string]any)
	if diff := cmp.Diff(errorType, got["errorType"]); diff != "" {
		t.Errorf("errorType (-want +got):\n%s", diff)
	}
	unfolded := fmt.Sprint(a.mapping(t))
	for _, part := range parts {
		if !strings.Contains(unfolded, part) {
			t.Errorf("%q is not in the error, but would help: %s", part, brief(unfolded))
		}
	}
}

// documents decodes a stream of YAML documents or a JSON array.
func (a answer) documents(t *testing.T) []map[string]any {
	t.Helper()
	var documents []map[string]any
	if strings.HasPrefix(a.got.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal([]byte(a.text), &documents); err != nil {
			t.Fatalf("%s %s: %v\n%s", a.method, a.path, err, brief(a.text))
		}
		return documents
	}
	for decoder := yaml.NewDecoder(strings.NewReader(a.text)); ; {
		var document map[string]any
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			t.Fatalf("%s %s: %v\n%s", a.method, a.path, err, brief(a.text))
		}
		documents = append(documents, document)
	}
}

// mapping decodes an answer that is a single mapping.
func (a answer) mapping(t *testing.T) map[string]any {
	t.Helper()
	if strings.HasPrefix(a.got.Get("Content-Type"), "application/json") {
		a.text = "[" + a.text + "]"
	}
	documents := a.documents(t)
	if len(documents) != 1 {
		t.Fatalf("%s %s: %d documents, want one\n%s", a.method, a.path, len(documents), brief(a.text))
	}
	return documents[0]
}

// results returns the items of a list, and checks its count.
func (a answer) results(t *testing.T) []any {
	t.Helper()
	listing := a.is(t, http.StatusOK).mapping(t)
	results, _ := listing["results"].([]any)
	if diff := cmp.Diff(len(results), listing["count"]); diff != "" {
		t.Errorf("count of results (-want +got):\n%s", diff)
	}
	return results
}

// brief shortens text in the output of failed tests.
func brief(text string) string {
	const most = 1500
	text = string(bytes.ToValidUTF8([]byte(text), []byte("?")))
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
