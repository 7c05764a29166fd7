//go:build linux

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// keep is the number of revisions that a prune keeps.
const keep = 20

// bound limits the duration of a request: the limits of docs/limits.md with a wide margin.
const bound = 30 * time.Second

// client sends requests to servers and records them.
type client struct {
	*history
	site  string
	urls  []string
	below string        // begins the paths of the site's routes
	pause time.Duration // after a request, on average
	token string
	http  *http.Client
	bound time.Duration
	last  map[int]string // what it last sent for each bucket
}

var lastID atomic.Int64

// newID returns an id for an operation, which no operation of any site has.
func (c *client) newID() string { return fmt.Sprintf("op%d-%s", lastID.Add(1), c.site) }

// act sends random requests until the context ends.
func (c *client) act(ctx context.Context) {
	for ctx.Err() == nil {
		if c.send(c.choose()) == undone {
			time.Sleep(20 * time.Millisecond)
		}
		if c.pause > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(rand.N(2 * c.pause)):
			}
		}
	}
}

// known returns a revision that some client has seen: usually one of the newest, sometimes an old one.
func (c *client) known() ref {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.refs) == 0 {
		return ref{}
	}
	back := rand.N(4)
	if rand.N(5) == 0 {
		back = rand.N(len(c.refs))
	}
	return c.refs[max(0, len(c.refs)-1-back)]
}

// choose returns a random request.
func (c *client) choose() request {
	switch n := rand.N(1000); {
	case n < 450:
		return c.put(rand.N(4) == 0)
	case n < 500:
		return c.changeSet()
	case n < 540:
		return c.rollback()
	case n < 730:
		return c.latest()
	case n < 820:
		return c.old()
	case n < 920:
		return c.note("validations")
	case n < 940:
		return c.note("tags")
	case n < 984:
		kind := []string{"validations", "tags"}[rand.N(2)]
		return notesOf(c.known().number, kind)
	case n < 996:
		path := fmt.Sprintf("revisions/prune?keep=%d", keep)
		return request{method: http.MethodPost, path: path, in: input{kind: pruneBegins}}
	default:
		id := c.newID()
		return request{id: id, method: http.MethodDelete, path: "revisions?message=" + id, in: input{kind: purge}}
	}
}

// request is an operation that has not been sent yet.
type request struct {
	id           string
	method, path string
	header       map[string]string
	body         string
	in           input
}

// fill returns contents for a bucket: usually the newest ones with one document changed, added or removed, sometimes
// those that the client sent before.
func (c *client) fill(bucket int, id string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	text := c.last[bucket]
	if again := rand.N(8) == 0; !again {
		documents := map[string]string{}
		for doc := range strings.FieldsSeq(c.seen[bucket]) {
			name, token, _ := strings.Cut(doc, "=")
			documents[name] = token
		}
		name := fmt.Sprintf("d%d-%d", bucket, rand.N(3))
		if documents[name] = id; rand.N(6) == 0 {
			delete(documents, name)
		}
		var all []string
		for name, token := range documents {
			all = append(all, name+"="+token)
		}
		slices.Sort(all)
		text = strings.Join(all, " ")
	}
	c.last[bucket] = text
	return text
}

// body returns documents in YAML.
func body(bucket int, text string) string {
	var b strings.Builder
	for doc := range strings.FieldsSeq(text) {
		name, token, _ := strings.Cut(doc, "=")
		fmt.Fprintf(&b, "---\nschema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: %s, storagePolicy: "+
			"cleartext, layeringDefinition: {layer: site, abstract: false}}\nstatus: {bucket: b%d}\ndata: {token: %s}\n",
			name, bucket, token)
	}
	return b.String()
}

func (c *client) put(conditional bool) request {
	id, bucket := c.newID(), rand.N(buckets)
	r := putOf(id, bucket, c.fill(bucket, id))
	if at := c.known(); conditional && at.number > 0 {
		r.header, r.in.cond = map[string]string{"If-Match": fmt.Sprintf(`"%d-%s"`, at.number, at.stamp)}, &at
	}
	return r
}

func putOf(id string, bucket int, text string) request {
	return request{
		id: id, method: http.MethodPut, path: fmt.Sprintf("buckets/b%d/documents?message=%s", bucket, id),
		body: body(bucket, text), in: input{kind: write, edits: map[int]string{bucket: text}},
	}
}

func (c *client) changeSet() request {
	r := request{id: c.newID(), method: http.MethodPut, in: input{kind: write, edits: map[int]string{}}}
	r.path = "changesets?message=" + r.id
	for _, bucket := range rand.Perm(buckets)[:2] {
		text := c.fill(bucket, r.id)
		if text == "" { // a change set names its buckets only through its documents
			text = fmt.Sprintf("d%d-1=%s", bucket, r.id)
			c.last[bucket] = text
		}
		r.in.edits[bucket] = text
		r.body += body(bucket, text)
	}
	return r
}

func (c *client) rollback() request {
	id, target := c.newID(), c.known().number
	return request{
		id: id, method: http.MethodPost, path: fmt.Sprintf("rollback/%d?message=%s", target, id),
		in: input{kind: rollback, target: target},
	}
}

func (c *client) latest() request {
	r := request{method: http.MethodGet, path: "revisions/latest/documents", in: input{kind: readLatest}}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if n := len(c.etags); n > 0 && rand.N(2) == 0 {
		etag := c.etags[max(n-1-rand.N(30), 0)]
		r.header, r.in.cond = map[string]string{"If-None-Match": etag}, new(parseETag(etag))
	}
	return r
}

func (c *client) old() request { return documentsOf(c.known().number) }

func documentsOf(number int64) request {
	number = max(number, 1)
	return request{
		method: http.MethodGet, path: fmt.Sprintf("revisions/%d/documents", number),
		in: input{kind: readRevision, target: number},
	}
}

func (c *client) note(kind string) request {
	id, at := c.newID(), c.known()
	at.number = max(at.number, 1)
	r := request{
		id: id, method: http.MethodPost, path: fmt.Sprintf("revisions/%d/%s/%s", at.number, kind, id),
		in: input{kind: addNote, note: note{at.number, kind, id}},
	}
	if kind == "validations" {
		r.body = "{status: success, validator: {name: x, version: '1'}}"
	}
	if at.stamp != "" && rand.N(2) == 0 {
		r.path, r.in.cond = r.path+"?revision-stamp="+at.stamp, &at
	}
	return r
}

func notesOf(number int64, kind string) request {
	number = max(number, 1)
	return request{
		method: http.MethodGet, path: fmt.Sprintf("revisions/%d/%s", number, kind),
		in: input{kind: readNotes, target: number, note: note{kind: kind}},
	}
}

// send sends a request to one of the servers and records the outcome.
func (c *client) send(r request) outcome {
	o := operation{id: r.id, in: r.in, call: c.now()}
	status, header, text, err := c.exchange(r)
	o.end = c.now()
	name := r.method + " " + pathKind(r.path)
	c.took(name, o.end-o.call, c.bound)
	c.mustOwn("the answer to "+name, text)
	switch {
	case err != nil:
		o.outcome = uncertain
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			o.outcome = undone
		}
	case status == http.StatusServiceUnavailable, status == http.StatusConflict:
		o.outcome = uncertain
		if strings.Contains(text, "nothing was stored") || r.method == http.MethodGet {
			o.outcome = undone
		}
	default:
		o.out.status = status
		if status >= http.StatusInternalServerError {
			c.problemf("%s: %d %s", name, status, text)
			o.outcome = uncertain
			break
		}
		if err := o.read(header, text); err != nil {
			c.problemf("%s: %d %s: %v", name, status, text, err)
		}
		c.remember(o, header.Get("ETag"))
	}
	c.record(o)
	return o.outcome
}

// record adds an operation to the history. A prune is added as two: between them, old revisions may or may not exist.
func (c *client) record(o operation) {
	c.add(o)
	if o.in.kind == pruneBegins && o.outcome == answered {
		o.in.kind = pruneEnds
		c.add(o)
	}
}

func pathKind(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	if parts[0] == "revisions" && len(parts) > 2 {
		return "revisions/N/" + parts[2]
	}
	return parts[0]
}

func (c *client) exchange(r request) (status int, header http.Header, text string, err error) {
	var payload io.Reader = http.NoBody
	if r.body != "" {
		payload = strings.NewReader(r.body)
	}
	request, err := http.NewRequest(r.method, c.urls[rand.N(len(c.urls))]+c.below+r.path, payload)
	if err != nil {
		return 0, nil, "", err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", "application/json")
	if r.body != "" {
		request.Header.Set("Content-Type", "application/x-yaml")
	}
	for name, value := range r.header {
		request.Header.Set(name, value)
	}
	got, err := c.http.Do(request)
	if err != nil {
		return 0, nil, "", err
	}
	defer got.Body.Close()
	all, err := io.ReadAll(got.Body)
	return got.StatusCode, got.Header, string(all), err
}

// read extracts from an answer the values that the model checks.
func (o *operation) read(header http.Header, text string) error {
	o.out.ref = parseETag(header.Get("ETag"))
	if o.out.status >= http.StatusMultipleChoices {
		if slices.Contains([]int{304, 404, 410, 412}, o.out.status) {
			return nil
		}
		return errors.New("it is not expected")
	}
	switch o.in.kind {
	case readLatest, readRevision:
		return o.readDocuments(text)
	case readNotes:
		return o.readNotes(text)
	case pruneBegins:
		var got struct {
			Revisions struct {
				Ranges []struct {
					Last int64 `json:"last"`
				} `json:"ranges"`
			} `json:"revisions"`
		}
		err := json.Unmarshal([]byte(text), &got)
		for _, r := range got.Revisions.Ranges {
			o.out.pruned = max(o.out.pruned, r.Last)
		}
		return err
	case list:
		var got struct {
			Results []struct {
				ID    int64  `json:"id"`
				Stamp string `json:"stamp"`
			} `json:"results"`
		}
		err := json.Unmarshal([]byte(text), &got)
		for _, r := range got.Results {
			o.out.list = append(o.out.list, ref{r.ID, r.Stamp})
		}
		return err
	default:
		return nil
	}
}

func (o *operation) readDocuments(text string) error {
	var documents []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Data struct {
			Token string `json:"token"`
		} `json:"data"`
		Status struct {
			Bucket string `json:"bucket"`
		} `json:"status"`
	}
	if err := json.Unmarshal([]byte(text), &documents); err != nil {
		return err
	}
	var all [buckets][]string
	for _, doc := range documents {
		var bucket int
		if _, err := fmt.Sscanf(doc.Status.Bucket, "b%d", &bucket); err != nil {
			return err
		}
		all[bucket] = append(all[bucket], doc.Metadata.Name+"="+doc.Data.Token)
	}
	for i, texts := range all {
		slices.Sort(texts)
		o.out.content[i] = strings.Join(texts, " ")
	}
	return nil
}

func (o *operation) readNotes(text string) error {
	var names []string
	if o.in.note.kind == "tags" {
		tags := map[string]any{}
		if err := json.Unmarshal([]byte(text), &tags); err != nil {
			return err
		}
		for name := range tags {
			names = append(names, name)
		}
	} else {
		var got struct {
			Results []struct {
				Name string `json:"name"`
			} `json:"results"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			return err
		}
		for _, r := range got.Results {
			if !strings.HasPrefix(r.Name, "deckhand-") {
				names = append(names, r.Name)
			}
		}
	}
	slices.Sort(names)
	o.out.notes = strings.Join(names, " ")
	return nil
}
