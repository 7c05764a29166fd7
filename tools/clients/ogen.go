package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"purser/tools/clients/gen/ogen"
)

type ogenClient struct{ *ogen.Client }

// ownClient sends requests that accept JSON.
type ownClient struct{}

func (ownClient) Do(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPut { // ogen cannot tell the alternatives of its answer apart, and reads it as YAML
		_ = acceptJSON(request.Context(), request)
	}
	return http.DefaultClient.Do(request)
}

func (ownClient) Bearer(context.Context, ogen.OperationName) (ogen.Bearer, error) {
	return ogen.Bearer{}, nil
}

func (ownClient) Token(context.Context, ogen.OperationName) (ogen.Token, error) {
	return ogen.Token{}, nil
}

func newOgen(server string) (client, error) {
	c, err := ogen.NewClient(server, ownClient{}, ogen.WithClient(ownClient{}))
	return ogenClient{c}, err
}

func (c ogenClient) put(ctx context.Context, validation string) error {
	data, err := json.Marshal(policy(validation))
	if err != nil {
		return err
	}
	metadata := ogen.NewControlMetadataSubmittedDocumentMetadata(ogen.ControlMetadata{
		Schema: "metadata/Control/v1", Name: "ready",
	})
	answer, err := c.PutBucket(ctx, ogen.NewSubmittedDocumentsSubmission(ogen.SubmittedDocuments{{
		Schema: "deckhand/ValidationPolicy/v1", Metadata: metadata, Data: ogen.AnyValue(data),
	}}), ogen.PutBucketParams{Bucket: "clients"})
	if _, ok := answer.(*ogen.PutBucketOKApplicationXYamlHeaders); err == nil && !ok {
		err = fmt.Errorf("%+v", answer)
	}
	return err
}

func (c ogenClient) status(ctx context.Context, wait string) (string, error) {
	answer, err := c.ShowStatus(ctx, ogen.ShowStatusParams{
		Revision: "latest", Wait: ogen.NewOptString(wait),
		Expect: ogen.NewOptShowStatusExpect(ogen.ShowStatusExpectSuccess),
	})
	switch status := answer.(type) {
	case *ogen.StatusHeaders:
		return string(status.Response.Status), err
	case *ogen.ShowStatusPreconditionFailedHeaders:
		return string(status.Response.Status), err
	}
	return "", fmt.Errorf("%+v, %w", answer, err)
}

func (c ogenClient) post(ctx context.Context, validation string) error {
	answer, err := c.PostValidation(ctx, &ogen.Result{
		Status: ogen.ResultStatusSuccess, Validator: ogen.AnyValue(`{"name": "clients", "version": "1"}`),
	}, ogen.PostValidationParams{Revision: "latest", Name: validation})
	if _, ok := answer.(*ogen.PostValidationCreated); err == nil && !ok {
		err = fmt.Errorf("%+v", answer)
	}
	return err
}
