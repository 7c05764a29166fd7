package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tuples returns schemas and names of documents in the format of deep diffs.
func tuples(names ...string) map[string]any {
	details := []any{}
	for _, name := range names {
		details = append(details, []any{"acme/Widget/v1", name})
	}
	return map[string]any{"count": len(names), "details": details}
}

func TestDeepDiff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("k", "{a: x, l: [1, 2], t: 1, s: same}")+widget("k2", "{}")+widget("same", "{}")+layeringPolicy("lp"))
	s.put(t, "b", widget("other", "{}"))
	s.put(t, "a", docWith("acme/Widget/v1", "k", "{b: y, l: [1, 3, 4], t: '1', s: same}", ", labels: {r: s}")+
		widget("same", "{}")+widget("k3", "{}")+widget("k4", "{}")+layeringPolicy("lp"))
	want := map[string]any{
		"a": "modified", "b": "created",
		"a diff": map[string]any{
			"document_added":   tuples("k3", "k4"),
			"document_deleted": tuples("k2"),
			"document_changed": map[string]any{
				"count": 1,
				"details": map[string]any{
					"('acme/Widget/v1', 'k')": map[string]any{
						"data_changed": map[string]any{
							"dictionary_item_added":   []any{"root['b']"},
							"dictionary_item_removed": []any{"root['a']"},
							"iterable_item_added":     map[string]any{"root['l'][2]": 4},
							"type_changes": map[string]any{
								"root['t']": map[string]any{"old_type": "int", "new_type": "str", "old_value": 1, "new_value": "1"},
							},
							"values_changed": map[string]any{"root['l'][1]": map[string]any{"new_value": 3, "old_value": 2}},
						},
						"metadata_changed": map[string]any{"dictionary_item_added": []any{"root['labels']"}},
					},
				},
			},
		},
	}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/deepdiff/3").is(t, http.StatusOK).mapping(t)); diff != "" {
		t.Errorf("from 1 to 3 (-want +got):\n%s", diff)
	}

	// In the other direction, the buckets are the same, and the changes of documents are reversed.
	back := s.get(t, "revisions/3/deepdiff/1").is(t, http.StatusOK).mapping(t)
	inside, _ := back["a diff"].(map[string]any)
	delete(inside, "document_changed")
	want = map[string]any{
		"a": "modified", "b": "created",
		"a diff": map[string]any{"document_added": tuples("k2"), "document_deleted": tuples("k3", "k4")},
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("from 3 to 1 (-want +got):\n%s", diff)
	}

	for pair, want := range map[string]map[string]any{
		"0/deepdiff/0":      {},
		"3/deepdiff/3":      {"a": "unmodified", "b": "unmodified"},
		"1/deepdiff/2":      {"a": "unmodified", "b": "created"},
		"0/deepdiff/1":      {"a": "created"},
		"latest/deepdiff/0": {"a": "created", "b": "created"},
	} {
		if diff := cmp.Diff(want, s.get(t, "revisions/"+pair).is(t, http.StatusOK).mapping(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pair, diff)
		}
	}
}

func TestDeepDiff_ofMetadataAndLayers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	both := func(data, more string) string {
		site := asControl(docWith("acme/Widget/v1", "w", data, more))
		return site + inLayer("global", site) + layeringPolicy("lp")
	}
	s.put(t, "a", both("{x: 1}", ""))
	s.put(t, "a", both("{x: 1}", ", labels: {a: b}"))
	changed := map[string]any{
		"data_changed": map[string]any{}, "metadata_changed": map[string]any{"dictionary_item_added": []any{"root['labels']"}},
	}
	want := map[string]any{"document_changed": map[string]any{"count": 2, "details": map[string]any{
		"('acme/Widget/v1', 'w')": changed, "('acme/Widget/v1', 'w', 'site')": changed,
	}}}
	if diff := cmp.Diff(want, s.get(t, "revisions/1/deepdiff/2").mapping(t)["a diff"]); diff != "" {
		t.Errorf("documents of one name in two layers (-want +got):\n%s", diff)
	}
}

func TestDeepDiff_movedDocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("stays", "{}")+widget("moves", "{}")+layeringPolicy("lp"))
	s.put(t, "b", widget("also stays", "{}"))
	s.changeSet(t, "", in("a", widget("stays", "{}")+layeringPolicy("lp"))+in("b", widget("also stays", "{}")+widget("moves", "{}"))).is(t, http.StatusOK)
	want := map[string]any{
		"a": "modified", "a diff": map[string]any{"document_deleted": tuples("moves")},
		"b": "modified", "b diff": map[string]any{"document_added": tuples("moves")},
	}
	if diff := cmp.Diff(want, s.get(t, "revisions/2/deepdiff/3").mapping(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeepDiff_unified(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "site", widget("left", "{size: 12, text: \"one\\ntwo\\n\"}")+widget("right", "5")+layeringPolicy("lp"))
	s.put(t, "site", widget("left", "{text: \"one\\n2\\n\", size: 120}")+widget("new", "[1]")+layeringPolicy("lp"))
	want := `--- revision 1, bucket site: [acme/Widget/v1, site] left
+++ revision 2, bucket site: [acme/Widget/v1, site] left
@@ -1,8 +1,8 @@
 data:
-  size: 12
+  size: 120
   text: |
     one
-    two
+    2
 metadata:
   layeringDefinition:
     abstract: false
--- /dev/null
+++ revision 2, bucket site: [acme/Widget/v1, site] new
@@ -0,0 +1,11 @@
+data:
+- 1
+metadata:
+  layeringDefinition:
+    abstract: false
+    layer: site
+  name: new
+  replacement: false
+  schema: metadata/Document/v1
+  storagePolicy: cleartext
+schema: acme/Widget/v1
--- revision 1, bucket site: [acme/Widget/v1, site] right
+++ /dev/null
@@ -1,10 +0,0 @@
-data: 5
-metadata:
-  layeringDefinition:
-    abstract: false
-    layer: site
-  name: right
-  replacement: false
-  schema: metadata/Document/v1
-  storagePolicy: cleartext
-schema: acme/Widget/v1
`
	for _, got := range []response{
		s.get(t, "revisions/1/deepdiff/2?format=unified"),
		s.get(t, "revisions/1/deepdiff/2", "Accept", "text/plain"),
	} {
		if diff := cmp.Diff(want, got.is(t, http.StatusOK).text); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := s.get(t, "revisions/2/deepdiff/2?format=unified").is(t, http.StatusOK).text; got != "" {
		t.Errorf("nothing differs, but there is %q", got)
	}
	back := s.get(t, "revisions/2/deepdiff/1?format=unified").text
	if !strings.Contains(back, "-  size: 120\n+  size: 12\n") || !strings.Contains(back, "\n+data: 5\n") {
		t.Errorf("the way back does not go back:\n%s", back)
	}
}

// The formats other than the reference's have pages. The count includes all documents.
func TestDeepDiff_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", layeringPolicy("lp")+widget("w1", "{}")+widget("w2", "{}"))
	s.put(t, "b", widget("w3", "{}"))
	const all = "revisions/0/deepdiff/2"
	for _, rendered := range []string{"true", "false"} {
		for query, want := range map[string]string{
			"&offset=1&limit=2": "w2 lp", "&offset=2": "lp w3", "&limit=1": "w1", "&limit=0": "", "&offset=9": "",
		} {
			form := all + "?rendered=" + rendered + query + "&format="
			differing := s.get(t, form+"documents").is(t, http.StatusOK).mapping(t)
			items, _ := differing["results"].([]any)
			names := []string{}
			for _, item := range items {
				d, _ := item.(map[string]any)
				names = append(names, fmt.Sprint(d["name"]))
			}
			count := fmt.Sprint(differing["count"])
			if got := strings.Join(names, " "); got != want || count != "4" {
				t.Errorf("%s: %s of %s, want %s of 4", query, got, count, want)
			}
			for _, name := range []string{"lp", "w1", "w2", "w3"} {
				text := s.get(t, form+"unified").is(t, http.StatusOK).text
				if strings.Contains(text, "] "+name+"\n") != slices.Contains(names, name) {
					t.Errorf("%s: unified, with %s, or without:\n%s", query, name, text)
				}
			}
			if n := strings.Count(s.get(t, form+"json-patch").is(t, http.StatusOK).text, `"patch"`); n != len(names) {
				t.Errorf("%s: %d patches, want %d", query, n, len(names))
			}
		}
		deep := s.get(t, all+"?limit=1&rendered="+rendered).is(t, http.StatusOK).text
		if want := s.get(t, all+"?rendered="+rendered).is(t, http.StatusOK).text; deep != want {
			t.Errorf("the form of the reference has pages:\n%s\nwant\n%s", deep, want)
		}
		s.get(t, all+"?format=unified&limit=x&rendered="+rendered).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", "limit")
	}
}

func TestDeepDiff_form(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", widget("k", "{}")+layeringPolicy("lp"))
	const patch, plain = "application/json-patch+json", "text/plain; charset=utf-8"
	for _, c := range []struct{ query, accept, want string }{
		{"", "*/*", typeXYAML},
		{"", typeJSON, typeJSON},
		{"", patch, patch},
		{"", "text/plain", plain},
		{"", "text/plain;q=0.3, application/json-patch+json;q=0.5, application/yaml;q=0.4", patch},
		{"", "text/html, */*;q=0.1", typeXYAML},
		{"", "text/*", typeXYAML},
		{"?format=deepdiff", "text/plain", typeXYAML},
		{"?format=deepdiff", typeJSON, typeJSON},
		{"?format=json-patch", typeYAML, patch},
		{"?format=unified", patch, plain},
		{"?format=documents", typeJSON, typeJSON},
		{"?format=documents", patch, typeXYAML},
	} {
		got := s.get(t, "revisions/0/deepdiff/1"+c.query, "Accept", c.accept).is(t, http.StatusOK)
		if diff := cmp.Diff(c.want, got.Header.Get("Content-Type")); diff != "" {
			t.Errorf("%s with Accept %s (-want +got):\n%s", c.query, c.accept, diff)
		}
	}
	for query, help := range map[string]string{
		"format=yaml": "It can be deepdiff, json-patch, unified, documents or grouped", "format=Unified": "unified", "format=unified&format=unified": "only once",
		"format=unified&format=x": "only once", "format=%FF": "UTF-8",
	} {
		s.get(t, "revisions/0/deepdiff/1?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", `"format" parameter is invalid`, help)
	}
}

// With rendered=false, the submitted documents are compared, including parents and abstract documents. This works for
// revisions that cannot be rendered, and for users who may not see the secrets that documents use.
func TestDeepDiff_submitted(t *testing.T) {
	t.Parallel()
	s := guarded(t, "")
	const secret = "hunter2-is-the-secret"
	site := func(size int, password string) string {
		return sealed(doc("deckhand/Passphrase/v1", "pw", password)) + docWith("acme/Widget/v1", "base", fmt.Sprintf("{size: %d}", size), ", labels: {k: v}") +
			docWith("acme/Widget/v1", "user", "{}", substitutes("{src: {schema: deckhand/Passphrase/v1, name: pw, path: .}, dest: {path: .pw}}"))
	}
	for _, size := range []int{1, 2} { // without a LayeringPolicy
		s.put(t, "a", site(size, fmt.Sprint(secret, size)), as("admin")...).is(t, http.StatusOK)
	}
	for user, hidden := range map[string]string{
		"admin": "Encrypted data of revision 2, bucket a: [deckhand/Passphrase/v1, site] pw changed", "writer": "",
	} {
		token := as(user)
		s.get(t, "revisions/1/deepdiff/2?format=unified", token...).isFault(t, http.StatusConflict, "LayeringPolicyNotFound")
		text := s.get(t, "revisions/1/deepdiff/2?format=unified&rendered=false", token...).is(t, http.StatusOK).text
		patch := s.get(t, "revisions/1/deepdiff/2?format=json-patch&rendered=false", token...).is(t, http.StatusOK).text
		deep := s.get(t, "revisions/1/deepdiff/2?rendered=false", token...).is(t, http.StatusOK).text
		named := s.get(t, "revisions/1/deepdiff/2?format=documents&rendered=false", token...).is(t, http.StatusOK).text
		if strings.Contains(named, "Passphrase") != (hidden != "") || !strings.Contains(named, "acme/Widget/v1") {
			t.Errorf("%s: the encrypted document is not named, or to whom it must not\n%s", user, named)
		}
		if !strings.Contains(text, "-  size: 1\n+  size: 2\n") || !strings.Contains(patch, `"value":2`) || !strings.Contains(deep, "new_value: 2") {
			t.Errorf("%s is not told what has changed:\n%s%s%s", user, text, patch, deep)
		}
		if strings.Contains(text, "user") || !strings.Contains(text, hidden) || strings.Contains(text+patch+deep, secret) {
			t.Errorf("%s: want %q\n%s%s%s", user, hidden, text, patch, deep)
		}
		if strings.Contains(text+patch+deep, "Passphrase") != (hidden != "") {
			t.Errorf("%s: the encrypted document is not shown, or to whom it must not\n%s%s%s", user, text, patch, deep)
		}
	}
}
