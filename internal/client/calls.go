package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"purser/internal/wire"
)

// Get requests a path, decodes the JSON answer into a value unless that is nil, and returns its text.
func (c *Client) Get(ctx context.Context, into any, query url.Values, path ...string) ([]byte, error) {
	return c.Send(ctx, Request{Path: path, Query: query}, into)
}

// Decode decodes a JSON answer, unless into is nil.
func (a Answer) Decode(into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil
}

// pageLink matches the header Link with the URL of the web page about what an answer shows.
var pageLink = regexp.MustCompile(`^<(https?://[^<>\s]+)>; rel="alternate"; type="text/html"$`)

// Page returns the URL of the web page about what an answer shows, "" if there is none.
func (a Answer) Page() string {
	for _, link := range a.Header.Values("Link") {
		if found := pageLink.FindStringSubmatch(link); found != nil {
			return found[1]
		}
	}
	return ""
}

// before matches NAME~N, the Nth revision before NAME.
var before = regexp.MustCompile(`^(.+)~(\d+)$`)

// Resolve returns a name of a revision that the server knows: for NAME~N, the number of the Nth revision before NAME
// that is left, or 0, the empty revision, for the one before the first.
func (c *Client) Resolve(ctx context.Context, name string) (string, error) {
	parts := before.FindStringSubmatch(name)
	if parts == nil {
		return name, nil
	}
	of := parts[1]
	n, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return "", fmt.Errorf("revision %q: the number after ~ is too large", name)
	}
	number, err := c.Number(ctx, of)
	for ; err == nil && n > 0 && number != "0"; n-- {
		number, err = c.previous(ctx, number)
	}
	if err == nil && n > 0 {
		err = fmt.Errorf("revision %q does not exist: there are fewer revisions before %s", name, of)
	}
	return number, err
}

// previous returns the number of the revision before the one with a number. An older server does not say which one is
// left after a prune.
func (c *Client) previous(ctx context.Context, number string) (string, error) {
	var revision wire.Revision
	if _, err := c.Get(ctx, &revision, nil, "revisions", number); err != nil {
		return "", err
	}
	previous := revision.ID - 1
	if revision.Previous != nil {
		previous = *revision.Previous
	}
	return strconv.FormatInt(previous, 10), nil
}

// Number returns the number of a revision. It returns a number unchanged, whether or not the revision exists.
func (c *Client) Number(ctx context.Context, name string) (string, error) {
	name, err := c.Resolve(ctx, name)
	if err != nil {
		return "", err
	}
	if _, err := strconv.ParseUint(name, 10, 63); err == nil {
		return name, nil
	}
	var revision wire.Revision
	if _, err := c.Get(ctx, &revision, nil, "revisions", name); err != nil {
		return "", err
	}
	return strconv.FormatInt(revision.ID, 10), nil
}

// Numbers returns the numbers of two revisions.
func (c *Client) Numbers(ctx context.Context, before, after string) (first, second string, err error) {
	if first, err = c.Number(ctx, before); err == nil {
		second, err = c.Number(ctx, after)
	}
	return first, second, err
}

// Status returns the verdict on a revision and the answer with it. With wait > 0 it waits until it is a success or
// waiting cannot make it so. poll is the polling interval for a server that cannot wait itself. query has further
// parameters; nil for none.
func (c *Client) Status(ctx context.Context, revision string, query url.Values, wait, poll time.Duration) (
	wire.Verdict, Answer, error,
) {
	if wait > 0 {
		verdict, text, err := c.status(ctx, revision, query, wait)
		if refused, ok := errors.AsType[*Error](err); ok && refused.Status == http.StatusBadRequest { // without ?wait=
			return c.polled(ctx, revision, query, wait, poll)
		}
		return verdict, text, err
	}
	return c.status(ctx, revision, query, 0)
}

// maxWait is the longest wait that a server accepts in one request.
const maxWait = 10 * time.Minute

// status requests the verdict on a revision. It divides a wait of more than maxWait into several requests.
func (c *Client) status(ctx context.Context, revision string, query url.Values, wait time.Duration) (
	wire.Verdict, Answer, error,
) {
	if wait > 0 {
		expecting := url.Values{"expect": {"success"}}
		maps.Copy(expecting, query)
		query = expecting
	}
	for {
		step := min(wait, maxWait)
		var verdict wire.Verdict
		answer, err := c.Do(ctx, Request{
			Path: []string{"revisions", revision, "status"}, Query: query, Wait: step,
			Others: []int{http.StatusPreconditionFailed},
		})
		if err != nil {
			return verdict, Answer{}, err
		}
		if err := answer.Decode(&verdict); err != nil || verdict.Final() {
			return verdict, answer, err
		}
		if wait -= step; wait <= 0 {
			return verdict, answer, nil
		}
		revision = strconv.FormatInt(verdict.Revision, 10) // latest is resolved once
	}
}

// polled polls the verdict, for a server that does not support wait.
func (c *Client) polled(ctx context.Context, revision string, query url.Values, wait, poll time.Duration) (
	wire.Verdict, Answer, error,
) {
	for {
		verdict, text, err := c.status(ctx, revision, query, 0)
		if err != nil || verdict.Final() || wait <= 0 {
			return verdict, text, err
		}
		revision = strconv.FormatInt(verdict.Revision, 10)
		select {
		case <-time.After(min(poll, wait)):
		case <-ctx.Done():
			return verdict, text, context.Canceled
		}
		wait -= poll
	}
}

// Change has the options of a change.
type Change struct {
	Message    string
	Source     string // the URL of the commit that it is made from
	IfMatch    string // an ETag or a revision's number, in quotes
	MaxDeleted int    // -1 for any number
	Buckets    []string
	DryRun     bool
	Findings   bool // the answer lists the findings
	Rendered   bool // a dry run also says what changes in rendered documents

	// From is where documents are copied from instead of a body: SITE@REVISION or SITE@REVISION/BUCKET; "" for nowhere.
	From     string
	Promotes bool // with From: only if its revision is a success
}

func (change Change) query() url.Values {
	query := url.Values{}
	if change.MaxDeleted >= 0 {
		query.Set("max-deleted", strconv.Itoa(change.MaxDeleted))
	}
	if len(change.Buckets) > 0 {
		query["buckets"] = change.Buckets
	}
	if change.DryRun {
		query.Set("dry-run", "true")
	}
	if change.Findings {
		query.Set("findings", "true")
	}
	if change.Rendered {
		query.Set("rendered", "true")
		query.Set("diff", "unified")
	}
	if change.Message != "" {
		query.Set("message", change.Message)
	}
	if change.From != "" {
		query.Set("from", change.From)
	}
	if change.Promotes {
		query.Set("expect", "success")
	}
	return query
}

// Written is the result of a change.
type Written struct {
	Revision string // its number
	ETag     string
	Changes  string // added=1, modified=0, deleted=0, unchanged=4
	Status   string // success or failure, with the number of findings; "" if nothing was changed
	Warnings []string
	// Rewritten is the number of documents whose texts were replaced although nothing was changed, "" for none.
	Rewritten string
	Answer
}

// Put replaces the documents of a bucket by YAML documents or, if bucket is "", those of the buckets they name.
func (c *Client) Put(ctx context.Context, bucket string, documents []byte, change Change) (Written, error) {
	path := []string{"buckets", bucket, "documents"}
	if bucket == "" {
		path = []string{"changesets"}
	}
	if documents == nil {
		documents = []byte{}
	}
	return c.write(ctx, Request{
		Method: http.MethodPut, Path: path, Query: change.query(), IfMatch: change.IfMatch, Source: change.Source,
		Body: documents,
	})
}

// Rollback creates a new revision with the documents of an earlier one.
func (c *Client) Rollback(ctx context.Context, revision string, change Change) (Written, error) {
	return c.write(ctx, Request{
		Method: http.MethodPost, Path: []string{"rollback", revision}, Query: change.query(), IfMatch: change.IfMatch,
		Source: change.Source,
	})
}

// Prune deletes old revisions, all but the newest and those with a tag.
func (c *Client) Prune(ctx context.Context, keep int, change Change) (Written, error) {
	query := change.query()
	query.Set("keep", strconv.Itoa(keep))
	return c.write(ctx, Request{
		Method: http.MethodPost, Path: []string{"revisions", "prune"}, Query: query, IfMatch: change.IfMatch,
	})
}

func (c *Client) write(ctx context.Context, r Request) (Written, error) {
	answer, err := c.Do(ctx, r)
	if err != nil {
		return Written{}, err
	}
	of := answer.Header
	return Written{
		of.Get("Purser-Revision"), of.Get("ETag"), of.Get("Purser-Changes"), of.Get("Purser-Status"),
		of.Values("Purser-Warning"), of.Get("Purser-Rewritten"), answer,
	}, nil
}

// Preview decodes the answer to a dry run. It has no findings unless the change asked for them.
func (w Written) Preview() (wire.Preview[wire.Finding], error) {
	preview := wire.Preview[wire.Finding]{Counts: &wire.Counts{}}
	err := w.Decode(&preview)
	return preview, err
}

// Findings decodes the findings in the answer to a change with Change.Findings. There are none for callers who may not
// read them: their answer lists documents instead.
func (w Written) Findings() (wire.Findings, error) {
	var found wire.Findings
	if !bytes.HasPrefix(bytes.TrimSpace(w.Body), []byte("{")) {
		return found, nil
	}
	err := w.Decode(&found)
	return found, err
}

// Send sends a request and decodes the JSON answer, like Get.
func (c *Client) Send(ctx context.Context, r Request, into any) ([]byte, error) {
	answer, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return answer.Body, answer.Decode(into)
}

// List requests a list, page by page, until it has most items or all of them. It returns their JSON texts.
func (c *Client) List(ctx context.Context, most int, query url.Values, path ...string) (
	items []json.RawMessage, err error,
) {
	const page = 1000
	query = cloned(query)
	for {
		var list wire.List[json.RawMessage]
		query.Set("offset", strconv.Itoa(len(items)))
		query.Set("limit", strconv.Itoa(min(page, most-len(items))))
		if _, err := c.Get(ctx, &list, query, path...); err != nil {
			return nil, err
		}
		items = append(items, list.Results...)
		if list.Next == nil || len(items) >= most || len(list.Results) == 0 {
			return items, nil
		}
	}
}

func cloned(query url.Values) url.Values {
	clone := url.Values{}
	maps.Copy(clone, query)
	return clone
}

// Events returns the events after a cursor, oldest first, and the cursor after them. It waits up to wait for the first
// one.
func (c *Client) Events(ctx context.Context, since string, query url.Values, wait time.Duration) (
	cursor string, events []json.RawMessage, err error,
) {
	query = cloned(query)
	query.Set("since", since)
	var page wire.Events[json.RawMessage]
	answer, err := c.Do(ctx, Request{Path: []string{"events"}, Query: query, Wait: wait})
	if err != nil {
		return since, nil, err
	}
	if err := answer.Decode(&page); err != nil {
		return since, nil, err
	}
	return page.Cursor, page.Events, nil
}
