package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// withoutTime checks that createdAt is a time during this test run, and removes it.
func withoutTime(t *testing.T, shown any) map[string]any {
	t.Helper()
	const key = "createdAt"
	mapping, _ := shown.(map[string]any)
	text, _ := mapping[key].(string)
	at, err := time.Parse("2006-01-02T15:04:05.000000", text)
	if age := time.Since(at); err != nil || age < -time.Second || age > time.Hour {
		t.Errorf("%s is %v, want a time just now in UTC", key, mapping[key])
	}
	delete(mapping, key)
	return mapping
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

// withoutStamp returns a revision in an answer without its stamp.
func withoutStamp(t *testing.T, shown map[string]any) map[string]any {
	t.Helper()
	stamp(t, shown)
	delete(shown, "stamp")
	if chain, given := shown["chain"].(string); given && !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(chain) {
		t.Errorf("chain value %q", chain)
	}
	delete(shown, "chain")
	return shown
}

func TestListRevisions(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	want := map[string]any{"count": 0, "results": []any{}, "next": nil, "prev": nil}
	if diff := cmp.Diff(want, s.get(t, "revisions").mapping(t)); diff != "" {
		t.Errorf("nothing (-want +got):\n%s", diff)
	}
	for i := range 4 {
		s.put(t, fmt.Sprintf("b%d", i), widget(fmt.Sprintf("w%d", i), "{}"))
	}
	var wanted, got []any
	for i, item := range s.get(t, "revisions").results(t) {
		wanted = append(wanted, map[string]any{
			"buckets": []any{fmt.Sprintf("b%d", i)}, "id": i + 1, "kind": "put", "user": nil, "message": nil, "source": nil,
			"status": "success", "tags": []any{}, "validationPolicies": []any{},
		})
		got = append(got, withoutStamp(t, withoutTime(t, item)))
	}
	if diff := cmp.Diff(wanted, got); diff != "" || len(got) != 4 {
		t.Errorf("%d revisions, want 4 (-want +got):\n%s", len(got), diff)
	}
	for query, want := range map[string][]any{
		"limit=2": {1, 2}, "limit=0": nil, "offset=1": {2, 3, 4}, "offset=1&limit=2": {2, 3}, "offset=9": nil,
	} {
		var got []any
		for _, item := range s.get(t, "revisions?"+query).results(t) {
			revision, _ := item.(map[string]any)
			got = append(got, revision["id"])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for _, query := range []string{
		"limit=x", "limit=-1", "limit=", "limit=1&limit=2", "limit=1.5", "limit=99999999999999999999", "offset=x", "offset=-1",
		"other=x",
	} {
		parameter, _, _ := strings.Cut(query, "=")
		s.get(t, "revisions?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"`+parameter+`"`)
	}
}

func TestShowRevision(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	for _, id := range []string{"1", "latest"} {
		want := map[string]any{
			"buckets": []any{"mop"}, "id": 1, "kind": "put", "user": nil, "message": nil, "source": nil, "status": "success",
			"tags": map[string]any{}, "url": siteURL + "/api/v1.0/revisions/1", "validationPolicies": []any{},
			"previous": 0, "next": 0,
		}
		got := withoutStamp(t, withoutTime(t, s.get(t, "revisions/"+id).is(t, http.StatusOK).mapping(t)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("revision %s (-want +got):\n%s", id, diff)
		}
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get(t, "revisions/latest").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=latest")
	s.put(t, "mop", widget("w1", "{}"))
	s.put(t, "mop", widget("w2", "{}"))
	s.get(t, "revisions/latest/documents").isNames(t, "w2@2")
	s.post(t, "revisions/latest/validations/a-validation", "{status: failure, validator: x}").is(t, http.StatusCreated)
	if n := len(s.get(t, "revisions/2/validations/a-validation").results(t)); n != 1 {
		t.Errorf("%d entries for what was posted to the latest revision, want 1", n)
	}
	s.purge(t)
	s.get(t, "revisions/latest").isFault(t, http.StatusNotFound, "RevisionNotFound")
}

//nolint:paralleltest,tparallel // one after the other, on one site
func TestUnknownRevisions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	for _, id := range []string{
		"0", "2", "-1", "abc", "1.0", "1e0", "%2B1", "0x1", "01", "99999999999999999999", "Latest", "%00", "%FF", "%C3%A9", "1%2F2",
		"9223372036854775807", "9223372036854775808",
	} {
		t.Run(id, func(t *testing.T) {
			for route, errorType := range map[string]string{
				"": "RevisionNotFound", "/documents": "HTTPNotFound", "/status": "RevisionNotFound", "/validations": "RevisionNotFound",
				"/validations/detail": "HTTPNotFound", "/validations/a-validation": "RevisionNotFound",
				"/validations/deckhand-schema-validation/entries/0": "RevisionNotFound",
			} {
				s.get(t, "revisions/"+id+route).
					isFault(t, http.StatusNotFound, errorType, "The requested revision=")
			}
			s.do(t, http.MethodPost, "revisions/"+id+"/validations/a-validation", "{status: success, validator: x}", inYAML...).isFault(t, http.StatusNotFound, "RevisionNotFound", "The requested revision=")
		})
	}
}

func TestPurge(t *testing.T) {
	t.Parallel()
	s := schemasSite(t)
	s.purge(t)
	s.put(t, "mop", widget("w1", "{}")+layeringPolicy("a")+dataSchema("acme/Widget/v1", "{type: string}"))
	s.report(t, 1, "a-validation", "failure")
	s.put(t, "other", widget("w2", "{}"))
	s.purge(t)
	s.isRevision(t, 0)
	s.get(t, "revisions/1").isFault(t, http.StatusNotFound, "RevisionNotFound")
	// A purge leaves no owners, singletons, schemas or results, and numbers begin at 1.
	s.put(t, "new", widget("w1", "{}")+layeringPolicy("b")).isNames(t, "w1@1", "b@1")
	s.isRevision(t, 1)
	want := []any{map[string]any{"name": "deckhand-schema-validation", "status": "success"}}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/validations").results(t)); diff != "" {
		t.Errorf("validations (-want +got):\n%s", diff)
	}
	s.put(t, "mop", "").isNames(t)
}
