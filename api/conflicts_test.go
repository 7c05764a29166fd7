package api_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestPutBucket_ownership(t *testing.T) {
	t.Parallel()
	w1, w2 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}")
	const taken = "Document [acme/Widget/v1, site] w1 already exists in bucket: mop"
	t.Run("a document belongs to one bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "thief", w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", taken)
		s.isRevision(t, 1)
	})
	t.Run("also with other content", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "thief", w2+widget("w1", "{x: 5}")).isFault(t, http.StatusConflict, "DuplicateDocumentExists", taken)
		s.get(t, "revisions/latest/documents").isNames(t, "w1@1")
	})
	t.Run("also when another bucket was written in between", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "other", w2)
		s.put(t, "thief", w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", taken)
	})
	t.Run("a deleted document may be created elsewhere", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+w2)
		s.put(t, "mop", w2)
		s.put(t, "heir", w1).isNames(t, "w1@3")
		s.put(t, "mop", w2+w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: heir")
	})
	t.Run("the same name in another layer is another document", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "other", strings.Replace(w1, "layer: site", "layer: global", 1)).isNames(t, "w1@2")
	})
	t.Run("twice in a payload", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1+widget("w1", "{x: 3}")).isFault(t, http.StatusConflict, "DuplicateDocumentExists", taken)
		s.isRevision(t, 0)
	})
	t.Run("twice in a payload without a layer", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", dataSchema("acme/A/v1", "{}")+dataSchema("acme/A/v1", "{type: object}")).
			isFault(t, http.StatusConflict, "DuplicateDocumentExists", "[deckhand/DataSchema/v1, None] acme/A/v1", "mop")
		s.isRevision(t, 0)
	})
	t.Run("the same text twice in a payload", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", w1+w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", taken)
		s.isRevision(t, 1)
	})
}

func TestPutBucket_layeringPolicyIsSingleton(t *testing.T) {
	t.Parallel()
	a, b := layeringPolicy("a"), layeringPolicy("b")
	const conflict = "A singleton document [deckhand/LayeringPolicy/v1, None] a already exists in the system. " +
		"The new document(s) [deckhand/LayeringPolicy/v1, None] b cannot be created. " +
		"To create a document with a new name, delete the current one first"
	refused := func(t *testing.T, got response) {
		t.Helper()
		got.isFault(t, http.StatusConflict, "SingletonDocumentConflict", conflict)
	}
	t.Run("a second one in another bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		refused(t, s.put(t, "other", b))
	})
	t.Run("a second one in another bucket after other PUTs", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		s.put(t, "x", widget("w1", "{}"))
		refused(t, s.put(t, "other", b))
	})
	t.Run("a renamed one in the same bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		refused(t, s.put(t, "mop", b))
	})
	t.Run("a second one beside the first", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		refused(t, s.put(t, "mop", a+b))
		refused(t, s.put(t, "mop", b+a))
	})
	t.Run("two in one payload on an empty system", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		refused(t, s.put(t, "mop", a+b))
		s.isRevision(t, 0)
	})
	t.Run("the same in another bucket is owned", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		s.put(t, "other", a).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: mop")
	})
	t.Run("an update is no second one", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		s.put(t, "mop", strings.Replace(a, "[global, site]", "[site]", 1)).isNames(t, "a@2")
	})
	t.Run("after deletion another may come", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "mop", a)
		s.put(t, "mop", "")
		s.put(t, "other", b).isNames(t, "b@3")
	})
}
