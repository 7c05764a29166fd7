package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"purser/internal/client"
)

// AnyNumber as Change.MaxDeleted lets a change delete any number of documents; 0 lets it delete none.
const AnyNumber = -1

// Client sends requests to one server. It is safe for concurrent use.
type Client struct{ calls *client.Client }

// Option configures a Client.
type Option struct{ set func(*client.Config) }

// WithToken sends a token with each request.
func WithToken(token string) Option {
	return Option{func(c *client.Config) { c.Token = token }}
}

// WithTLS names certificates for an https URL.
func WithTLS(files TLS) Option {
	return Option{func(c *client.Config) { c.TLS = files }}
}

// WithTimeout bounds the time of a request with all its tries, which is 5 minutes without this option. The time that a
// request asks the server to wait is added.
func WithTimeout(timeout time.Duration) Option {
	return Option{func(c *client.Config) { c.Timeout = timeout }}
}

// WithTransport sends requests by a transport of your own.
func WithTransport(transport http.RoundTripper) Option {
	return Option{func(c *client.Config) { c.Transport = transport }}
}

// New returns a client of the server at a URL, without connecting.
func New(server string, options ...Option) (*Client, error) {
	config := client.Config{Server: server, Agent: "purser-client-go", Plain: true}
	for _, option := range options {
		option.set(&config)
	}
	calls, err := client.New(config)
	if err != nil {
		return nil, err
	}
	return &Client{calls}, nil
}

// Put replaces the documents of a bucket by a stream of YAML documents. With bucket "" it replaces those of all buckets
// that the documents name in status.bucket, and of Change.Buckets.
func (c *Client) Put(ctx context.Context, bucket string, documents []byte, change Change) (Written, error) {
	return c.calls.Put(ctx, bucket, documents, change)
}

// Rollback makes a revision with the documents of an earlier one.
func (c *Client) Rollback(ctx context.Context, revision string, change Change) (Written, error) {
	return c.calls.Rollback(ctx, revision, change)
}

// Status returns the verdict on a revision: a number, latest, tag:NAME, or one of these with ~N for the Nth before it.
func (c *Client) Status(ctx context.Context, revision string) (Verdict, error) {
	return c.Wait(ctx, revision, 0)
}

// Wait returns the verdict on a revision once that is a success or waiting cannot make it one, at the latest after a
// time.
func (c *Client) Wait(ctx context.Context, revision string, wait time.Duration) (Verdict, error) {
	const poll = 5 * time.Second // of servers that cannot wait
	revision, err := c.calls.Resolve(ctx, revision)
	if err != nil {
		return Verdict{}, err
	}
	verdict, _, err := c.calls.Status(ctx, revision, nil, wait, poll)
	return verdict, err
}

// Result is the result of a validation.
type Result struct {
	Status    string `json:"status"`           // success or failure
	Validator any    `json:"validator"`        // by convention a mapping with name and version
	Errors    []any  `json:"errors,omitempty"` // by convention mappings with message and documents
}

// PostResult posts the result of a validation of a revision.
func (c *Client) PostResult(ctx context.Context, revision, validation string, result Result) (Posted, error) {
	body, err := json.Marshal(result)
	if err != nil {
		return Posted{}, fmt.Errorf("write the result: %w", err)
	}
	var posted Posted
	_, err = c.calls.Send(ctx, client.Request{
		Method: http.MethodPost, Path: []string{"revisions", revision, "validations", validation}, Body: body, JSON: true,
	}, &posted)
	return posted, err
}

// Revision returns a revision.
func (c *Client) Revision(ctx context.Context, revision string) (Revision, error) {
	var found Revision
	err := c.get(ctx, revision, nil, &found)
	return found, err
}

// Findings returns a page of the problems of a revision. query has parameters such as limit and document; it may be
// nil. A page may be empty and have a Next, which is the parameter after of the next one.
func (c *Client) Findings(ctx context.Context, revision string, query url.Values) (Findings, error) {
	var found Findings
	err := c.get(ctx, revision, query, &found, "findings")
	return found, err
}

// Documents decodes the documents of a revision into a pointer to a slice, such as one of mappings. query selects some
// of them, by parameters such as schema and metadata.name; it may be nil.
func (c *Client) Documents(ctx context.Context, revision string, query url.Values, into any) error {
	return c.get(ctx, revision, query, into, "documents")
}

// Rendered decodes the rendered documents of a revision, like Documents.
func (c *Client) Rendered(ctx context.Context, revision string, query url.Values, into any) error {
	return c.get(ctx, revision, query, into, "rendered-documents")
}

// get decodes what is below a revision.
func (c *Client) get(ctx context.Context, revision string, query url.Values, into any, below ...string) error {
	revision, err := c.calls.Resolve(ctx, revision)
	if err != nil {
		return err
	}
	_, err = c.calls.Get(ctx, into, query, append([]string{"revisions", revision}, below...)...)
	return err
}
