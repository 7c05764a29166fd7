package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changeSet puts documents into their buckets. The query may name further buckets.
func (s site) changeSet(t *testing.T, query, documents string) response {
	t.Helper()
	return s.do(t, http.MethodPut, "changesets"+query, documents, inYAML...)
}

// isPlaced checks the documents of a revision with their buckets and origins, in order: "w1 in a@1".
func (s site) isPlaced(t *testing.T, revision string, want ...string) {
	t.Helper()
	list := []string{}
	for _, document := range s.get(t, "revisions/"+revision+"/documents").is(t, http.StatusOK).documents(t) {
		list = append(list, placed(document))
	}
	if diff := cmp.Diff(append([]string{}, want...), list); diff != "" {
		t.Errorf("documents of revision %s (-want +got):\n%s", revision, diff)
	}
}

func placed(document map[string]any) string {
	metadata, _ := document["metadata"].(map[string]any)
	status, _ := document["status"].(map[string]any)
	return fmt.Sprintf("%v in %v@%v", metadata["name"], status["bucket"], status["revision"])
}

func TestChangeSet(t *testing.T) {
	t.Parallel()
	w1, w2, w3 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}"), widget("w3", "{x: 3}")
	t.Run("several buckets make one revision", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		got := s.changeSet(t, "", in("b", w2)+in("a", w1)+in("b", w3))
		got.isNames(t, "w2@1", "w1@1", "w3@1")
		if diff := cmp.Diff("w1 in a@1", placed(got.documents(t)[1])); diff != "" {
			t.Errorf("second document (-want +got):\n%s", diff)
		}
		s.isPlaced(t, "1", "w2 in b@1", "w1 in a@1", "w3 in b@1")
		shown := s.get(t, "revisions/1").mapping(t)
		if diff := cmp.Diff([]any{[]any{"a", "b"}, "changeset"}, []any{shown["buckets"], shown["kind"]}); diff != "" {
			t.Errorf("buckets and kind (-want +got):\n%s", diff)
		}
		s.isOutcomes(t, "1", "success", "success", "success")
		s.isRevision(t, 1)
	})
	t.Run("what a bucket that is named leaves out is deleted", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.put(t, "b", w3)
		s.changeSet(t, "", in("a", w2)+in("c", widget("w4", "{}"))).isNames(t, "w2@3", "w4@3")
		s.isPlaced(t, "3", "w2 in a@1", "w3 in b@2", "w4 in c@3")
	})
	t.Run("a document moves", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.put(t, "b", w3)
		s.changeSet(t, "", in("a", w2)+in("b", w3+w1)).is(t, http.StatusOK)
		s.isPlaced(t, "3", "w1 in b@3", "w2 in a@1", "w3 in b@2")
		s.isPlaced(t, "2", "w1 in a@1", "w2 in a@1", "w3 in b@2")
		s.put(t, "a", w1+w2).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: b")
	})
	t.Run("documents change places", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+layeringPolicy("lp"))
		s.put(t, "b", w2)
		s.changeSet(t, "", in("b", w1)+in("a", w2)+in("b", layeringPolicy("lp"))).is(t, http.StatusOK)
		s.isPlaced(t, "3", "w1 in b@3", "lp in b@3", "w2 in a@3")
	})
	t.Run("a bucket is renamed", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "old", w1+w2)
		s.changeSet(t, "?buckets=old", in("new", w1+w2)).is(t, http.StatusOK)
		s.isPlaced(t, "2", "w1 in new@2", "w2 in new@2")
		s.put(t, "old", w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: new")
	})
	t.Run("buckets that are only named are emptied", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.changeSet(t, "", in("a", w1)+in("b", w2)+in("'c d'", w3)).is(t, http.StatusOK)
		got := s.changeSet(t, "?buckets=b,c%20d,unknown", "").is(t, http.StatusOK).documents(t)
		want := []map[string]any{
			{"status": map[string]any{"bucket": "b", "revision": 2}}, {"status": map[string]any{"bucket": "c d", "revision": 2}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		s.isPlaced(t, "2", "w1 in a@1")
		s.changeSet(t, "?buckets=b,c%20d&dry-run=false", "").isNames(t)
		s.do(t, http.MethodPut, "changesets?buckets=b&buckets=a,b", "").is(t, http.StatusOK)
		s.isPlaced(t, "3")
		s.isRevision(t, 3)
	})
	t.Run("naming a bucket that is filled does not empty it", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.changeSet(t, "?buckets=a,b", in("a", w1)).isNames(t, "w1@1")
		s.changeSet(t, "?buckets=a,b", in("a", w1)).isNames(t, "w1@1")
		s.isRevision(t, 1)
	})
	t.Run("what GET shows goes back and changes nothing", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.changeSet(t, "", in("a", w1+layeringPolicy("lp"))+in("b", w2+widget("w5", `{"é\u2028": [1, null, "yes", "1e3", 1.50]}`))).is(t, http.StatusOK)
		for _, kind := range []string{typeXYAML, typeYAML, typeJSON} {
			shown := s.get(t, "revisions/latest/documents", "Accept", kind)
			s.do(t, http.MethodPut, "changesets", shown.text, "Content-Type", kind).isNames(t, "w1@1", "lp@1", "w2@1", "w5@1")
		}
		s.isRevision(t, 1)
	})
	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		one := `{"schema": "acme/Widget/v1", "metadata": {"schema": "metadata/Control/v1", "name": "w"}, "status": {"bucket": "b"}}`
		for range 2 {
			s.do(t, http.MethodPut, "changesets", one, "Content-Type", typeJSON).isNames(t, "w@1")
		}
		s.isPlaced(t, "1", "w in b@1")
	})
	t.Run("the same text is another document for another bucket", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		text := in("b", w1)
		s.put(t, "a", text) // names bucket b, which does not matter here
		s.isPlaced(t, "1", "w1 in a@1")
		s.changeSet(t, "", text).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: a")
		s.changeSet(t, "?buckets=a", text).is(t, http.StatusOK)
		s.isPlaced(t, "2", "w1 in b@2")
		s.put(t, "b", text).isNames(t, "w1@2")
		s.isRevision(t, 2)
	})
	t.Run("entries are those of the whole set", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "else", widget("elsewhere", "{size: 500}"))
		s.changeSet(t, "", in("a", widget("bad", "{size: 177}"))+in("b", sizes()+widget("good", "{size: 1}"))).is(t, http.StatusOK)
		s.isOutcomes(t, "2", "failure", "success", "success", "failure")
		s.isMessages(t, "2", 3, ".data.size: 500 is greater than the maximum of 100")
	})
}
