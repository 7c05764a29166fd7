package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changeSet puts documents into their buckets. The query may name further buckets.
func (s *server) changeSet(t *testing.T, query, documents string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodPut, path: "changesets" + query, body: documents, header: yamlBody()})
}

func (s *server) etag(t *testing.T, path string) string {
	t.Helper()
	etag := s.get(t, path).is(t, http.StatusOK).got.Get("ETag")
	if etag == "" {
		t.Errorf("%s has no ETag", path)
	}
	return etag
}

func explainPath(revision, schema, name string) string {
	query := url.Values{"schema": {schema}, "name": {name}}
	return "revisions/" + revision + "/rendered-documents/explain?" + query.Encode()
}

const typeGraphviz = "text/vnd.graphviz"

func (s *server) ifMatch(t *testing.T, c change, condition string) answer {
	t.Helper()
	r := c.request("")
	r.header["If-Match"] = condition
	return s.send(t, r)
}

// below returns a URL of this server in the form that a request takes.
func (s *server) below(t *testing.T, at string) string {
	t.Helper()
	path, ok := strings.CutPrefix(at, s.url+"/api/v1.0/")
	if !ok {
		t.Fatalf("%s is no URL of this server", at)
	}
	return path
}

// isVerdict checks the status of a revision: the verdict, then each validation of each policy, then the ignored ones:
// "failure; ready: a-validation=missing; ignored: b-validation=success".
func (s *server) isVerdict(t *testing.T, revision, want string) {
	t.Helper()
	if diff := cmp.Diff(want, s.verdict(t, revision)); diff != "" {
		t.Errorf("verdict on revision %s (-want +got):\n%s", revision, diff)
	}
}

func (s *server) verdict(t *testing.T, revision string) string {
	t.Helper()
	shown := s.get(t, "revisions/"+revision+"/status").is(t, http.StatusOK).mapping(t)
	parts := []string{fmt.Sprint(shown["status"])}
	policies, _ := shown["policies"].([]any)
	for _, item := range policies {
		policy, _ := item.(map[string]any)
		parts = append(parts, fmt.Sprintf("%v:%s", policy["name"], judged(policy["validations"])))
	}
	if list := judged(shown["ignored"]); list != "" {
		parts = append(parts, "ignored:"+list)
	}
	if list := judged(shown["validations"]); list != "" {
		parts = append(parts, "reported:"+list)
	}
	return strings.Join(parts, "; ")
}

// everything returns all answers about the revisions, by path.
func (s *server) everything(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	read := func(path string) { all[path] = s.get(t, path).is(t, http.StatusOK).text }
	read("revisions")
	for _, id := range s.ids(t, "revisions") {
		path := fmt.Sprintf("revisions/%v", id)
		for _, part := range []string{"", "/documents", "/tags", "/status", "/validations", "/validations/detail"} {
			read(path + part)
		}
	}
	return all
}

// change is a change that can be made, or tried in a dry run.
type change struct {
	method, path, body string
	bad                bool
}

// put returns the change of a bucket.
func put(bucket, documents string) change {
	return change{method: http.MethodPut, path: "buckets/" + bucket + "/documents", body: documents}
}

// prune prunes all revisions but the newest and tagged ones.
func (s *server) prune(t *testing.T) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodPost, path: "revisions/prune?keep=1"})
}

// data returns the data of documents, by name.
func (a answer) data(t *testing.T) map[string]any {
	t.Helper()
	data := map[string]any{}
	for _, document := range a.is(t, http.StatusOK).documents(t) {
		metadata, _ := document["metadata"].(map[string]any)
		data[fmt.Sprint(metadata["name"])] = document["data"]
	}
	return data
}

// isRendered checks the rendered data of documents of a revision.
func (s *server) isRendered(t *testing.T, revision string, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, s.get(t, "revisions/"+revision+"/rendered-documents").data(t)); diff != "" {
		t.Errorf("rendered documents of revision %s (-want +got):\n%s", revision, diff)
	}
}

// stamp returns the stamp of a revision in an answer.
func stamp(t *testing.T, shown map[string]any) string {
	t.Helper()
	text, _ := shown["stamp"].(string)
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(text) {
		t.Errorf("stamp %v", shown["stamp"])
	}
	return text
}

func (s *server) rollback(t *testing.T, target string) answer {
	t.Helper()
	return s.send(t, request{method: http.MethodPost, path: "rollback/" + target})
}

func (s *server) isOutcomes(t *testing.T, revision string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.outcomes(t, revision)); diff != "" {
		t.Errorf("entries of revision %s (-want +got):\n%s", revision, diff)
	}
}

// faults returns the errors of an entry of the schema validation.
func (s *server) faults(t *testing.T, revision string, entry int) []any {
	t.Helper()
	shown := s.get(t, fmt.Sprintf("revisions/%s/validations/%s/entries/%d", revision, own, entry)).is(t, http.StatusOK)
	errs, _ := shown.mapping(t)["errors"].([]any)
	return errs
}

// messages returns the messages of an entry's errors, each with its path.
func (s *server) messages(t *testing.T, revision string, entry int) []string {
	t.Helper()
	list := []string{}
	for _, item := range s.faults(t, revision, entry) {
		fault, _ := item.(map[string]any)
		list = append(list, fmt.Sprint(fault["path"], ": ", fault["message"]))
	}
	return list
}

func (s *server) isMessages(t *testing.T, revision string, entry int, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), s.messages(t, revision, entry)); diff != "" {
		t.Errorf("messages of entry %d of revision %s (-want +got):\n%s", entry, revision, diff)
	}
}

// tag gives a revision a tag without data.
func (s *server) tag(t *testing.T, revision int, name string) {
	t.Helper()
	s.send(t, request{method: http.MethodPost, path: fmt.Sprintf("revisions/%d/tags/%s", revision, name)}).
		is(t, http.StatusCreated)
}

func judged(list any) string {
	items, _ := list.([]any)
	var b strings.Builder
	for _, item := range items {
		validation, _ := item.(map[string]any)
		fmt.Fprintf(&b, " %v=%v", validation["name"], validation["status"])
	}
	return b.String()
}

func (c change) request(query string) request {
	r := request{method: c.method, path: c.path, body: c.body, bad: c.bad, header: map[string]string{}}
	if c.body != "" {
		r.header = yamlBody()
	}
	if query != "" && strings.Contains(r.path, "?") {
		query = "&" + query[1:]
	}
	r.path += query
	return r
}

// outcomes returns the statuses of the entries of a revision's schema validation, in order.
func (s *server) outcomes(t *testing.T, revision string) []string {
	t.Helper()
	list := []string{}
	for i, item := range s.get(t, "revisions/"+revision+"/validations/"+own).results(t) {
		entry, _ := item.(map[string]any)
		if entry["id"] != i {
			t.Errorf("entry %d has the id %v", i, entry["id"])
		}
		list = append(list, fmt.Sprint(entry["status"]))
	}
	return list
}

// ids returns the numbers of the revisions in a list.
func (s *server) ids(t *testing.T, path string) []any {
	t.Helper()
	ids := []any{}
	for _, item := range s.get(t, path).results(t) {
		revision, _ := item.(map[string]any)
		ids = append(ids, revision["id"])
	}
	return ids
}
