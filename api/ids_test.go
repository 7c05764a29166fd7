package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// noRevisions lists strings that identify no revision of a site with one revision.
var noRevisions = []string{
	"2", "-1", "+1", "01", "00", "-0", "99999999999999999999", "9223372036854775807", "9223372036854775808", "1000000",
	"abc", "1.0", "1e0", "0x1", "Latest", "LATEST", "tag", "tag:", "tag:none", "tag:%FF", "tag:%00", "%20", "%00", "%FF", "%C3%A9", "1%2F2", "1%20",
	"null", "prune1", "%D9%A1", "--", "tag:" + strings.Repeat("x", 4_000), strings.Repeat("9", 4_000),
}

var wholeNumber = regexp.MustCompile(`^([-+]?[0-9]+|tag:.*)$`)

func TestUnknownRevisions_newRoutes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.tag(t, 1, "good")
	before := s.everything(t)
	for _, id := range noRevisions {
		for _, r := range []request{
			{method: http.MethodGet, path: "revisions/@"},
			{method: http.MethodGet, path: "revisions/@/tags"},
			{method: http.MethodDelete, path: "revisions/@/tags"},
			{method: http.MethodGet, path: "revisions/@/tags/good"},
			{method: http.MethodPost, path: "revisions/@/tags/good"},
			{method: http.MethodDelete, path: "revisions/@/tags/good"},
			{method: http.MethodPost, path: "rollback/@"},
			{method: http.MethodPost, path: "rollback/@?dry-run=true"},
		} {
			r.path = strings.Replace(r.path, "@", id, 1)
			s.send(t, r).isFault(t, http.StatusNotFound, "RevisionNotFound", "The requested revision=")
		}
		s.get(t, "revisions/"+id+"/documents?schema=acme").
			isFault(t, http.StatusNotFound, "HTTPNotFound", "The requested revision=")
		s.get(t, "revisions/"+id+"/rendered-documents?schema=acme").
			isFault(t, http.StatusNotFound, "HTTPNotFound", "The requested revision=")
		for route, errorType := range map[string]string{"diff": "RevisionNotFound", "deepdiff": "HTTPNotFound"} {
			for _, path := range []string{id + "/" + route + "/1", "1/" + route + "/" + id, "0/" + route + "/" + id, id + "/" + route + "/" + id} {
				a := s.get(t, "revisions/"+path)
				if wholeNumber.MatchString(id) {
					a.isFault(t, http.StatusNotFound, errorType, "The requested revision=")
				} else {
					a.isFault(t, http.StatusBadRequest, "InvalidInputException", "Failed to process request due to invalid input: ")
				}
			}
		}
	}
	for _, path := range []string{"revisions/0", "revisions/0/tags", "revisions/0/tags/good"} {
		s.get(t, path).isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=0")
	}
	s.do(t, http.MethodPost, "revisions/0/tags/good", "").isFault(t, http.StatusNotFound, "RevisionNotFound")
	s.isAsBefore(t, before)
}

func TestTags_nameRevisions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, name := range []string{"w1", "w2", "w3"} {
		s.put(t, "mop", widget(name, "{}")+layeringPolicy("lp"))
	}
	s.tag(t, 2, "good")
	s.tag(t, 1, "good")
	s.get(t, "revisions/tag:good/documents").isNames(t, "lp@1", "w2@2")
	for path, status := range map[string]int{
		"": 200, "/documents": 200, "/rendered-documents": 200, "/status": 200, "/validations": 200, "/validations/detail": 200, "/validations/" + own: 200,
		"/validations/" + own + "/entries/0": 200, "/diff/latest": 200, "/deepdiff/tag:good": 200, "/tags": 200, "/tags/good": 200,
	} {
		s.get(t, "revisions/tag:good"+path).is(t, status)
		s.get(t, "revisions/tag:Good"+path).is(t, http.StatusNotFound)
	}
	s.post(t, "revisions/tag:good/tags/better", "{}").is(t, http.StatusCreated)
	s.post(t, "revisions/tag%3Agood/validations/a-validation", "{status: success, validator: x}").is(t, http.StatusCreated)
	s.isTags(t, 2, map[string]any{"good": map[string]any{}, "better": map[string]any{}})
	s.untag(t, "revisions/tag:good/tags/good").is(t, http.StatusNoContent)
	s.get(t, "revisions/tag:good/documents").isNames(t, "w1@1", "lp@1")
	s.untag(t, "revisions/tag:good/tags").is(t, http.StatusNoContent)
	s.get(t, "revisions/tag:good").isFault(t, http.StatusNotFound, "RevisionNotFound", "The requested revision=tag:good was not found")
	s.do(t, http.MethodPost, "rollback/tag:better", "").is(t, http.StatusCreated)
	s.get(t, "revisions/latest/documents").isNames(t, "lp@1", "w2@4")
}
