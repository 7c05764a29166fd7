package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tagged lists paths whose answers have an ETag.
var tagged = []string{
	"revisions", "revisions?limit=1", "revisions/1", "revisions/latest", "revisions/1/documents", "revisions/1/documents?limit=1",
	"revisions/1/rendered-documents", "revisions/1/rendered-documents?limit=1",
	"revisions/1/tags", "revisions/1/tags/good", "revisions/1/diff/2", "revisions/1/deepdiff/2", "revisions/1/deepdiff/2?format=unified",
	"revisions/1/deepdiff/2?format=json-patch", "revisions/1/status", "revisions/1/validations", "revisions/1/validations/detail",
	"revisions/1/validations/" + own, "revisions/1/validations/" + own + "/entries/0", "/versions", "/readyz",
}

func (s site) fillConditions(t *testing.T) {
	t.Helper()
	s.put(t, "a", widget("w1", "{}")+widget("w2", "{}")+layeringPolicy("lp")).is(t, http.StatusOK)
	s.put(t, "a", widget("w1", "{x: 1}")+layeringPolicy("lp")).is(t, http.StatusOK)
	s.tag(t, 1, "good")
}

func (s site) etag(t *testing.T, path string, header ...string) string {
	t.Helper()
	etag := s.get(t, path, header...).is(t, http.StatusOK).Header.Get("ETag")
	if etag == "" {
		t.Errorf("%s has no ETag", path)
	}
	return etag
}

func TestConditions_ofReading(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillConditions(t)
	for _, path := range tagged {
		etag := s.etag(t, path)
		for _, known := range []string{etag, "W/" + etag, `"other", ` + etag, etag + `,"other"`, "*", ` "x" ,W/` + etag + " "} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				got := s.do(t, method, path, "", "If-None-Match", known).is(t, http.StatusNotModified)
				if got.text != "" || got.Header.Get("ETag") != etag {
					t.Errorf("%s %s: 304 with the ETag %s and the body %q", method, path, got.Header.Get("ETag"), got.text)
				}
			}
		}
		for _, unknown := range []string{`"other"`, strings.Trim(etag, `"`), `""`, "nonsense", `"1"`, strings.ToUpper(etag) + "x"} {
			if got := s.get(t, path, "If-None-Match", unknown).is(t, http.StatusOK); got.text == "" {
				t.Errorf("%s: nothing although the client has %s", path, unknown)
			}
		}
		if !strings.Contains(path, "format=") {
			if other := s.etag(t, path, "Accept", typeJSON); other == etag {
				t.Errorf("%s: YAML and JSON have the same ETag", path)
			}
		}
		head := s.do(t, http.MethodHead, path, "").is(t, http.StatusOK)
		if diff := cmp.Diff(etag, head.Header.Get("ETag")); diff != "" {
			t.Errorf("ETag of HEAD %s (-GET +HEAD):\n%s", path, diff)
		}
	}
	for _, path := range []string{"revisions/9", "revisions/9/documents", "revisions/9/rendered-documents", "revisions/9/diff/0", "revisions/1/tags/none"} {
		if got := s.get(t, path, "If-None-Match", "*").is(t, http.StatusNotFound); got.Header.Get("ETag") != "" {
			t.Errorf("%s is not found and has the ETag %s", path, got.Header.Get("ETag"))
		}
	}
}

func TestConditions_whenETagsChange(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillConditions(t)
	before := map[string]string{}
	for _, path := range tagged {
		before[path] = s.etag(t, path)
	}
	isSame := func(when, path string, want bool) {
		t.Helper()
		if same := s.etag(t, path) == before[path]; same != want {
			t.Errorf("%s: the ETag of %s is the same: %v, want %v", when, path, same, want)
		}
	}
	s.put(t, "a", "")
	for _, path := range tagged {
		isSame("after another revision", path, path != "revisions" && path != "revisions/latest")
	}
	s.tag(t, 1, "better")
	isSame("after another tag", "revisions/1", false)
	isSame("after another tag", "revisions/1/tags", false)
	isSame("after another tag", "revisions/1/tags/good", true)
	isSame("after another tag", "revisions/1/documents", true)
	isSame("after another tag", "revisions/1/rendered-documents", true)
	s.report(t, 1, "a-validation", "failure")
	isSame("after a result", "revisions/1/status", false)
	if s.etag(t, "revisions/1/documents?metadata.name=w1") == s.etag(t, "revisions/1/documents?metadata.name=w2") {
		t.Error("different documents have the same ETag")
	}
	s.purge(t)
	s.fillConditions(t)
	isSame("after a purge", "revisions/1/documents", false)
	isSame("after a purge", "revisions/1/rendered-documents", false)
	isSame("after a purge", "revisions/1", false)
	s.get(t, "revisions/1/documents", "If-None-Match", before["revisions/1/documents"]).is(t, http.StatusOK)
	isSame("after a purge", "revisions/1/diff/2", true)
}
