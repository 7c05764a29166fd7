package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tag gives a revision a tag without data.
func (s site) tag(t *testing.T, revision int, name string) {
	t.Helper()
	s.do(t, http.MethodPost, fmt.Sprintf("revisions/%d/tags/%s", revision, name), "").
		is(t, http.StatusCreated)
}

func (s site) untag(t *testing.T, path string) response {
	t.Helper()
	return s.do(t, http.MethodDelete, path, "")
}

// isTags checks the tags of a revision: all, one by one, in the revision and in the list of revisions.
func (s site) isTags(t *testing.T, revision int, want map[string]any) {
	t.Helper()
	path := fmt.Sprintf("revisions/%d", revision)
	all := s.get(t, path+"/tags").is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("tags of revision %d (-want +got):\n%s", revision, diff)
	}
	if diff := cmp.Diff(want, s.get(t, path).mapping(t)["tags"]); diff != "" {
		t.Errorf("tags as revision %d shows them (-want +got):\n%s", revision, diff)
	}
	for name, data := range want {
		got := s.get(t, path+"/tags/"+name).is(t, http.StatusOK).mapping(t)
		if diff := cmp.Diff(map[string]any{name: data}, got); diff != "" {
			t.Errorf("tag %s of revision %d (-want +got):\n%s", name, revision, diff)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.put(t, "mop", widget("w2", "{}"))
	s.isTags(t, 1, map[string]any{})
	got := s.post(t, "revisions/1/tags/foo", "{by: alice, deep: {l: [1, {a: null}]}}").is(t, http.StatusCreated).mapping(t)
	data := map[string]any{"by": "alice", "deep": map[string]any{"l": []any{1, map[string]any{"a": nil}}}}
	if diff := cmp.Diff(map[string]any{"foo": data}, got); diff != "" {
		t.Errorf("answer to POST (-want +got):\n%s", diff)
	}
	s.tag(t, 1, "bar")
	s.tag(t, 2, "foo")
	s.isTags(t, 1, map[string]any{"foo": data, "bar": map[string]any{}})
	s.isTags(t, 2, map[string]any{"foo": map[string]any{}})

	// A repeated request replaces the data of the tag.
	s.post(t, "revisions/1/tags/foo", "{by: bob}").is(t, http.StatusCreated)
	s.isTags(t, 1, map[string]any{"foo": map[string]any{"by": "bob"}, "bar": map[string]any{}})
	first, _ := s.get(t, "revisions").results(t)[0].(map[string]any)
	if diff := cmp.Diff([]any{"bar", "foo"}, first["tags"]); diff != "" {
		t.Errorf("names in the listing (-want +got):\n%s", diff)
	}

	s.untag(t, "revisions/1/tags/foo").is(t, http.StatusNoContent)
	s.isTags(t, 1, map[string]any{"bar": map[string]any{}})
	s.isTags(t, 2, map[string]any{"foo": map[string]any{}})
	s.untag(t, "revisions/1/tags/foo").
		isFault(t, http.StatusNotFound, "RevisionTagNotFound", "The requested tag 'foo' for revision 1 was not found")
	s.untag(t, "revisions/1/tags").is(t, http.StatusNoContent)
	s.untag(t, "revisions/1/tags").is(t, http.StatusNoContent)
	s.isTags(t, 1, map[string]any{})

	s.put(t, "mop", widget("w3", "{}"))
	s.isTags(t, 3, map[string]any{})
	s.isRevision(t, 3)
	s.purge(t)
	s.put(t, "mop", widget("w1", "{}"))
	s.put(t, "mop", widget("w2", "{}"))
	s.isTags(t, 2, map[string]any{})
}

func TestTags_data(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	for body, want := range map[string]any{
		"": map[string]any{}, "null": map[string]any{}, "~": map[string]any{}, "{}": map[string]any{},
		"---\na: 017\n...\n": map[string]any{"a": 15}, `{"a": "é\u2028"}`: map[string]any{"a": "é\u2028"},
	} {
		s.do(t, http.MethodPost, "revisions/1/tags/good", body, inYAML...).
			is(t, http.StatusCreated)
		s.isTags(t, 1, map[string]any{"good": want})
	}
	s.do(t, http.MethodPost, "revisions/1/tags/good", `{"x": 1e2}`, "Content-Type", typeJSON).is(t, http.StatusCreated)
	s.isTags(t, 1, map[string]any{"good": map[string]any{"x": 100.0}})
	for body, errorType := range map[string]string{
		"0": "RevisionTagBadFormat", "''": "RevisionTagBadFormat", "false": "RevisionTagBadFormat", "[]": "RevisionTagBadFormat",
		"[a]": "RevisionTagBadFormat", "text": "RevisionTagBadFormat", "1.5": "RevisionTagBadFormat",
		"{a: 1}\n---\n{b: 2}": "HTTPBadRequest", "{a: ": "HTTPBadRequest", "{a: .nan}": "HTTPBadRequest", "\xff": "HTTPBadRequest",
	} {
		a := s.do(t, http.MethodPost, "revisions/1/tags/good", body, inYAML...)
		a.isFault(t, http.StatusBadRequest, errorType)
		if errorType == "RevisionTagBadFormat" && !strings.Contains(a.text, "must either be null or dictionary") {
			t.Errorf("%q: nobody can tell what was wrong:\n%s", body, a.text)
		}
	}
	s.isTags(t, 1, map[string]any{"good": map[string]any{"x": 100.0}})
}

func TestTags_names(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "mop", widget("w1", "{}"))
	want := map[string]any{}
	for sent, name := range map[string]string{
		"a%2Fb": "a/b", "%C3%A9%20x": "é x", "100%25": "100%", "latest": "latest", "tag:x": "tag:x", "1": "1", "%27%22": `'"`, "0": "0",
		"a%252Fb": "a%2Fb", "%2E%2E%2E": "...", "null": "null", strings.Repeat("%C3%A9", 255): strings.Repeat("é", 255), "a=b&c": "a=b&c",
	} {
		s.tag(t, 1, sent)
		want[name] = map[string]any{}
		for _, path := range []string{"revisions/1/tags/" + sent, "revisions/tag:" + sent + "/tags/" + sent} {
			if got := s.get(t, path).is(t, http.StatusOK).mapping(t); got[name] == nil {
				t.Errorf("%s shows %v, want the tag %s", path, got, name)
			}
		}
	}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/tags").mapping(t)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for sent, help := range map[string]string{
		strings.Repeat("a", 256): "{tag} of the path has 256 characters, but at most 255", "%FF": "The {tag} of the path",
		"a%00": "The {tag} of the path",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			s.do(t, method, "revisions/1/tags/"+sent, "").
				isFault(t, http.StatusBadRequest, "HTTPBadRequest", help)
		}
	}
	if n := len(s.get(t, "revisions/1/tags").mapping(t)); n != len(want) {
		t.Errorf("%d tags, want %d", n, len(want))
	}
}

// An unknown revision is reported before an unknown tag.
func TestTags_unknown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.get(t, "revisions/latest/tags").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=latest")
	s.get(t, "revisions/tag:foo/tags/foo").isFault(t, http.StatusNotFound, "RevisionNotFound", "revision=tag:foo")
	s.put(t, "mop", widget("w1", "{}"))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		s.do(t, method, "revisions/2/tags/foo", "").
			isFault(t, http.StatusNotFound, "RevisionNotFound", "The requested revision=2 was not found")
	}
	s.get(t, "revisions/2/tags").isFault(t, http.StatusNotFound, "RevisionNotFound")
	s.untag(t, "revisions/2/tags").isFault(t, http.StatusNotFound, "RevisionNotFound")
	s.get(t, "revisions/1/tags/foo").isFault(t, http.StatusNotFound, "RevisionTagNotFound", "tag 'foo' for revision 1")
	s.isTags(t, 1, map[string]any{})
}

func TestTags_select(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 5 {
		s.put(t, "mop", widget(fmt.Sprintf("w%d", i+1), "{}"))
	}
	s.tag(t, 1, "foo")
	s.tag(t, 1, "bar")
	s.tag(t, 2, "bar")
	s.tag(t, 4, "foo")
	s.tag(t, 4, "a%2Fb%20c")
	for query, want := range map[string]string{
		"tag=foo": "[1 4]", "tag=bar": "[1 2]", "tag=foo&tag=bar": "[1 2 4]", "tag=foo&tag=zzz": "[1 4]", "tag=zzz": "[]",
		"tag=fo": "[]", "tag=foo,bar": "[]", "tag=a/b+c": "[4]",
		"tag=foo&tag=bar&sort=id&order=desc":         "[4 2 1]",
		"tag=foo&tag=bar&sort=createdAt&order=desc":  "[4 2 1]",
		"tag=foo&tag=bar&sort=created_at&sort=id":    "[1 2 4]",
		"tag=foo&tag=bar&order=desc":                 "[1 2 4]",
		"tag=foo&tag=bar&sort=id&order=desc&limit=2": "[4 2]",
		"tag=foo&tag=bar&offset=1&limit=1":           "[2]",
		"sort=id&order=desc":                         "[5 4 3 2 1]",
		"sort=id&order=desc&offset=3":                "[2 1]",
		"order=desc":                                 "[1 2 3 4 5]",
	} {
		if got := fmt.Sprint(s.ids(t, "revisions?"+query)); got != want {
			t.Errorf("%s selects revisions %s, want %s", query, got, want)
		}
	}
	page := s.get(t, "revisions?tag=foo&tag=bar&limit=1&offset=1&sort=id").mapping(t)
	for key, want := range map[string]string{
		"next": "/api/v1.0/revisions?limit=1&offset=2&sort=id&tag=foo&tag=bar",
		"prev": "/api/v1.0/revisions?limit=1&offset=0&sort=id&tag=foo&tag=bar",
	} {
		if diff := cmp.Diff(siteURL+want, page[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	last := s.get(t, "revisions?tag=foo&limit=2").mapping(t)
	if last["next"] != nil || last["prev"] != nil {
		t.Errorf("links of the only page: %v and %v, want none", last["next"], last["prev"])
	}
	for _, query := range []string{"sort=name", "sort=", "sort=ID", "sort=id,createdAt", "tag=%FF"} {
		parameter, _, _ := strings.Cut(query, "=")
		s.get(t, "revisions?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"`+parameter+`"`)
	}
	s.get(t, "revisions?sort=name").
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `One can sort by id, createdAt, created_at, but not by "name"`)
	s.get(t, "revisions?tag=a"+strings.Repeat("&tag=a", 9_999)).
		isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"tag"`, "10000 values")
}

// ids returns the numbers of the revisions in a list.
func (s site) ids(t *testing.T, path string) []any {
	t.Helper()
	ids := []any{}
	for _, item := range s.get(t, path).results(t) {
		revision, _ := item.(map[string]any)
		ids = append(ids, revision["id"])
	}
	return ids
}
