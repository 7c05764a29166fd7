// Command clients tries the clients that oapi-codegen and ogen generate from openapi.yaml on a running server: each PUTs
// a ValidationPolicy, reads the status, waits for it to be a success, and posts the result that it waits for.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"purser/tools/clients/gen/oapi"
)

// client is what is tried of a generated client.
type client interface {
	// put PUTs a policy that lists a validation.
	put(ctx context.Context, validation string) error
	// status returns the status of the newest revision, as soon as it is a success or after a wait.
	status(ctx context.Context, wait string) (string, error)
	// post posts a success of a validation of the newest revision.
	post(ctx context.Context, validation string) error
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: clients URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for name, of := range map[string]func(string) (client, error){"oapi-codegen": newOapi, "ogen": newOgen} {
		c, err := of(os.Args[1])
		if err == nil {
			err = try(ctx, c, name+"-validation")
		}
		if err != nil {
			log.Fatalf("%s: %v", name, err) //nolint:gocritic // the context ends with the process
		}
		fmt.Printf("%s: put, waited and posted\n", name)
	}
}

// try makes a revision that waits for a result, waits for it, and posts it meanwhile.
func try(ctx context.Context, c client, validation string) error {
	if err := c.put(ctx, validation); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	if status, err := c.status(ctx, "0s"); status != "failure" || err != nil {
		return fmt.Errorf("the status is %q, want failure; error %w", status, err)
	}
	posted := make(chan error)
	go func() { posted <- c.post(ctx, validation) }()
	status, err := c.status(ctx, "30s")
	if failed := <-posted; failed != nil {
		return fmt.Errorf("post: %w", failed)
	}
	if status != "success" || err != nil {
		return fmt.Errorf("the status is %q, want success; error %w", status, err)
	}
	return nil
}

// acceptJSON adds the header without which the server answers YAML.
func acceptJSON(_ context.Context, request *http.Request) error {
	request.Header.Set("Accept", "application/json")
	return nil
}

type oapiClient struct{ *oapi.ClientWithResponses }

func newOapi(server string) (client, error) {
	c, err := oapi.NewClientWithResponses(server, oapi.WithRequestEditorFn(acceptJSON))
	return oapiClient{c}, err
}

func (c oapiClient) put(ctx context.Context, validation string) error {
	var metadata oapi.SubmittedDocument_Metadata
	if err := metadata.FromControlMetadata(oapi.ControlMetadata{Name: "ready"}); err != nil {
		return err
	}
	var data any = policy(validation)
	var body oapi.Submission
	if err := body.FromSubmittedDocuments(oapi.SubmittedDocuments{{
		Schema: "deckhand/ValidationPolicy/v1", Metadata: metadata, Data: &data,
	}}); err != nil {
		return err
	}
	answer, err := c.PutBucketWithResponse(ctx, "clients", nil, body)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return fmt.Errorf("%s %s", answer.Status(), answer.Body)
	}
	written, err := answer.JSON200.AsPutAnswer()
	if err != nil || len(written) != 1 {
		return fmt.Errorf("%d documents are written, want 1; error %w", len(written), err)
	}
	return nil
}

func (c oapiClient) status(ctx context.Context, wait string) (string, error) {
	success := oapi.ShowStatusParamsExpect("success")
	answer, err := c.ShowStatusWithResponse(ctx, "latest", &oapi.ShowStatusParams{Expect: &success, Wait: &wait})
	switch {
	case err != nil:
		return "", err
	case answer.JSON200 != nil:
		return string(answer.JSON200.Status), nil
	case answer.JSON412 != nil:
		return string(answer.JSON412.Status), nil
	}
	return "", fmt.Errorf("%s %s", answer.Status(), answer.Body)
}

func (c oapiClient) post(ctx context.Context, validation string) error {
	answer, err := c.PostValidationWithResponse(ctx, "latest", validation, nil, oapi.Result{
		Status: "success", Validator: map[string]string{"name": "clients", "version": "1"},
	})
	if err == nil && answer.JSON201 == nil {
		err = fmt.Errorf("%s %s", answer.Status(), answer.Body)
	}
	return err
}

// policy returns the data of a ValidationPolicy that lists one validation.
func policy(validation string) map[string]any {
	return map[string]any{"validations": []any{map[string]any{"name": validation}}}
}
