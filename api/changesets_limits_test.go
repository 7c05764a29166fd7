package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangeSet_ofManyBuckets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := func(data string) string {
		var b strings.Builder
		for i := range 60 {
			b.WriteString(in(fmt.Sprintf("b%d", i%20), widget(fmt.Sprintf("w%d", i), data)))
		}
		return b.String()
	}
	for i, c := range []struct {
		body string
		head int
	}{
		{body("{x: 1}"), 1},
		{body("{x: 1}"), 1},
		{body("{x: 2}"), 2},
		{strings.ReplaceAll(body("{x: 2}"), "bucket: b7}", "bucket: b8}"), 2}, // b7 still owns the documents moved to b8
		{strings.Replace(body("{x: 2}"), "{x: 2}", "{x: 3}", 1), 3},
	} {
		want := http.StatusOK
		if i == 3 {
			want = http.StatusConflict
		}
		s.changeSet(t, "", c.body).is(t, want)
		s.isRevision(t, c.head)
		if n := len(s.contents(t, "latest", "documents")); n != 60 {
			t.Errorf("change set %d: %d documents, want 60", i+1, n)
		}
	}
	s.isDiff(t, "0 1", manyBuckets("created"))
	if n := len(s.get(t, "revisions/3").mapping(t)["buckets"].([]any)); n != 1 {
		t.Errorf("one document of one bucket was changed, but %d buckets were written", n)
	}
}

func manyBuckets(became string) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "b%d:%s ", i, became)
	}
	return b.String()
}

func TestChangeSet_compat(t *testing.T) {
	t.Parallel()
	s := compatSite(t)
	ready := in("p", policy("ready", own))
	for i := range 2 { // C2, C4
		got := s.changeSet(t, "", ready).is(t, http.StatusOK).documents(t)
		want := []map[string]any{{"status": map[string]any{"bucket": "p", "revision": i + 1}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("change set %d (-want +got):\n%s", i+1, diff)
		}
	}
	s.changeSet(t, "", ready+in("a", widget("w1", "{}"))).isNames(t, "w1@3")
	s.changeSet(t, "?buckets=never", "").isNames(t)
	s.changeSet(t, "?buckets=a", "").is(t, http.StatusOK)
	s.changeSet(t, "?buckets=a", "").is(t, http.StatusOK)
	s.isRevision(t, 5)
	s.isPlaced(t, "3", "w1 in a@3")
	s.isPlaced(t, "5")
}

func TestChangeSet_refuses(t *testing.T) { //nolint:tparallel // all is looked at afterwards
	t.Parallel()
	s := newSite(t)
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	s.put(t, "a", w1)
	s.put(t, "b", w2+layeringPolicy("lp"))
	before := s.everything(t)
	free := widget("free", "{}")
	for name, c := range map[string]struct { //nolint:paralleltest // all is looked at afterwards
		query, body string
		status      int
		errorType   string
		help        string
	}{
		"a document twice":                 {"", in("a", w1) + in("c", free) + in("d", free), 409, "DuplicateDocumentExists", "free already exists in bucket: c"},
		"a document twice in a bucket":     {"", in("c", free+free), 409, "DuplicateDocumentExists", "free already exists in bucket: c"},
		"a known document twice":           {"", in("a", w1+w1), 409, "DuplicateDocumentExists", "w1 already exists in bucket: a"},
		"a known document in two buckets":  {"", in("a", w1) + in("b", w1), 409, "DuplicateDocumentExists", "w1 already exists in bucket: a"},
		"a document of another bucket":     {"", in("c", free) + in("a", w1+w2), 409, "DuplicateDocumentExists", "w2 already exists in bucket: b"},
		"a second LayeringPolicy":          {"", in("a", w1+layeringPolicy("other")), 409, "SingletonDocumentConflict", "lp already exists"},
		"two LayeringPolicies":             {"?buckets=b", in("a", layeringPolicy("x")) + in("c", layeringPolicy("y")), 409, "SingletonDocumentConflict", "already exists"},
		"no bucket":                        {"", in("a", w1) + free, 400, "HTTPBadRequest", "free (document 2, from line 7) names no bucket"},
		"no bucket, although one is named": {"?buckets=a", w1, 400, "HTTPBadRequest", "status: {bucket: NAME}"},
		"bucket is null":                   {"", in("null", free), 400, "HTTPBadRequest", "names no bucket"},
		"bucket is a number":               {"", in("5", free), 400, "HTTPBadRequest", "names no bucket"},
		"bucket is a list":                 {"", in("[a]", free), 400, "HTTPBadRequest", "names no bucket"},
		"bucket is empty":                  {"", in("''", free), 400, "HTTPBadRequest", "is empty"},
		"bucket is too long":               {"", in(strings.Repeat("é", 256), free), 400, "HTTPBadRequest", "has 256 characters, but at most 255 are allowed"},
		"bucket is no text":                {"", in(`"a\0"`, free), 400, "HTTPBadRequest", "a NUL character"},
		"status is text":                   {"", strings.Replace(in("x", free), "{bucket: x}", "a", 1), 400, "HTTPBadRequest", "names no bucket"},
		"status is null":                   {"", strings.Replace(in("x", free), "{bucket: x}", "null", 1), 400, "HTTPBadRequest", "names no bucket"},
		"about nothing":                    {"", "", 400, "HTTPBadRequest", "names no bucket"},
		"comments only":                    {"?buckets=a", "# nothing\n", 400, "HTTPBadRequest", "only comments"},
		"no document":                      {"", in("a", w1) + "---\n[]\n", 400, "HTTPBadRequest", "index"},
		"a bad frame":                      {"", in("c", free) + in("a", "---\nschema: a\nmetadata: {}\n"), 400, "InvalidDocumentFormat", "D001"},
		"bad YAML":                         {"", in("c", free) + "---\n{a: ", 400, "HTTPBadRequest", "properly formatted YAML"},
		"an encrypted document":            {"", in("c", strings.Replace(sealed(free), "data: {}", "data: {x: 1}", 1)), 501, "HTTPNotImplemented", "free"},
		"an empty name of a bucket":        {"?buckets=a,", in("a", w1), 400, "HTTPInvalidParam", `"buckets" parameter is invalid. A name in it is empty`},
		"a long name of a bucket":          {"?buckets=" + strings.Repeat("b", 256), "", 400, "HTTPInvalidParam", "has 256 characters"},
		"too many names of buckets":        {"?buckets=a" + strings.Repeat("&buckets=a", 9_999), "", 400, "HTTPInvalidParam", "10000 values"},
		"dry-run is a word":                {"?dry-run=maybe", in("c", free), 400, "HTTPInvalidParam", `"dry-run"`},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			s.do(t, http.MethodPut, "changesets"+c.query, c.body, inYAML...).
				isFault(t, c.status, c.errorType, c.help)
		})
	}
	s.isAsBefore(t, before)
}
