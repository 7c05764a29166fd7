package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Regressions found in a review.
func TestReview(t *testing.T) { //nolint:tparallel // one after the other: they read the newest revision
	t.Parallel()
	s := newSite(t)
	s.put(t, "schemas", dataSchema("acme/Widget/v1", "{properties: {x: {type: string}}}")).is(t, http.StatusOK)
	s.put(t, "docs", widget("bad", "{x: 1}")).is(t, http.StatusOK)

	t.Run("an entry beyond all numbers", func(t *testing.T) { //nolint:paralleltest // see above
		for _, entry := range []string{"9999999999", "99999999999999999999"} {
			path := "revisions/2/validations/deckhand-schema-validation/entries/" + entry
			s.get(t, path).isFault(t, http.StatusNotFound, "ValidationNotFound")
		}
	})
	t.Run("a page beyond all revisions", func(t *testing.T) { //nolint:paralleltest // see above
		for _, page := range []string{"offset=9223372036854775807", "offset=9223372036854775807&limit=9223372036854775807"} {
			a := s.get(t, "revisions?"+page)
			if n := len(a.results(t)); n != 0 {
				t.Errorf("%s lists %d revisions", page, n)
			}
		}
	})
	t.Run("no document at all comes before an encrypted one", func(t *testing.T) { //nolint:paralleltest // see above
		secret := strings.Replace(widget("secret", "x"), "cleartext", "encrypted", 1)
		s.put(t, "secrets", secret).isFault(t, http.StatusNotImplemented, "HTTPNotImplemented", "secret")
		s.put(t, "secrets", secret+"---\nschema: 5\n").isFault(t, http.StatusBadRequest, "InvalidDocumentFormat")
	})
	t.Run("a note is shown with the entry of the PUT that gave rise to it", func(t *testing.T) { //nolint:paralleltest // see above
		s.put(t, "notes", widget("noted", "{x: a}")).is(t, http.StatusOK)
		s.unchecked().put(t, "notes", widget("noted", "{x: b, x: a}")+widget("other", "{x: a}")).is(t, http.StatusOK)
		entry := s.get(t, "revisions/latest/validations/deckhand-schema-validation/entries/0").is(t, http.StatusOK)
		if !strings.Contains(entry.text, "appears twice") || !strings.Contains(entry.text, "errors: []") {
			t.Errorf("no success with a note:\n%s", entry.text)
		}
	})
	t.Run("a large schema does not make the verdict large", func(t *testing.T) { //nolint:paralleltest // see above
		many := make([]string, 0, 100)
		for i := range 100 {
			many = append(many, fmt.Sprintf("m%d", i))
		}
		schema := "{required: [" + strings.Join(many, ", ") + "], description: " + strings.Repeat("x", 1<<20) + "}"
		s.put(t, "large", dataSchema("acme/Large/v1", schema)+doc("acme/Large/v1", "large", "{}")).is(t, http.StatusOK)
		s.get(t, "revisions/latest/status").is(t, http.StatusOK)
		entry := s.get(t, "revisions/latest/validations/deckhand-schema-validation/entries/1").is(t, http.StatusOK)
		if !strings.Contains(entry.text, "too many to show here") || len(entry.text) > 1<<20 {
			t.Errorf("an answer of %d bytes: %s", len(entry.text), brief(entry.text))
		}
	})
}

// A purge refuses dry-run, so that a client that only wants to try it does not lose the site.
func TestPurge_isNotTried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.do(t, http.MethodDelete, "revisions?dry-run=true", "").
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"dry-run"`)
	s.get(t, "revisions/1").is(t, http.StatusOK)
}

// Numbers begin again after a purge. A change that is conditional on the old revision 1 is not applied to the new one.
func TestIfMatch_acrossPurge(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	seen := s.put(t, "mop", widget("w1", "{}")).Header.Get("ETag")
	s.purge(t)
	s.put(t, "mop", widget("w2", "{}"))
	for _, path := range []string{"buckets/mop/documents", "changesets?buckets=mop"} {
		s.do(t, http.MethodPut, path, "", "If-Match", seen).isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed", "deleted in between")
	}
	s.do(t, http.MethodPost, "revisions/prune?keep=1", "", "If-Match", seen).
		isFault(t, http.StatusPreconditionFailed, "HTTPPreconditionFailed")
	s.get(t, "revisions/latest/documents").isNames(t, "w2@1")
}

// A document that only changes its layer is a changed document in Deckhand's format of deep diffs.
func TestDeepDiff_layer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "policy", layeringPolicy("lp"))
	s.put(t, "a", widget("k", "{x: 1}"))
	s.put(t, "a", strings.Replace(widget("k", "{x: 1}"), "layer: site", "layer: global", 1))
	text := s.get(t, "revisions/2/deepdiff/3").is(t, http.StatusOK).text
	if !strings.Contains(text, "document_changed") || strings.Contains(text, "document_added") {
		t.Errorf("got\n%s", text)
	}
}

// The data of a revision's tags is only read for that revision, and is bounded.
func TestTags_bounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.do(t, http.MethodPost, "revisions/1/tags/big", "x: "+strings.Repeat("y", 65<<10), inYAML...).isFault(t, http.StatusRequestEntityTooLarge, "HTTPPayloadTooLarge")
}

// An error, or an answer that may differ next time, has no ETag and ignores those of the client.
func TestRendering_noTag(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("w1", "{}"))
	for _, has := range []string{"*", `"1-1.0123456789abcdef"`} {
		got := s.get(t, "revisions/1/rendered-documents", "If-None-Match", has)
		got.isFault(t, http.StatusConflict, "LayeringPolicyNotFound")
		if etag := got.Header.Get("ETag"); etag != "" {
			t.Errorf("an error has the ETag %s", etag)
		}
	}
	s.put(t, "policy", layeringPolicy("lp"))
	for _, has := range []string{"*", `"1-1.0123456789abcdef"`} {
		got := s.get(t, "revisions/1/rendered-documents", "If-None-Match", has).is(t, http.StatusOK)
		if etag := got.Header.Get("ETag"); etag != "" {
			t.Errorf("what a later policy renders has the ETag %s", etag)
		}
	}
}
