package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"purser/test/contract"

	"github.com/google/go-cmp/cmp"
)

// layers returns a LayeringPolicy with a layer order.
func layers(name string, order ...string) string {
	return control("deckhand/LayeringPolicy/v1", name, "{layerOrder: ["+strings.Join(order, ", ")+"]}")
}

// replacing is the metadata of a document that replaces its parent.
const replacing = ", replacement: true"

// fillSite makes a site of three layers in three buckets. The first document, base, is abstract, and the password of
// the layer global is replaced.
func (s site) fillSite(t *testing.T) {
	t.Helper()
	s.put(t, "global", layers("lp", "global", "unused", "region", "site")+
		abstract(docWith("acme/Chart/v1", "base", "{colour: red, limits: {cpu: 1, memory: 2}, ports: [80, 443], debug: true}", labelled("chart: base")))+
		inLayer("global", docWith("acme/Secret/v1", "password", "{value: weak, user: admin}", labelled("secret: password")))).is(t, http.StatusOK)
	s.put(t, "region", under("chart: base", "region", docWith("acme/Chart/v1", "regional", "{limits: {cpu: 4}, region: r1}", labelled("chart: regional")),
		"merge .", "delete .debug")).is(t, http.StatusOK)
	s.put(t, "site", under("chart: regional", "site", docWith("acme/Chart/v1", "chart", "{limits: {disk: 9}, url: 'http://USER:PASSWORD@host/PASSWORD'}",
		labelled("own: label")+substitutes(
			from("password", ".value", "[{path: .auth.password}, {path: .url, pattern: PASSWORD}]"),
			"{src: {schema: acme/Secret/v1, name: password, path: .user, pattern: '^(a)(d)', match_group: 2}, dest: {path: .url, pattern: USER}}",
			from("password", ".", "{path: '.hooks[1].secret'}"),
		)), "merge .", "replace .limits")+
		under("secret: password", "site", docWith("acme/Secret/v1", "password", "{value: 'st\\1rong'}", replacing), "merge .")+
		widget("plain", "{x: 1}")).is(t, http.StatusOK)
}

// siteData returns the rendered data of the documents of fillSite, by name.
func siteData() map[string]any {
	password := map[string]any{"value": `st\1rong`, "user": "admin"}
	return map[string]any{
		"lp":       map[string]any{"layerOrder": []any{"global", "unused", "region", "site"}},
		"regional": map[string]any{"colour": "red", "limits": map[string]any{"cpu": 4, "memory": 2}, "ports": []any{80, 443}, "region": "r1"},
		"chart": map[string]any{
			"colour": "red", "limits": map[string]any{"disk": 9}, "ports": []any{80, 443}, "region": "r1",
			"auth":  map[string]any{"password": `st\1rong`},
			"url":   `http://d:st\1rong@host/st\1rong`,
			"hooks": []any{map[string]any{}, map[string]any{"secret": password}},
		},
		"password": password,
		"plain":    map[string]any{"x": 1},
	}
}

// data returns the data of documents, by name.
func (r response) data(t *testing.T) map[string]any {
	t.Helper()
	data := map[string]any{}
	for _, document := range r.is(t, http.StatusOK).documents(t) {
		metadata, _ := document["metadata"].(map[string]any)
		data[fmt.Sprint(metadata["name"])] = document["data"]
	}
	return data
}

// isRendered checks the rendered data of documents of a revision.
func (s site) isRendered(t *testing.T, revision string, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff(want, s.get(t, "revisions/"+revision+"/rendered-documents").data(t)); diff != "" {
		t.Errorf("rendered documents of revision %s (-want +got):\n%s", revision, diff)
	}
}

func TestRendering(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	s.isRendered(t, "3", siteData())
	// Dependencies come before their dependents; documents without either come last, in the order in which they were put.
	got := s.get(t, "revisions/3/rendered-documents")
	got.isNames(t, "password@3", "regional@2", "chart@3", "lp@1", "plain@3")

	// Everything but the data is as submitted.
	submitted := map[any]map[string]any{}
	for _, document := range s.get(t, "revisions/3/documents").documents(t) {
		submitted[document["id"]] = document
	}
	for _, document := range got.documents(t) {
		want := submitted[document["id"]]
		delete(want, "data")
		delete(document, "data")
		if diff := cmp.Diff(want, document); diff != "" {
			t.Errorf("(-submitted +rendered):\n%s", diff)
		}
	}
	// Rendering leaves the submitted documents unchanged.
	for name, want := range map[string]any{"chart": map[string]any{"limits": map[string]any{"disk": 9}, "url": "http://USER:PASSWORD@host/PASSWORD"}} {
		if diff := cmp.Diff(want, s.get(t, "revisions/3/documents?metadata.name="+name).data(t)[name]); diff != "" {
			t.Errorf("submitted data of %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRendering_forms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	want := s.get(t, "revisions/3/rendered-documents")
	for _, c := range []struct{ accept, kind string }{{"*/*", typeXYAML}, {typeYAML, typeYAML}, {typeXYAML, typeXYAML}, {typeJSON, typeJSON}} {
		got := s.get(t, "revisions/3/rendered-documents", "Accept", c.accept).is(t, http.StatusOK)
		if diff := cmp.Diff(c.kind, got.Header.Get("Content-Type")); diff != "" {
			t.Errorf("Accept %s (-want +got):\n%s", c.accept, diff)
		}
		if diff := cmp.Diff(plainly(t, want), plainly(t, got)); diff != "" {
			t.Errorf("as %s (-YAML +this):\n%s", c.kind, diff)
		}
		head := s.do(t, http.MethodHead, "revisions/3/rendered-documents", "", "Accept", c.accept)
		if diff := cmp.Diff([]string{"", got.Header.Get("ETag")}, []string{head.is(t, http.StatusOK).text, head.Header.Get("ETag")}); diff != "" {
			t.Errorf("body and ETag of HEAD (-want +got):\n%s", diff)
		}
	}
}

// plainly returns documents with all numbers of one type, for comparisons between formats.
func plainly(t *testing.T, a response) any {
	t.Helper()
	var documents []any
	for _, document := range a.documents(t) {
		documents = append(documents, document)
	}
	same, err := contract.Plain(documents)
	if err != nil {
		t.Fatal(err)
	}
	return same
}

func TestRendering_selection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	whole := siteData()
	for query, want := range map[string]string{
		"schema=acme":           "password@3 regional@2 chart@3 plain@3",
		"schema=acme/Chart":     "regional@2 chart@3",
		"schema=acme/Secret/v1": "password@3",
		"schema=acme/Cha":       "",
		"metadata.name=chart&metadata.name=base&metadata.name=lp": "chart@3 lp@1",
		"metadata.name=base":                        "",
		"metadata.label=own=label":                  "chart@3",
		"metadata.label=chart=regional":             "regional@2", // not the chart, which inherits no label
		"metadata.label=secret=password":            "",
		"metadata.layeringDefinition.layer=site":    "password@3 chart@3 plain@3",
		"metadata.layeringDefinition.layer=global":  "",
		"status.bucket=global":                      "lp@1",
		"status.bucket=region&status.bucket=global": "regional@2 lp@1",
		"cleartext-secrets=false":                   "password@3 regional@2 chart@3 lp@1 plain@3",
		"order=desc":                                "password@3 regional@2 chart@3 lp@1 plain@3",
		"sort=metadata.name":                        "chart@3 lp@1 password@3 plain@3 regional@2",
		"sort=metadata.name&order=desc":             "regional@2 plain@3 password@3 lp@1 chart@3",
		"sort=layer&sort=schema":                    "lp@1 regional@2 chart@3 password@3 plain@3",
		"sort=layer":                                "lp@1 regional@2 password@3 chart@3 plain@3",
		"sort=schema&order=desc":                    "lp@1 plain@3 password@3 regional@2 chart@3",
		"sort=status.revision":                      "lp@1 regional@2 password@3 chart@3 plain@3",
		"sort=id":                                   "lp@1 regional@2 chart@3 password@3 plain@3",
		"limit=2":                                   "password@3 regional@2",
		"limit=-2":                                  "password@3 regional@2",
		"limit=0":                                   "",
		"limit=1&offset=3":                          "lp@1",
		"offset=9":                                  "",
		"schema=acme&sort=name&order=desc&limit=2&offset=1": "plain@3 password@3",
	} {
		got := s.get(t, "revisions/3/rendered-documents?"+query)
		got.isNames(t, strings.Fields(want)...)
		for name, data := range got.data(t) {
			if diff := cmp.Diff(whole[name], data); diff != "" {
				t.Errorf("%s of %s is rendered in another way (-want +got):\n%s", name, query, diff)
			}
		}
	}
	for query, help := range map[string]string{
		"limit=x": `"limit" parameter is invalid`, "offset=-1": "not negative", "sort=data.x": `"data.x"`, "cleartext-secrets=maybe": "true",
		"metadata.name=%FF": "UTF-8", "metadata.layeringDefinition.abstract=true": "no parameter of that name",
	} {
		s.get(t, "revisions/3/rendered-documents?"+query).
			isFault(t, http.StatusBadRequest, "HTTPInvalidParam", help)
	}
}

func TestRendering_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	for query, want := range map[string][]string{
		"limit=2": {"password@3 regional@2", "chart@3 lp@1", "plain@3"},
		"limit=2&sort=name&order=desc&schema=acme": {"regional@2 plain@3", "password@3 chart@3"},
		"limit=5": {"password@3 regional@2 chart@3 lp@1 plain@3"},
	} {
		var pages []string
		for path := "revisions/3/rendered-documents?" + query; path != "" && len(pages) < 9; {
			page := s.get(t, path).is(t, http.StatusOK)
			around := s.links(t, page)
			if hasPrevious := around["prev"] != ""; hasPrevious != (len(pages) > 0) {
				t.Errorf("%s: links of page %d: %v", query, len(pages)+1, around)
			}
			pages, path = append(pages, strings.Join(names(page.documents(t)), " ")), around["next"]
		}
		if diff := cmp.Diff(want, pages); diff != "" {
			t.Errorf("pages of %s (-want +got):\n%s", query, diff)
		}
	}
	want := map[string]string{
		"prev": "revisions/3/rendered-documents?limit=1&offset=0&sort=name", "next": "revisions/3/rendered-documents?limit=2&offset=3&sort=name",
	}
	if diff := cmp.Diff(want, s.links(t, s.get(t, "revisions/3/rendered-documents?sort=name&limit=2&offset=1"))); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestRendering_ofManyRevisions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	s.tag(t, 3, "good")
	text := s.get(t, "revisions/3/rendered-documents").text
	isAsEver := func(when, revision string) {
		t.Helper()
		if diff := cmp.Diff(text, s.get(t, "revisions/"+revision+"/rendered-documents").is(t, http.StatusOK).text); diff != "" {
			t.Errorf("%s revision %s reads otherwise (-before +after):\n%s", when, revision, diff)
		}
	}
	isAsEver("at once", "latest")
	isAsEver("at once", "tag:good")

	// Dependents of the chart's parent and of the password change in the new revision, and only there.
	s.put(t, "region", under("chart: base", "region", docWith("acme/Chart/v1", "regional", "{region: r2}", labelled("chart: regional")), "replace .")).is(t, http.StatusOK)
	changed := siteData()
	changed["regional"] = map[string]any{"region": "r2"}
	chart, _ := changed["chart"].(map[string]any)
	chart["region"] = "r2"
	delete(chart, "colour")
	delete(chart, "ports")
	s.isRendered(t, "latest", changed)
	s.get(t, "revisions/4/rendered-documents").isNames(t, "password@3", "regional@4", "chart@3", "lp@1", "plain@3")
	isAsEver("after a change", "3")
	isAsEver("after a change", "tag:good")
	// Without the bucket site, only the documents of the other buckets are rendered.
	s.put(t, "site", "").is(t, http.StatusOK)
	s.isRendered(t, "latest", map[string]any{
		"lp": changed["lp"], "regional": changed["regional"], "password": map[string]any{"value": "weak", "user": "admin"},
	})
	isAsEver("after a deletion", "3")

	s.isRollback(t, "3", 6, 3, "region", "site")
	s.isRendered(t, "latest", siteData())
	s.get(t, "revisions/6/rendered-documents?sort=name").isNames(t, "chart@6", "lp@1", "password@6", "plain@6", "regional@6")
	isAsEver("after a rollback", "3")
	s.isRendered(t, "4", changed)

	s.purge(t)
	s.get(t, "revisions/3/rendered-documents").isFault(t, http.StatusNotFound, "HTTPNotFound", "revision=3")
	for range 3 {
		s.put(t, "other", layeringPolicy("lp")+widget("w", "{}")).is(t, http.StatusOK)
	}
	s.isRendered(t, "1", map[string]any{"lp": map[string]any{"layerOrder": []any{"global", "site"}}, "w": map[string]any{}})
}

func TestRendering_ofLittle(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "a", layeringPolicy("lp")).is(t, http.StatusOK)
	s.get(t, "revisions/1/rendered-documents").isNames(t, "lp@1")
	if got := s.get(t, "revisions/1/rendered-documents?metadata.name=none").is(t, http.StatusOK).text; got != "" {
		t.Errorf("no document is %q, want nothing", got)
	}
	if got := s.get(t, "revisions/1/rendered-documents?metadata.name=none", "Accept", typeJSON).is(t, http.StatusOK).text; got != "[]\n" {
		t.Errorf("no document is %q, want an empty array", got)
	}
	// The removed policy also orders the layers of a revision without documents.
	s.put(t, "a", "").is(t, http.StatusOK)
	s.get(t, "revisions/2/rendered-documents").isNames(t, "lp@1")
}

// The LayeringPolicy in force in a revision without one.
func TestRendering_policyFallback(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	path := func(revision int) string { return fmt.Sprintf("revisions/%d/rendered-documents", revision) }
	s.put(t, "a", inLayer("top", docWith("acme/Widget/v1", "parent", "{x: 1}", labelled("a: b")))+under("a: b", "bottom", widget("child", "{y: 2}"), "merge .")).is(t, http.StatusOK)
	s.get(t, path(1)).isFault(t, http.StatusConflict, "LayeringPolicyNotFound", "Required LayeringPolicy was not found for layering")
	child := map[string]any{"x": 1, "y": 2}
	ordered := func(revision int, policy string, tagged bool) {
		t.Helper()
		got := s.get(t, path(revision))
		data := got.data(t)
		if diff := cmp.Diff(child, data["child"]); diff != "" {
			t.Errorf("child of revision %d (-want +got):\n%s", revision, diff)
		}
		list := names(got.documents(t))
		if !slices.Contains(list, policy) || len(list) != 3 {
			t.Errorf("documents of revision %d: %v, want parent, child and %s", revision, list, policy)
		}
		if etag := got.Header.Get("ETag"); (etag != "") != tagged {
			t.Errorf("revision %d has the ETag %q: wanted one: %v", revision, etag, tagged)
		}
	}
	// Revision 1 uses the newest policy, which is in a later revision, so its answer has no ETag.
	s.put(t, "p", layers("second", "top", "bottom")).is(t, http.StatusOK)
	ordered(1, "second@2", false)
	ordered(2, "second@2", true)
	s.put(t, "p", "").is(t, http.StatusOK)
	ordered(3, "second@2", true) // the policy was deleted
	s.put(t, "p", layers("fourth", "bottom", "top")).is(t, http.StatusOK)
	s.get(t, path(1)).isFault(t, http.StatusBadRequest, "InvalidDocumentParent", "for layerOrder bottom, top.")
	ordered(2, "second@2", true)
	ordered(3, "second@2", true)
	s.get(t, path(4)).isFault(t, http.StatusBadRequest, "InvalidDocumentParent")
	s.put(t, "p", layers("fourth", "top", "middle", "bottom")).is(t, http.StatusOK)
	ordered(1, "fourth@5", false)
	ordered(3, "second@2", true)
	ordered(5, "fourth@5", true)
	// The ETag of an answer does not change.
	etag := s.get(t, path(3)).Header.Get("ETag")
	s.put(t, "p", "").is(t, http.StatusOK)
	s.get(t, path(3), "If-None-Match", etag).is(t, http.StatusNotModified)
	ordered(6, "fourth@5", true)
}

// Deep diffs compare rendered documents.
func TestDeepDiff_ofRenderedDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.fillSite(t)
	s.put(t, "global", layers("lp", "global", "unused", "region", "site")+
		abstract(docWith("acme/Chart/v1", "base", "{colour: blue, limits: {cpu: 1, memory: 2}}", labelled("chart: base, more: labels")))+
		inLayer("global", docWith("acme/Secret/v1", "password", "{value: weak, user: ad}", labelled("secret: password")))).is(t, http.StatusOK)
	// The changed documents of the bucket global are not in answers.
	want := map[string]any{"global": "modified", "global diff": map[string]any{}, "region": "unmodified", "site": "unmodified"}
	s.put(t, "region", under("chart: base", "region", docWith("acme/Chart/v1", "regional", "{limits: {cpu: 4}, region: r1}", labelled("chart: regional")), "merge .")).is(t, http.StatusOK)
	want["region"], want["region diff"] = "modified", map[string]any{"document_changed": map[string]any{"count": 1, "details": map[string]any{
		"('acme/Chart/v1', 'regional')": map[string]any{
			"data_changed": map[string]any{
				"dictionary_item_removed": []any{"root['ports']"},
				"values_changed":          map[string]any{"root['colour']": map[string]any{"new_value": "blue", "old_value": "red"}},
			},
			"metadata_changed": map[string]any{"iterable_item_removed": map[string]any{
				"root['layeringDefinition']['actions'][1]": map[string]any{"method": "delete", "path": ".debug"},
			}},
		},
	}}}
	got := s.get(t, "revisions/3/deepdiff/5").is(t, http.StatusOK).mapping(t)
	if diff := cmp.Diff([]any{"modified", "modified", "unmodified"}, []any{got["global"], got["region"], got["site"]}); diff != "" {
		t.Errorf("buckets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want["global diff"], got["global diff"]); diff != "" {
		t.Errorf("abstract and replaced documents (-want +got):\n%s", diff)
	}
	if got["site diff"] != nil {
		t.Errorf("nothing else was submitted for the site, and there is %v", got["site diff"])
	}
	if diff := cmp.Diff(want["region diff"], got["region diff"]); diff != "" {
		t.Errorf("the changed document (-want +got):\n%s", diff)
	}

	// The other formats list the documents that are in answers.
	changed := []string{}
	for _, p := range s.patches(t, "3", "5") {
		changed = append(changed, p.Bucket+" "+p.Change+" "+p.Name)
	}
	if diff := cmp.Diff([]string{"region modified regional", "site modified chart", "site modified password"}, changed); diff != "" {
		t.Errorf("documents that are rendered differently (-want +got):\n%s", diff)
	}
	for _, pair := range [][2]string{{"3", "5"}, {"5", "3"}, {"0", "5"}, {"5", "0"}, {"1", "3"}, {"2", "5"}} {
		s.isPatched(t, "rendered-documents", pair[0], pair[1])
	}
	unified := s.get(t, "revisions/3/deepdiff/5?format=unified").is(t, http.StatusOK).text
	for _, part := range []string{
		"--- revision 3, bucket site: [acme/Chart/v1, site] chart\n+++ revision 5, bucket site: [acme/Chart/v1, site] chart\n",
		"\n-  colour: red\n+  colour: blue\n", "\n-  user: admin\n+  user: ad\n",
	} {
		if !strings.Contains(unified, part) {
			t.Errorf("%q is not in\n%s", part, unified)
		}
	}
	if strings.Contains(unified, "] base") || strings.Contains(unified, "global] password") || strings.Contains(unified, "+  url") {
		t.Errorf("there is more than is rendered differently:\n%s", unified)
	}
}

// Two replacements of one document are both in answers, with the same schema and name.
func TestDeepDiff_ofReplacements(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	both := func(data string) string {
		again := docWith("acme/Widget/v1", "w", data, replacing)
		return layers("lp", "global", "region", "site") + inLayer("global", docWith("acme/Widget/v1", "w", "{x: 0}", labelled("a: b"))) +
			under("a: b", "region", again, "merge .") + under("a: b", "site", again, "merge .")
	}
	s.put(t, "a", both("{y: 1}")).is(t, http.StatusOK)
	s.put(t, "a", both("{y: 2}")).is(t, http.StatusOK)
	changed := map[string]any{
		"data_changed":     map[string]any{"values_changed": map[string]any{"root['y']": map[string]any{"new_value": 2, "old_value": 1}}},
		"metadata_changed": map[string]any{},
	}
	got := s.get(t, "revisions/1/deepdiff/2").is(t, http.StatusOK).mapping(t)["a diff"]
	bucket, _ := got.(map[string]any)
	list, _ := bucket["document_changed"].(map[string]any)
	details, _ := list["details"].(map[string]any)
	if len(details) != 2 || list["count"] != 2 {
		t.Fatalf("%v, want the two documents that are read", got)
	}
	for key, got := range details {
		if diff := cmp.Diff(changed, got); diff != "" || !strings.HasPrefix(key, "('acme/Widget/v1', 'w'") {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	s.isPatched(t, "rendered-documents", "1", "2")
}

func TestRendering_compat(t *testing.T) {
	t.Parallel()
	for compat, want := range map[string][]string{"": {"w@1", "lp@1", "vp@1"}, "deckhand": {"w@1", "lp@1"}} {
		t.Run("compat="+compat, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			if compat == "deckhand" {
				s = compatSite(t)
			}
			s.put(t, "a", widget("w", "{}")+layeringPolicy("lp")+policy("vp", own)).is(t, http.StatusOK)
			got := s.get(t, "revisions/1/rendered-documents")
			got.isNames(t, want...)
			s.get(t, "revisions/1/rendered-documents?schema=deckhand").isNames(t, want[1:]...)
			limited := s.get(t, "revisions/1/rendered-documents?limit=1&offset=1")
			if compat == "deckhand" { // C5
				limited.isNames(t, "w@1")
			} else {
				limited.isNames(t, "lp@1")
			}
			if links := len(limited.Header.Values("Link")); (links > 0) == (compat == "deckhand") {
				t.Errorf("%d links", links)
			}
		})
	}
}
