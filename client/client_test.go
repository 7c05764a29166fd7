package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"purser/client"
)

// answers has the body of each answer of a server, and its status if that is not 200.
var answers = map[string]string{
	"PUT /api/v1.0/buckets/site/documents?message=renumbered": `[]`,
	"POST /api/v1.0/revisions/5/validations/my-validation":    `201 {"revision": 5, "status": "success", "validator": {}}`,
	"GET /api/v1.0/revisions/5/status?expect=success&wait=10m0s": `{"revision": 5, "status": "success",
		"policies": [{"name": "ready", "status": "success"}], "ignored": []}`,
	"GET /api/v1.0/revisions/latest/documents?schema=acme%2FHost%2Fv1": `[{"schema": "acme/Host/v1", "data": {"rack": 3}}]`,
	"GET /api/v1.0/revisions/9": `404 {"kind": "Status", "message": "There is no revision 9",
		"details": {"errorType": "RevisionNotFound", "messageList": []}}`,
	"GET /api/v1.0/revisions/8": `401 {"kind": "Status", "message": "Send a token",
		"details": {"errorType": "HTTPUnauthorized", "messageList": []}}`,
}

// serve answers requests by answers.
func serve() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusOK, answers[r.Method+" "+r.URL.RequestURI()]
		if _, err := fmt.Sscanf(body, "%d", &status); err == nil {
			body = body[len("404 "):]
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Purser-Revision", "5")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
}

func ExampleClient() {
	server := serve()
	defer server.Close()
	ctx := context.Background()
	c, err := client.New(server.URL, client.WithToken("prs_secret"), client.WithTimeout(time.Minute))
	if err != nil {
		panic(err)
	}
	documents := []byte("schema: acme/Host/v1\nmetadata: {schema: metadata/Control/v1, name: cmp-1}\ndata: {rack: 3}\n")
	written, err := c.Put(ctx, "site", documents, client.Change{Message: "renumbered", MaxDeleted: client.AnyNumber})
	if err != nil {
		panic(err)
	}
	result := client.Result{Status: "success", Validator: map[string]string{"name": "mine", "version": "1.0"}}
	if _, err := c.PostResult(ctx, written.Revision, "my-validation", result); err != nil {
		panic(err)
	}
	verdict, err := c.Wait(ctx, written.Revision, 10*time.Minute)
	if err != nil {
		panic(err)
	}
	fmt.Println("revision", verdict.Revision, verdict.Status, verdict.Policies[0].Name)
	if _, err := c.Revision(ctx, "9"); err != nil {
		refused, ok := errors.AsType[*client.Error](err)
		fmt.Println(ok, refused.Status, refused.Type)
	}
	// Output:
	// revision 5 success ready
	// true 404 RevisionNotFound
}

func TestClient_Documents(t *testing.T) {
	t.Parallel()
	server := serve()
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var hosts []struct {
		Schema string
		Data   struct{ Rack int }
	}
	err = c.Documents(t.Context(), "latest", map[string][]string{"schema": {"acme/Host/v1"}}, &hosts)
	if err != nil || len(hosts) != 1 || hosts[0].Data.Rack != 3 {
		t.Errorf("hosts %+v, error %v", hosts, err)
	}
}

// Errors name no flag, variable or command of the command purser, which a program that uses the package does not have.
func TestClient_errors(t *testing.T) {
	t.Parallel()
	server := serve()
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.WithTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Revision(t.Context(), "8")
	if diff := cmp.Diff("Send a token", fmt.Sprint(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	lost, err := client.New(server.URL, client.WithTransport(breaks{}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = lost.Rollback(t.Context(), "1", client.Change{})
	if text := fmt.Sprint(err); !strings.Contains(text, "Whether the change was made is not known") ||
		strings.Contains(text, "purser ") || strings.Contains(text, "--") {
		t.Errorf("error %s", text)
	}
}

// breaks fails after it may have sent a request.
type breaks struct{}

func (breaks) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("connection reset")
}
