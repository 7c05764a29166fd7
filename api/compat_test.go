package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompat(t *testing.T) {
	t.Parallel()
	w1 := widget("w1", "{size: 177}")
	t.Run("C1: only control documents are checked", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1+sizes()+doc("deckhand/Passphrase/v1", "p", "5")+
			control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: 5}")).is(t, http.StatusOK)
		s.isOutcomes(t, "1", "success", "success", "success", "failure")
		s.isMessages(t, "1", 3, ".data.layerOrder: 5 is not of type 'array'")
	})
	t.Run("C2: every PUT of documents makes a revision", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", w1).isNames(t, "w1@2")
		s.isRevision(t, 2)
		s.get(t, "revisions/2/documents").isNames(t, "w1@1")
	})
	t.Run("C2: an empty PUT does where there ever were documents", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", "")
		s.isRevision(t, 0)
		s.put(t, "mop", w1)
		s.put(t, "mop", "")
		s.put(t, "mop", "")
		s.isRevision(t, 3)
	})
	t.Run("C3: entries have no times", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1)
		s.report(t, 1, "a-validation", "success")
		want := map[string]any{
			"createdAt": nil, "errors": []any{}, "expiresAfter": nil, "name": "a-validation", "status": "success",
		}
		got := s.get(t, "revisions/1/validations/a-validation/entries/0").mapping(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("entry (-want +got):\n%s", diff)
		}
		want["id"] = 1
		if diff := cmp.Diff(want, s.get(t, "revisions/1/validations/detail").results(t)[1]); diff != "" {
			t.Errorf("detail (-want +got):\n%s", diff)
		}
	})
	t.Run("C4: ValidationPolicies are hidden", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", policy("ready", own)+w1).isNames(t, "w1@1")
		s.get(t, "revisions/1/documents").isNames(t, "w1@1")
		got := s.put(t, "mop", policy("ready", own)).documents(t)
		want := []map[string]any{{"status": map[string]any{"bucket": "mop", "revision": 2}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("PUT of a policy alone (-want +got):\n%s", diff)
		}
		s.get(t, "revisions/2/documents").isNames(t)
	})
	t.Run("C5: listings are whole", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1)
		s.put(t, "mop", w1)
		if n := len(s.get(t, "revisions?limit=1&offset=1").results(t)); n != 2 {
			t.Errorf("%d revisions with a limit, want 2", n)
		}
		s.get(t, "revisions?limit=x").is(t, http.StatusOK)
	})
	t.Run("D8: policies are listed without validations", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", policy("ready", "a-validation"))
		got := s.get(t, "revisions/1").mapping(t)
		want := []any{map[string]any{
			"name": "ready", "status": "failure",
			"url": siteURL + "/api/v1.0/revisions/1/documents?metadata.name=ready&schema=deckhand%2FValidationPolicy%2Fv1",
		}}
		if diff := cmp.Diff([]any{"failed", want}, []any{got["status"], got["validationPolicies"]}); diff != "" {
			t.Errorf("status and policies (-want +got):\n%s", diff)
		}
	})
	t.Run("D10: any short status under any name", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1)
		for _, name := range []string{own, "a-validation"} {
			s.do(t, http.MethodPost, "revisions/1/validations/"+name, "{status: pending, validator: x}", inYAML...).is(t, http.StatusCreated)
		}
		s.do(t, http.MethodPost, "revisions/1/validations/a-validation", "{status: longer than eight, validator: x}", inYAML...).isFault(t, http.StatusBadRequest, "HTTPBadRequest", "status")
	})
	t.Run("without a policy the status is success", func(t *testing.T) {
		t.Parallel()
		s := compatSite(t)
		s.put(t, "mop", w1)
		s.report(t, 1, "a-validation", "failure")
		if got := s.get(t, "revisions/1").mapping(t)["status"]; got != "success" {
			t.Errorf("status %v, want success", got)
		}
	})
}
