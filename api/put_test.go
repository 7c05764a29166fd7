package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPutBucket(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	t.Run("answers in payload order with the new revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w2+w1).isNames(t, "w2@1", "w1@1")
		s.put(t, "mop", w1+w2+widget("w3", "{}")).isNames(t, "w1@2", "w2@2", "w3@2")
		s.get(t, "revisions/2/documents").isNames(t, "w2@1", "w1@1", "w3@2")
	})
	t.Run("unchanged makes no revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		s.put(t, "other", widget("w3", "{}"))
		s.put(t, "mop", w1+w2).isNames(t, "w1@2", "w2@2")
		s.isRevision(t, 2)
	})
	t.Run("order of documents and keys is no change", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", widget("w1", "{a: 1, b: 2}")+w2)
		s.put(t, "mop", w2+widget("w1", "{b: 2, a: 1}")).isNames(t, "w2@1", "w1@1")
		s.isRevision(t, 1)
	})
	t.Run("other spelling of the same values is no change", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", widget("w1", "{a: 017, b: yes, c: 'x'}"))
		s.put(t, "mop", widget("w1", "{a: 15, b: true, c: x} # as before"))
		s.isRevision(t, 1)
	})
	t.Run("one changed document keeps the origin of the others", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		s.put(t, "mop", w1+widget("w2", "{x: 3}")).isNames(t, "w1@2", "w2@2")
		s.get(t, "revisions/2/documents").isNames(t, "w1@1", "w2@2")
		s.get(t, "revisions/1/documents").isNames(t, "w1@1", "w2@1")
	})
	t.Run("a change of metadata alone is a change", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", docWith("acme/Widget/v1", "w1", "{x: 1}", ", labels: {a: b}"))
		s.isRevision(t, 2)
	})
	t.Run("the origin survives a PUT to another bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		s.put(t, "other", widget("w3", "{}"))
		s.put(t, "mop", w1+widget("w2", "{x: 3}"))
		s.get(t, "revisions/latest/documents").isNames(t, "w1@1", "w2@3", "w3@2")
	})
	t.Run("what is left out is deleted and stays in earlier revisions", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		s.put(t, "mop", w2).isNames(t, "w2@2")
		s.get(t, "revisions/2/documents").isNames(t, "w2@1")
		s.get(t, "revisions/1/documents").isNames(t, "w1@1", "w2@1")
	})
	t.Run("other buckets stay", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "other", w2)
		s.put(t, "mop", "")
		s.get(t, "revisions/latest/documents").isNames(t, "w2@2")
	})
	t.Run("empty deletes all and answers with the status alone", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		got := s.put(t, "mop", "").is(t, http.StatusOK).documents(t)
		want := []map[string]any{{"status": map[string]any{"bucket": "mop", "revision": 2}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		s.get(t, "revisions/2/documents").isNames(t)
	})
	t.Run("empty on an unknown bucket makes no revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		if got := s.put(t, "mop", "").is(t, http.StatusOK); got.text != "" {
			t.Errorf("answer %q, want nothing", got.text)
		}
		s.isRevision(t, 0)
	})
	t.Run("empty for the second time makes no revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", "")
		s.put(t, "mop", "\n").isNames(t)
		s.isRevision(t, 2)
	})
	t.Run("nothing but comments is no way to empty a bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", "# nothing\n").isFault(t, http.StatusBadRequest, "HTTPBadRequest", "PUT an empty body")
		s.get(t, "revisions/latest/documents").isNames(t, "w1@1")
	})
	t.Run("a deleted document may come back", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", "")
		s.put(t, "mop", w1)
		s.get(t, "revisions/3/documents").isNames(t, "w1@3")
	})
	t.Run("what GET shows can be put back", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+widget("w2", `{text: "a\nb\n", list: [1, null, yes, "yes", 1.5, "1e3", 2001-01-01], m: {}, é: "\u2028"}`))
		shown := s.get(t, "revisions/1/documents")
		s.put(t, "mop", shown.text).isNames(t, "w1@1", "w2@1")
		s.isRevision(t, 1)
	})
	t.Run("the JSON that GET shows can be put back", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		shown := s.get(t, "revisions/1/documents", "Accept", "application/json")
		s.do(t, http.MethodPut, "buckets/mop/documents", shown.text, "Content-Type", "application/json").isNames(t, "w1@1", "w2@1")
		s.isRevision(t, 1)
	})
	t.Run("keys beside schema metadata and data are ignored", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+"id: 77\ndeleted: true\nstatus: {bucket: zzz, revision: 9}\nextra: 1\n").isNames(t, "w1@1")
		got := s.get(t, "revisions/1/documents").documents(t)[0]
		if got["id"] == 77 {
			t.Error("the client chose the id")
		}
	})
	t.Run("bucket names are percent-decoded once", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		got := s.put(t, "a%2Fb%2520c%20%C3%A9", w1).is(t, http.StatusOK).documents(t)
		want := map[string]any{"bucket": "a/b%20c é", "revision": 1}
		if diff := cmp.Diff(want, got[0]["status"]); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
}

func TestPutBucket_showsWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", `
schema: acme/Widget/v1
metadata:
  schema: metadata/Document/v1
  name: w1
  labels: {a: b}
  storagePolicy: cleartext
  layeringDefinition: {layer: site}
data: {when: 2026-01-02, octal: 017, minutes: 1:30, no way: off, exp: 1e3, half: .5, 7: seven, text: "1"}
`)
	want := []map[string]any{{
		"data": map[string]any{
			"when": "2026-01-02", "octal": 15, "minutes": 90, "no way": false, "exp": "1e3", "half": 0.5, "7": "seven",
			"text": "1",
		},
		"id": 1,
		"metadata": map[string]any{
			"schema": "metadata/Document/v1", "name": "w1", "labels": map[string]any{"a": "b"}, "storagePolicy": "cleartext",
			"layeringDefinition": map[string]any{"layer": "site", "abstract": false}, "replacement": false,
		},
		"schema": "acme/Widget/v1",
		"status": map[string]any{"bucket": "mop", "revision": 1},
	}}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/documents").documents(t)); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestPutBucket_fillsInDefaults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, c := range map[string]struct {
		submitted string
		data      any
		metadata  map[string]any
	}{
		"control document": {
			"schema: acme/Widget/v1\nmetadata: {schema: metadata/Control/v1, name: a}",
			map[string]any{},
			map[string]any{
				"schema": "metadata/Control/v1", "name": "a", "storagePolicy": "cleartext", "replacement": false,
				"layeringDefinition": map[string]any{"abstract": false},
			},
		},
		"null data stays null": {
			"schema: acme/Widget/v1\nmetadata: {schema: metadata/Control/v1, name: b, storagePolicy: ''}\ndata: null",
			nil,
			map[string]any{
				"schema": "metadata/Control/v1", "name": "b", "storagePolicy": "cleartext", "replacement": false,
				"layeringDefinition": map[string]any{"abstract": false},
			},
		},
		"what is given stays": {
			"schema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, name: c, storagePolicy: cleartext, " +
				"replacement: true, layeringDefinition: {layer: site, abstract: true}}\ndata: [1]",
			[]any{1},
			map[string]any{
				"schema": "metadata/Document/v1", "name": "c", "storagePolicy": "cleartext", "replacement": true,
				"layeringDefinition": map[string]any{"abstract": true, "layer": "site"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.put(t, strings.ReplaceAll(name, " ", "%20"), c.submitted).is(t, http.StatusOK).documents(t)[0]
			if diff := cmp.Diff([]any{c.data, c.metadata}, []any{got["data"], got["metadata"]}); diff != "" {
				t.Errorf("data and metadata (-want +got):\n%s", diff)
			}
		})
	}
}
