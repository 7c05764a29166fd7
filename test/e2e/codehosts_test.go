package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// codeHost is a stand-in of the API of GitHub or GitLab. It refuses requests that break the contract of that, and the test
// fails.
type codeHost struct {
	*httptest.Server

	operations []operation
	identifies func(header http.Header) bool // whether a request has a token, and what else each must have

	mutex    sync.Mutex
	comments []comment // the oldest first
	statuses []string  // of commits, as "SHA STATE NAME: DESCRIPTION", the oldest first
	broken   []string
}

// comment is a comment of a pull request, or a note of a merge request.
type comment struct {
	id           int
	author, body string
}

// operation is what an API takes at a path. Its groups are passed on.
type operation struct {
	method, path string // path is a regular expression of the whole path, percent-encoded
	query        map[string]string
	body         map[string]member // nil if it takes none
	do           func(f *codeHost, at []string, query url.Values, body map[string]any) (status int, answer any)
}

// member is a member of the body of a request.
type member struct {
	required bool
	number   bool     // else a text
	values   []string // nil for any
	most     int      // characters; 0 for any number
}

// bot is the author of comments that are made in a test.
const bot = "github-actions[bot]"

const botID = 41898282

// newGithub returns a stand-in of GitHub for the repository acme/site with pull request 7. The contract is that of the
// operations issues/list-comments, issues/create-comment, issues/update-comment and repos/create-commit-status of
// github.com/github/rest-api-description. What these do not say is from docs.github.com: "Getting started with the REST
// API" (the header User-Agent is required), and observed answers (a comment has at most 65,536 characters, the description
// of a status at most 140).
func newGithub(t *testing.T) *codeHost {
	t.Helper()
	text := map[string]member{"body": {required: true, most: 65_536}}
	paged := map[string]string{"per_page": `[1-9][0-9]?|100`, "page": `[1-9][0-9]*`, "since": `.+`}
	return newCodeHost(t, func(h http.Header) bool {
		return strings.HasPrefix(h.Get("Authorization"), "Bearer ") && h.Get("User-Agent") != ""
	}, []operation{
		{"GET", `/repos/acme/site/issues/7/comments`, paged, nil, (*codeHost).list},
		{"POST", `/repos/acme/site/issues/7/comments`, nil, text, (*codeHost).create},
		{"PATCH", `/repos/acme/site/issues/comments/(\d+)`, nil, text, (*codeHost).update},
		{"POST", `/repos/acme/site/statuses/([0-9a-f]{40})`, nil, map[string]member{
			"state":      {required: true, values: []string{"error", "failure", "pending", "success"}},
			"target_url": {}, "description": {most: 140}, "context": {},
		}, (*codeHost).setStatus},
	})
}

// newGitlab returns a stand-in of GitLab for project 5, acme/site, with merge request 7. The contract is that of
// docs.gitlab.com/api/notes ("List all merge request notes", "Create", "Modify": a note has at most 1,000,000 characters),
// api/commits ("Set the pipeline status of a commit": states, and 255 characters), api/users ("Retrieve the current user")
// and api/rest ("Pagination": per_page is at most 100; "Authentication": both headers).
func newGitlab(t *testing.T) *codeHost {
	t.Helper()
	text := map[string]member{"body": {required: true, most: 1_000_000}}
	const notes = `/api/v4/projects/(?:5|acme%2Fsite)/merge_requests/7/notes`
	return newCodeHost(t, func(h http.Header) bool {
		return h.Get("Private-Token") != "" || strings.HasPrefix(h.Get("Authorization"), "Bearer ")
	}, []operation{
		{"GET", `/api/v4/user`, nil, nil, func(*codeHost, []string, url.Values, map[string]any) (int, any) {
			return http.StatusOK, map[string]any{"id": botID, "username": bot}
		}},
		{"GET", notes, map[string]string{
			"sort": "asc|desc", "order_by": "created_at|updated_at", "per_page": `[1-9][0-9]?|100`, "page": `[1-9][0-9]*`,
		}, nil, (*codeHost).list},
		{"POST", notes, nil, text, (*codeHost).create},
		{"PUT", notes + `/(\d+)`, nil, text, (*codeHost).update},
		{"POST", `/api/v4/projects/(?:5|acme%2Fsite)/statuses/([0-9a-f]{40})`, nil, map[string]member{
			"state": {required: true, values: []string{"pending", "running", "success", "failed", "canceled", "skipped"}},
			"ref":   {most: 255}, "name": {most: 255}, "target_url": {most: 255}, "description": {most: 255},
			"coverage": {number: true}, "pipeline_id": {number: true},
		}, (*codeHost).setStatus},
	})
}

func newCodeHost(t *testing.T, identifies func(http.Header) bool, operations []operation) *codeHost {
	t.Helper()
	f := &codeHost{operations: operations, identifies: identifies}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.Close()
		for _, broken := range f.broken {
			t.Error(broken)
		}
	})
	return f
}

// ServeHTTP implements http.Handler.
func (f *codeHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	text, _ := io.ReadAll(r.Body)
	status, answer, err := f.answer(r, text)
	if err != nil {
		f.broken = append(f.broken, fmt.Sprintf("%s %s %.300s: %v", r.Method, r.RequestURI, text, err))
		status, answer = http.StatusUnprocessableEntity, map[string]string{"message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		f.broken = append(f.broken, err.Error())
	}
}

// answer answers a request, with an error if that breaks the contract.
func (f *codeHost) answer(r *http.Request, text []byte) (status int, answer any, err error) {
	if !f.identifies(r.Header) {
		return 0, nil, fmt.Errorf("headers %v", r.Header)
	}
	for _, o := range f.operations {
		at := regexp.MustCompile("^" + o.path + "$").FindStringSubmatch(r.URL.EscapedPath())
		if at == nil || o.method != r.Method {
			continue
		}
		for name, values := range r.URL.Query() {
			if pattern, ok := o.query[name]; !ok || len(values) != 1 || !regexp.MustCompile("^(?:"+pattern+")$").MatchString(values[0]) {
				return 0, nil, fmt.Errorf("parameter %s=%q", name, values)
			}
		}
		body, err := o.read(r.Header, text)
		if err != nil {
			return 0, nil, err
		}
		status, answer = o.do(f, at, r.URL.Query(), body)
		return status, answer, nil
	}
	return 0, nil, errors.New("there is no such operation")
}

// read reads the body of a request.
func (o operation) read(header http.Header, text []byte) (body map[string]any, err error) {
	if o.body == nil || len(text) == 0 {
		if len(text) > 0 || o.body != nil {
			return nil, fmt.Errorf("a body of %d bytes", len(text))
		}
		return nil, nil
	}
	if header.Get("Content-Type") != "application/json" {
		return nil, fmt.Errorf("content type %s", header.Get("Content-Type"))
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	for name, m := range o.body {
		if _, ok := body[name]; m.required && !ok {
			return nil, fmt.Errorf("no %s", name)
		}
	}
	for name, value := range body {
		m, known := o.body[name]
		_, isNumber := value.(float64)
		said, isText := value.(string)
		switch {
		case !known, m.number && !isNumber, !m.number && !isText, m.values != nil && !slices.Contains(m.values, said),
			m.most > 0 && utf8.RuneCountInString(said) > m.most, m.required && said == "":
			return nil, fmt.Errorf("member %s: %.100v", name, value)
		}
	}
	return body, nil
}

// list answers with a page of the comments, in the forms of GitHub and GitLab.
func (f *codeHost) list(_ []string, query url.Values, _ map[string]any) (int, any) {
	page, size := 1, 20
	if text := query.Get("page"); text != "" {
		page, _ = strconv.Atoi(text)
	}
	if text := query.Get("per_page"); text != "" {
		size, _ = strconv.Atoi(text)
	}
	items := []any{}
	for _, c := range f.comments[min(len(f.comments), (page-1)*size):min(len(f.comments), page*size)] {
		items = append(items, c.view())
	}
	return http.StatusOK, items
}

func (c comment) view() map[string]any {
	user := map[string]any{"login": c.author, "username": c.author, "id": 1}
	if c.author == bot {
		user["id"] = botID
	}
	return map[string]any{"id": c.id, "body": c.body, "user": user, "author": user}
}

func (f *codeHost) create(_ []string, _ url.Values, body map[string]any) (int, any) {
	c := comment{1_000 + len(f.comments), bot, fmt.Sprint(body["body"])}
	f.comments = append(f.comments, c)
	return http.StatusCreated, c.view()
}

func (f *codeHost) update(at []string, _ url.Values, body map[string]any) (int, any) {
	i := slices.IndexFunc(f.comments, func(c comment) bool { return strconv.Itoa(c.id) == at[1] })
	if i < 0 || f.comments[i].author != bot {
		f.broken = append(f.broken, "comment "+at[1]+" is not the caller's")
		return http.StatusNotFound, nil
	}
	f.comments[i].body = fmt.Sprint(body["body"])
	return http.StatusOK, f.comments[i].view()
}

func (f *codeHost) setStatus(at []string, _ url.Values, body map[string]any) (int, any) {
	name := body["context"]
	if name == nil {
		name = body["name"]
	}
	f.statuses = append(f.statuses, fmt.Sprintf("%s %v %v: %v", at[1], body["state"], name, body["description"]))
	return http.StatusCreated, map[string]any{"id": len(f.statuses), "state": body["state"]}
}

// allSet returns all statuses that were set, except those that last has forgotten.
func (f *codeHost) allSet() []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Clone(f.statuses)
}

// fill adds comments of others, more than a page of them; one has the marker of a workflow.
func (f *codeHost) fill(marker string) {
	for i := range 120 {
		c := comment{i + 1, "somebody", "x"}
		if i == 3 {
			c.body = "**Success**\n\n" + marker
		}
		f.comments = append(f.comments, c)
	}
	f.comments = append(f.comments, comment{500, bot, "```\n" + marker + "\n```\nanother workflow's"})
}

// made returns the comments that have been made since fill.
func (f *codeHost) made() (bodies []string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, c := range f.comments {
		if c.id >= 1_000 {
			bodies = append(bodies, c.body)
		}
	}
	return bodies
}

// last returns the status that was set last, and forgets it.
func (f *codeHost) last() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.statuses) == 0 {
		return ""
	}
	last := f.statuses[len(f.statuses)-1]
	f.statuses = nil
	return last
}
