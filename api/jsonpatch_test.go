package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// patchOfDocument is an item of a deep diff in JSON Patch format.
type patchOfDocument struct {
	Bucket    string      `json:"bucket"`
	Change    string      `json:"change"`
	Name      string      `json:"name"`
	Schema    string      `json:"schema"`
	Layer     *string     `json:"layer"`
	Encrypted bool        `json:"encrypted"`
	Patch     []operation `json:"patch"`
}

// operation is a JSON Patch operation (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// apply applies operations to a value, in order.
func apply(t *testing.T, value any, operations []operation) any {
	t.Helper()
	for _, o := range operations {
		var err error
		if value, err = o.on(value, strings.Split(o.Path, "/")[1:]); err != nil {
			t.Fatalf("%s %s: %v", o.Op, o.Path, err)
		}
	}
	return value
}

func (o operation) on(value any, path []string) (any, error) {
	if len(path) == 0 {
		return o.Value, nil // nil for remove
	}
	token := strings.NewReplacer("~1", "/", "~0", "~").Replace(path[0])
	switch v := value.(type) {
	case map[string]any:
		member, known := v[token]
		if !known && (len(path) > 1 || o.Op != "add") {
			return nil, fmt.Errorf("there is no key %q", token)
		}
		if len(path) == 1 && o.Op == "remove" {
			delete(v, token)
			return v, nil
		}
		changed, err := o.on(member, path[1:])
		v[token] = changed
		return v, err
	case []any:
		i, err := strconv.Atoi(token)
		switch {
		case err != nil || i > len(v) || i == len(v) && (len(path) > 1 || o.Op != "add"):
			return nil, fmt.Errorf("there is no item %q among %d", token, len(v))
		case len(path) == 1 && o.Op == "add":
			return slices.Insert(v, i, o.Value), nil
		case len(path) == 1 && o.Op == "remove":
			return slices.Delete(v, i, i+1), nil
		}
		v[i], err = o.on(v[i], path[1:])
		return v, err
	}
	return nil, fmt.Errorf("%v has no parts", value)
}

// place identifies a document and its bucket. The layer is empty if it has none.
type place struct{ bucket, schema, name, layer string }

// contents returns the documents of a revision, or its rendered-documents, without their status.
func (s site) contents(t *testing.T, revision, form string) map[place]any {
	t.Helper()
	contents := map[place]any{}
	if revision == "0" {
		return contents
	}
	for _, doc := range s.get(t, "revisions/"+revision+"/"+form, "Accept", typeJSON).is(t, http.StatusOK).documents(t) {
		metadata, _ := doc["metadata"].(map[string]any)
		layering, _ := metadata["layeringDefinition"].(map[string]any)
		status, _ := doc["status"].(map[string]any)
		at := place{bucket: fmt.Sprint(status["bucket"]), schema: fmt.Sprint(doc["schema"]), name: fmt.Sprint(metadata["name"])}
		at.layer, _ = layering["layer"].(string)
		contents[at] = doc
		delete(doc, "id")
		delete(doc, "status")
	}
	return contents
}

// patches returns the deep diff between two revisions as JSON patches.
func (s site) patches(t *testing.T, before, after string) []patchOfDocument {
	t.Helper()
	got := s.get(t, "revisions/"+before+"/deepdiff/"+after, "Accept", "application/json-patch+json").is(t, http.StatusOK)
	var patches []patchOfDocument
	if err := json.Unmarshal([]byte(got.text), &patches); err != nil {
		t.Fatalf("%v\n%s", err, brief(got.text))
	}
	return patches
}

// isPatched checks that the patches between two revisions turn the documents of the first into those of the second.
func (s site) isPatched(t *testing.T, form, before, after string) {
	t.Helper()
	contents := s.contents(t, before, form)
	for _, p := range s.patches(t, before, after) {
		at := place{bucket: p.Bucket, schema: p.Schema, name: p.Name}
		if p.Layer != nil {
			at.layer = *p.Layer
		}
		if _, known := contents[at]; known == (p.Change == "created") {
			t.Errorf("from %s to %s: %v is said to be %s", before, after, at, p.Change)
		}
		contents[at] = apply(t, contents[at], p.Patch)
		if contents[at] == nil {
			delete(contents, at)
		}
	}
	if diff := cmp.Diff(s.contents(t, after, form), contents, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("documents of %s, patched, are not those of %s (-want +got):\n%s", before, after, diff)
	}
}

func TestDeepDiff_patchesApply(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	revisions := []string{"0"}
	for i, body := range []string{
		widget("k", "{a: 1, 'b/c': {'~': 1, '': 2, '~1': 3}, l: [a, b, c, d]}") + widget("goes", "{}") + layeringPolicy("lp"),
		docWith("acme/Widget/v1", "k", "{a: '1', 'b/c': {'~': 2, '~1': [], new: null}, l: [b, x, d, e, f]}", ", labels: {a: b}") +
			inLayer("global", asControl(widget("k", "{}"))) + layeringPolicy("lp"),
		widget("k", "[{a: 1}, {b: 2}, {c: 3}, [], 1.5, 1e3]") + inLayer("global", asControl(widget("k", "{x: {y: z}}"))),
		widget("k", "[{a: 1, aa: 1}, {c: 3}, [[]], 1.5, '1e3', null, true]") + inLayer("global", asControl(widget("k", "text"))),
		widget("k", "null") + inLayer("global", asControl(widget("k", "\"one\\ntwo\""))) + widget("é\u2028", "{}"),
		widget("k", "{}"),
	} {
		s.put(t, "mop", body).is(t, http.StatusOK)
		s.put(t, fmt.Sprintf("b%d", i), widget(fmt.Sprintf("b%d", i), "{}")).is(t, http.StatusOK)
		revisions = append(revisions, strconv.Itoa(2*i+2))
	}
	s.put(t, "b0", "")
	revisions = append(revisions, "latest")
	for _, before := range revisions {
		for _, after := range revisions {
			s.isPatched(t, "rendered-documents", before, after)
		}
	}
}

func TestDeepDiff_patches(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "p", layeringPolicy("lp"))
	s.put(t, "a", widget("moves", "{x: 1}")+widget("stays", "{x: 1}")+control("acme/Widget/v1", "unlayered", "{}"))
	s.changeSet(t, "?buckets=a", in("b", widget("moves", "{x: 2}"))+in("a", widget("stays", "{x: 2}"))).is(t, http.StatusOK)
	site := new("site")
	whole := func(x float64) map[string]any {
		return map[string]any{
			"schema": "acme/Widget/v1", "data": map[string]any{"x": x},
			"metadata": map[string]any{
				"layeringDefinition": map[string]any{"abstract": false, "layer": "site"}, "name": "moves", "replacement": false,
				"schema": "metadata/Document/v1", "storagePolicy": "cleartext",
			},
		}
	}
	want := []patchOfDocument{
		{"a", "deleted", "moves", "acme/Widget/v1", site, false, []operation{{Op: "remove"}}},
		{"a", "modified", "stays", "acme/Widget/v1", site, false, []operation{{"replace", "/data/x", 2.0}}},
		{"a", "deleted", "unlayered", "acme/Widget/v1", nil, false, []operation{{Op: "remove"}}},
		{"b", "created", "moves", "acme/Widget/v1", site, false, []operation{{"add", "", whole(2)}}},
	}
	if diff := cmp.Diff(want, s.patches(t, "2", "3")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := s.get(t, "revisions/1/deepdiff/1?format=json-patch").text; got != "[]\n" {
		t.Errorf("nothing differs: %q, want an empty array", got)
	}
}

// A document whose hidden data differs is listed, without any of the data.
func TestDeepDiff_JSONPatch_hidden(t *testing.T) {
	t.Parallel()
	s := sealedSite(t)
	for _, x := range []string{"one", "two"} {
		s.put(t, "a", layeringPolicy("lp")+`---
schema: acme/Secret/v1
metadata: {schema: metadata/Document/v1, name: secret, storagePolicy: encrypted, layeringDefinition: {layer: site}}
data: `+x+`
---
schema: acme/Widget/v1
metadata:
  schema: metadata/Document/v1
  name: reads
  storagePolicy: cleartext
  layeringDefinition: {layer: site}
  substitutions: [{src: {schema: acme/Secret/v1, name: secret, path: .}, dest: {path: .x}}]
data: {}
`)
	}
	site := new("site")
	want := []patchOfDocument{
		{"a", "modified", "secret", "acme/Secret/v1", site, true, []operation{}},
		{"a", "modified", "reads", "acme/Widget/v1", site, true, []operation{}},
	}
	got := s.patches(t, "1", "2")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
