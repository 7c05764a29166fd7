package api_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
)

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// The refusal of a bad request says what is wrong and what to do, in its message or in the list. Nothing is changed.
func TestHandler_refusals(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	const bad, missing = http.StatusBadRequest, http.StatusNotFound
	const put, documents = http.MethodPut, "buckets/b/documents"
	packed := gzipped(widget("w", "{}"))
	yaml, zipped := []string{"Content-Type", "application/x-yaml"}, []string{"Content-Type", "application/x-yaml", "Content-Encoding", "gzip"}
	json := []string{"Content-Type", "application/json"}
	result := "status: success\nvalidator: v\n"
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
		parts              []string
	}{
		{http.MethodGet, "revisions/9", "", nil, missing, []string{"revision=9 was not found", "newest revision is 1"}},
		{http.MethodGet, "revisions/9/documents", "", nil, missing, []string{"HTTPNotFound", "newest revision is 1"}},
		{http.MethodGet, "revisions/01", "", nil, missing, []string{"revision=01 was not found", "without zeros before it"}},
		{http.MethodGet, "revisions/+1", "", nil, missing, []string{"without a sign"}},
		{http.MethodGet, "revisions/9223372036854775808", "", nil, missing, []string{"revision=9223372036854775808 was not found"}},
		{http.MethodGet, "revisions/1.0", "", nil, missing, []string{"as latest, or as tag:NAME"}},
		{http.MethodGet, "revisions/1/diff/x", "", nil, bad, []string{"invalid input: x", "0 is the state before the first one"}},
		{http.MethodGet, "revisions/1/tags/t", "", nil, missing, []string{"'t' for revision 1 was not found", "GET /revisions/1/tags lists"}},
		{http.MethodGet, "revisions/1/validations/v/entries/x", "", nil, bad, []string{"must be an integer", "from 0 on, and not 'x'"}},
		{http.MethodGet, "revisions/1/validations/v/entries/9223372036854775808", "", nil, missing, []string{"entry 9223372036854775808 was not found", "Entries count from 0"}},
		{http.MethodGet, "revisions/1/findings?validation=nosuch", "", nil, missing, []string{"ValidationNotFound", "validation nosuch was not found for revision ID 1", "It has deckhand-policy-validation, deckhand-rendering-validation"}},
		{http.MethodGet, "revisions/1/findings?validation=purser-coverage-validation", "", nil, http.StatusOK, []string{`"total":`}},
		{http.MethodGet, "revisions?limit=-1", "", nil, bad, []string{"limit", "not negative"}},
		{http.MethodGet, "revisions?a;b", "", nil, bad, []string{"semicolons as %3B"}},
		{http.MethodGet, "events", "", []string{"Last-Event-ID", "x"}, bad, []string{`Last-Event-ID`, `and not \"x\"`}},
		{put, documents, packed[:len(packed)-4], zipped, bad, []string{"body ended early", "nothing was stored"}},
		{put, documents, packed[:len(packed)-8] + "12345678", zipped, bad, []string{"cannot be decompressed", "nothing was stored"}},
		{put, documents, widget("w", "{}"), zipped, bad, []string{"not compressed, but Content-Encoding says so", "without Content-Encoding"}},
		{put, documents, "", zipped, bad, []string{"is empty, but Content-Encoding"}},
		{put, documents, packed, yaml, bad, []string{"compressed with gzip; send it with Content-Encoding: gzip"}},
		{put, documents, widget("w", "{}"), json, bad, []string{"line 1, column 1: an array or an object must begin here; send YAML"}},
		{put, documents, "[null]", json, bad, []string{"indexes: 1.", "remove this one. Nothing was stored."}},
		{put, documents, "---\n", yaml, bad, []string{"remove this one, or the --- before it."}},
		{put, documents, "[]", yaml, bad, []string{"only comments or an empty list. To delete all documents of a bucket, PUT"}},
		{put, "changesets", "# x", yaml, bad, []string{"name the buckets in ?buckets=."}},
		{put, documents, widget("w", "{}"), append([]string{"If-Match", "5"}, yaml...), bad, []string{`(If-Match: \"5\"), and not 5.`}},
		{put, documents, widget("w", "{}"), append([]string{"If-Match", ""}, yaml...), bad, []string{"and not empty."}},
		{http.MethodPost, "revisions/1/validations/v", "status: success", yaml, bad, []string{"must contain keys", "It has no validator", "A result is a mapping such as"}},
		{http.MethodPost, "revisions/1/validations/v", result, append([]string{"If-Match", `"7"`}, yaml...), http.StatusPreconditionFailed, []string{"Revision 1 has the stamp", "If-Match or revision-stamp names"}},
		{http.MethodPost, "packages/check", "PK", nil, bad, []string{"Content-Type header is required", "Send Content-Type: application/zip."}},
		{http.MethodPost, "packages/check", "PK", []string{"Content-Type", "application/zip"}, bad, []string{"not a zip archive", "zip the files of the package again"}},
		{http.MethodPost, "revisions/1/puppet/catalog", "{}", nil, bad, []string{"Send Content-Type: application/json."}},
		{http.MethodPost, "revisions/1/puppet/catalog", "Warning: x", json, bad, []string{"--render-as json", "without other messages"}},
	} {
		got := s.do(t, c.method, c.path, c.body, append(c.header, "Accept", "application/json")...)
		if got.StatusCode != c.status {
			t.Errorf("%s %s: %d, want %d\n%s", c.method, c.path, got.StatusCode, c.status, got.text)
		}
		for _, part := range c.parts {
			if !strings.Contains(got.text, part) {
				t.Errorf("%s %s: %q is not in\n%s", c.method, c.path, part, got.text)
			}
		}
	}
	if got := s.get(t, "revisions/2"); got.StatusCode != http.StatusNotFound {
		t.Errorf("something was stored: %s", got.text)
	}
}

// A content encoding may be written in upper case. x-gzip is another name of gzip.
func TestHandler_contentEncoding(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for encoding, want := range map[string]int{
		"gzip": http.StatusOK, "GZIP": http.StatusOK, "x-gzip": http.StatusOK,
		"br": http.StatusUnsupportedMediaType, "gzip, gzip": http.StatusUnsupportedMediaType,
	} {
		got := s.do(t, http.MethodPut, "buckets/b/documents", gzipped(widget("w", "{}")), "Content-Type", "application/x-yaml",
			"Content-Encoding", encoding)
		if got.StatusCode != want {
			t.Errorf("%s: %d, want %d\n%s", encoding, got.StatusCode, want, got.text)
		}
	}
}

// A limit or offset that no int64 holds is refused. The largest int64 is accepted.
func TestHandler_hugeNumbers(t *testing.T) {
	t.Parallel()
	s := filled(t, 1)
	for query, want := range map[string]int{
		"limit=9223372036854775808":                            http.StatusBadRequest,
		"offset=99999999999999999999":                          http.StatusBadRequest,
		"limit=9223372036854775807&offset=9223372036854775807": http.StatusOK,
	} {
		got := s.get(t, "revisions?"+query)
		if got.StatusCode != want || want == http.StatusBadRequest && !strings.Contains(got.text, "a smaller whole number") {
			t.Errorf("%s: %d\n%s", query, got.StatusCode, got.text)
		}
	}
}
