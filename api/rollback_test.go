package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (s site) rollback(t *testing.T, target string) response {
	t.Helper()
	return s.do(t, http.MethodPost, "rollback/"+target, "")
}

// isRollback rolls back and checks the answer about the new revision.
func (s site) isRollback(t *testing.T, target string, number, origin int, buckets ...any) {
	t.Helper()
	made := s.rollback(t, target).is(t, http.StatusCreated).mapping(t)
	want := map[string]any{"id": number, "kind": "rollback", "rolledBackTo": origin, "buckets": append([]any{}, buckets...)}
	got := map[string]any{}
	for key := range want {
		got[key] = made[key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rollback to %s (-want +got):\n%s", target, diff)
	}
	if diff := cmp.Diff(s.get(t, "revisions/latest").mapping(t), made); diff != "" {
		t.Errorf("the answer to rollback/%s is not the newest revision (-shown +answered):\n%s", target, diff)
	}
}

func TestRollback(t *testing.T) {
	t.Parallel()
	w1, w2, w3 := widget("w1", "{x: 1}"), widget("w2", "{x: 2}"), widget("w3", "{x: 3}")
	t.Run("documents that were added later vanish", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1)
		s.put(t, "a", w1+w2)
		s.put(t, "b", w3)
		s.isRollback(t, "1", 4, 1, "a", "b")
		s.isPlaced(t, "4", "w1 in a@1")
		s.isPlaced(t, "3", "w1 in a@1", "w2 in a@2", "w3 in b@3")
	})
	t.Run("documents that were deleted stay deleted", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.put(t, "b", w3)
		s.put(t, "a", w1)
		s.put(t, "b", "")
		s.put(t, "c", widget("w4", "{}"))
		s.isRollback(t, "4", 6, 4, "c")
		s.isPlaced(t, "6", "w1 in a@1")
		s.isRollback(t, "3", 7, 3, "b")
		s.isPlaced(t, "7", "w1 in a@1", "w3 in b@7")
	})
	t.Run("only what differs is written", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.put(t, "a", w1+widget("w2", "{x: 5}"))
		s.isRollback(t, "1", 3, 1, "a")
		s.isPlaced(t, "3", "w1 in a@1", "w2 in a@3")
		s.isDiff(t, "1 3", "a:unmodified")
	})
	t.Run("to itself", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1)
		s.isRollback(t, "1", 2, 1)
		s.isRollback(t, "latest", 3, 2)
		s.isPlaced(t, "3", "w1 in a@1")
	})
	t.Run("to nothing and back", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.isRollback(t, "0", 1, 0)
		s.isPlaced(t, "1")
		s.isOutcomes(t, "1", "success")
		s.put(t, "b", w1+layeringPolicy("lp"))
		s.put(t, "a", w2)
		s.isRollback(t, "0", 4, 0, "a", "b")
		s.isPlaced(t, "4")
		s.isRollback(t, "0", 5, 0)
		s.isRollback(t, "3", 6, 3, "a", "b")
		s.isPlaced(t, "6", "w1 in b@6", "lp in b@6", "w2 in a@6")
		s.isRollback(t, "1", 7, 1, "a", "b")
		s.isPlaced(t, "7")
	})
	t.Run("order is restored", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.put(t, "b", w3)
		s.put(t, "a", w2) // w1 is deleted, and loses its position
		s.put(t, "a", w1+w2)
		s.isPlaced(t, "4", "w2 in a@1", "w3 in b@2", "w1 in a@4")
		s.isRollback(t, "2", 5, 2, "a")
		s.isPlaced(t, "5", "w1 in a@5", "w2 in a@1", "w3 in b@2")
		s.isDiff(t, "4 5", "a:unmodified b:unmodified")
	})
	t.Run("a moved document moves back", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1+w2)
		s.changeSet(t, "?buckets=a", in("b", w1+w2)).is(t, http.StatusOK)
		s.isRollback(t, "1", 3, 1, "a", "b")
		s.isPlaced(t, "3", "w1 in a@3", "w2 in a@3")
		s.put(t, "b", w1).isFault(t, http.StatusConflict, "DuplicateDocumentExists", "in bucket: a")
	})
	t.Run("a PUT afterwards goes by what was restored", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1)
		s.put(t, "a", w2)
		s.put(t, "a", w2).isNames(t, "w2@2")
		s.isRollback(t, "1", 3, 1, "a")
		s.put(t, "a", w1).isNames(t, "w1@3")
		s.put(t, "a", w2).isNames(t, "w2@4")
		s.isPlaced(t, "latest", "w2 in a@4")
		s.isRollback(t, "0", 5, 0, "a")
		s.put(t, "a", "").isNames(t)
		s.put(t, "b", w2).isNames(t, "w2@6")
	})
	t.Run("the LayeringPolicy is the restored one", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", layeringPolicy("old"))
		s.put(t, "a", "")
		s.put(t, "b", layeringPolicy("new"))
		s.isRollback(t, "1", 4, 1, "a", "b")
		s.put(t, "b", layeringPolicy("new")).isFault(t, http.StatusConflict, "SingletonDocumentConflict", "old already exists")
	})
	t.Run("a body is not read", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.put(t, "a", w1)
		for kind, status := range map[string]int{
			typeXYAML: http.StatusCreated, typeJSON: http.StatusCreated, "": http.StatusBadRequest, "text/plain": http.StatusUnsupportedMediaType,
		} {
			var header []string
			if kind != "" {
				header = []string{"Content-Type", kind}
			}
			s.do(t, http.MethodPost, "rollback/1", "{no YAML", header...).is(t, status)
		}
		s.isRevision(t, 3)
	})
}

func TestRollback_isValidatedAsAWhole(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	noted := "---\nschema: acme/Noted/v1\nmetadata: {schema: metadata/Control/v1, name: noted}\ndata: {x: 1, x: 2}\n"
	s.put(t, "a", widget("good", "{size: 1}")+widget("big", "{size: 177}"))
	s.unchecked().put(t, "b", noted+widget("good2", "{size: 2}")).is(t, http.StatusOK)
	s.put(t, "c", sizes())
	s.put(t, "p", policy("ready", own))
	s.isOutcomes(t, "3", "success", "failure")

	const duplicate = "The key 'x' appears twice in one mapping, at lines 4 and 4; the last one wins."
	// Without the DataSchema nothing fails.
	s.isRollback(t, "2", 5, 2, "c", "p")
	s.isPlaced(t, "5", "good in a@1", "big in a@1", "noted in b@2", "good2 in b@2")
	s.isOutcomes(t, "5", "success", "success", "success", "success")
	s.isNoted(t, "5", 2, duplicate)
	s.isVerdict(t, "5", "success; reported: "+own+"=success")
	// With the DataSchema one document fails, in its position among all documents.
	s.isRollback(t, "4", 6, 4, "c", "p")
	s.isOutcomes(t, "6", "success", "failure", "success", "success", "success", "success")
	s.isMessages(t, "6", 1, ".data.size: 177 is greater than the maximum of 100")
	s.isNoted(t, "6", 2, duplicate)
	s.isVerdict(t, "6", "failure; ready: "+own+"=failure")
	s.isRollback(t, "1", 7, 1, "b", "c", "p")
	s.isOutcomes(t, "7", "success", "success")
	// After a rollback to revision 0, everything is written again with the same content.
	s.isRollback(t, "0", 8, 0, "a")
	s.isOutcomes(t, "8", "success")
	s.isRollback(t, "6", 9, 6, "a", "b", "c", "p")
	s.isOutcomes(t, "9", "success", "failure", "success", "success", "success", "success")
	s.isMessages(t, "9", 1, ".data.size: 177 is greater than the maximum of 100")
	s.isNoted(t, "9", 2, duplicate)
	// A PUT uses the results of rollbacks.
	s.put(t, "x", widget("other", "{size: 5}"))
	s.isOutcomes(t, "10", "success", "failure")
}

// Results of other services for a revision count again after a rollback to it, for as long as they did before.
func TestRollback_carriesResults(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "p", policy("ready", "{name: a-validation, expiresAfter: P1D}", "b-validation"))
	s.report(t, 1, "a-validation", "failure")
	s.report(t, 1, "a-validation", "success")
	s.report(t, 1, "b-validation", "success")
	s.put(t, "b", widget("w", "{}"))
	s.isVerdict(t, "2", "failure; ready: a-validation=missing b-validation=missing; ignored: "+own+"=success")
	dry := s.do(t, http.MethodPost, "rollback/1?dry-run=true", "").is(t, http.StatusOK)
	made := s.rollback(t, "1").is(t, http.StatusCreated)
	for _, got := range []response{dry, made} {
		if status := got.Header.Get("Purser-Status"); status != "success; findings=0" {
			t.Errorf("Purser-Status: %s", status)
		}
	}
	s.isVerdict(t, "3", "success; ready: a-validation=success b-validation=success; ignored: "+own+"=success")
	if n := len(s.get(t, "revisions/3/validations/a-validation").results(t)); n != 1 {
		t.Errorf("%d results, want the newest of that name", n)
	}
	posted := s.get(t, "revisions/1/validations/a-validation/entries/1").mapping(t)
	s.report(t, 3, "b-validation", "failure")
	again := s.rollback(t, "3").is(t, http.StatusCreated) // carried from revision 3, for which they were posted, not from the one in between
	if status := again.Header.Get("Purser-Status"); status != "failure; findings=1" {
		t.Errorf("Purser-Status: %s", status)
	}
	s.isVerdict(t, "4", "failure; ready: a-validation=success b-validation=failure; ignored: "+own+"=success")
	for _, revision := range []string{"3", "4"} {
		carried := s.get(t, "revisions/"+revision+"/validations/a-validation/entries/0").mapping(t)
		want := []any{1, posted["createdAt"], posted["expiresAt"], posted["status"]}
		got := []any{carried["carriedFrom"], carried["createdAt"], carried["expiresAt"], carried["status"]}
		if diff := cmp.Diff(want, got); diff != "" || posted["carriedFrom"] != nil {
			t.Errorf("origin, times and status of what revision %s carries (-want +got):\n%s", revision, diff)
		}
	}
	own := s.get(t, "revisions/4/validations/b-validation/entries/0").mapping(t)
	if own["carriedFrom"] != 3 {
		t.Errorf("carried from %v, want 3", own["carriedFrom"])
	}
}

func TestRollback_keepsBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("w", `{"z": 1.50, "a": [1e3, "1e3", null, {}], "é": "\u2028", n: 0.10, text: "a\nb"}`)+widget("v", "null"))
	before := s.get(t, "revisions/1/documents", "Accept", typeJSON).text
	s.put(t, "a", widget("w", `{"a": 1}`))
	s.rollback(t, "1").is(t, http.StatusCreated)
	after := s.get(t, "revisions/3/documents", "Accept", typeJSON).text
	for part := range strings.SplitSeq(before, "\n") {
		data, _, _ := strings.Cut(part, `,"id":`)
		if !strings.Contains(after, data) {
			t.Errorf("%s is not in what was restored:\n%s", data, after)
		}
	}
}
