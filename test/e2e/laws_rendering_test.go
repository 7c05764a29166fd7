package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Rendered documents do not depend on the order of documents or their distribution over buckets, and a rollback
// restores them.
func TestLaws_rendering(t *testing.T) {
	t.Parallel()
	s := start(t)
	rapid.Check(t, func(t *rapid.T) {
		p := &player{t, s, newSite()}
		p.ask(http.MethodDelete, "revisions", "", http.StatusNoContent)
		documents := anyLayered(t)
		fill := func(name string, documents []string) map[string]string {
			buckets := map[string]string{"a": "", "b": "", "c": ""}
			for _, document := range documents {
				buckets[rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, name)] += document
			}
			for bucket := range buckets { // otherwise, the documents would still belong to other buckets
				p.ask(http.MethodPut, "buckets/"+bucket+"/documents", "", http.StatusOK)
			}
			for bucket, body := range buckets {
				p.ask(http.MethodPut, "buckets/"+bucket+"/documents", body, http.StatusOK)
			}
			return p.renderedData("latest")
		}
		first := fill("bucket", documents)
		shown := decoded[map[string]any](p, p.ask(http.MethodGet, "revisions/latest", "", http.StatusOK))
		then := fill("another bucket", rapid.Permutation(documents).Draw(t, "order"))
		p.agree("the same documents in other buckets", first, then)
		p.ask(http.MethodPut, "buckets/a/documents", widget("another", "{}"), http.StatusOK)
		p.ask(http.MethodPost, fmt.Sprintf("rollback/%v", shown["id"]), "", http.StatusCreated)
		p.agree("rendered after a rollback", first, p.renderedData("latest"))
	})
}

// renderedData returns the rendered data of a revision by layer and name, nil if the revision cannot be rendered.
func (p *player) renderedData(revision string) map[string]string {
	p.Helper()
	a, err := p.try(p.Context(), request{
		method: http.MethodGet, path: "revisions/" + revision + "/rendered-documents", header: map[string]string{"Accept": "application/json"},
	})
	if err != nil {
		p.Fatal(err)
	}
	if a.status != http.StatusOK { // which of several errors is reported depends on the order
		return nil
	}
	data := map[string]string{}
	for _, document := range decoded[[]struct {
		Metadata struct {
			Name               string
			LayeringDefinition struct{ Layer string }
		}
		Data json.RawMessage
	}](p, a) {
		data[document.Metadata.LayeringDefinition.Layer+" "+document.Metadata.Name] = string(document.Data)
	}
	return data
}

// anyLayered generates documents of three layers. Most inherit or take values from others.
func anyLayered(t *rapid.T) []string {
	documents := []string{layers("global", "region", "site")}
	var names []string
	for i := range rapid.IntRange(2, 7).Draw(t, "documents") {
		name := fmt.Sprintf("d%d", i)
		layer := rapid.SampledFrom([]string{"global", "region", "site"}).Draw(t, "layer")
		more := labelled("id: " + name)
		var taken []string
		if len(names) > 0 {
			for range rapid.IntRange(0, 2).Draw(t, "substitutions") {
				taken = append(taken, from(rapid.SampledFrom(names).Draw(t, "source"), ".",
					rapid.SampledFrom([]string{"{path: .x}", "{path: .new.part}", "{path: '.l[1]'}", "{path: .text, pattern: P}"}).Draw(t, "destination")))
			}
		}
		if taken != nil {
			more += substitutes(taken...)
		}
		document := docWith("acme/Secret/v1", name, rapid.SampledFrom([]string{
			"{x: 1, text: aPb}", "{text: P, l: [1, {y: 2}]}", "{m: {n: {o: 1}}, text: PP}",
		}).Draw(t, "data"), more)
		if len(names) > 0 && rapid.Bool().Draw(t, "child") {
			document = under("id: "+rapid.SampledFrom(names).Draw(t, "parent"), layer, document, rapid.SampledFrom([]string{"merge .", "replace .text"}).Draw(t, "action"))
		} else {
			document = inLayer(layer, document)
		}
		documents, names = append(documents, document), append(names, name)
	}
	slices.SortFunc(documents, strings.Compare)
	return documents
}
