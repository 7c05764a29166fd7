package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"purser/internal/budget/budgettest"
	"purser/internal/changes"
	"purser/internal/revisions"
	"purser/internal/store/storetest"
	"purser/internal/validations"
)

// burden is a kind of documents that may make the changes of others expensive. costly and harmless write the same
// number of documents, about n, of which a site has a few or many.
type burden struct{ costly, harmless func(n int) string }

// burdens are all kinds of them. New ones belong here.
func burdens() map[string]burden {
	const ofStrings = "{properties: {x: {type: string}}}"
	numbered := func(i int) string { return fmt.Sprintf("acme/Kind/v%d", i) }
	registering := func(schema string) func(n int) string {
		return each(func(i int) string {
			return gadgetSchema(numbered(i), strings.ReplaceAll(schema, "NEXT", numbered(i+1)))
		})
	}
	policies := func(names int) func(n int) string {
		return each(func(i int) string {
			return theirs("deckhand/ValidationPolicy/v1", "Control", fmt.Sprint("p", i), "{validations: ["+
				series(names, fmt.Sprintf("{name: v-%d-%%d-validation}", i))+"]}")
		})
	}
	return map[string]burden{
		"an enum": failing("{properties: {x: {items: {enum: ["+series(6_000, "word%d")+"]}}}}", "{x: ["+series(100, "w%d")+"]}", 10),
		"failing": failing(ofStrings, "{x: 1}", 1),
		"failing, with large sections": failing("{properties: {x: {type: string}}, description: "+strings.Repeat("d", 60_000)+"}",
			"{x: 1, t: "+strings.Repeat("t", 3_000)+"}", 1),
		"large and failing": failing(ofStrings, "{x: 1, l: ["+series(20_000, "%d")+"]}", 20),
		"failing, in long paths": failing("{additionalProperties: {additionalProperties: {type: string}}}",
			"{"+strings.Repeat("k", 900)+": {"+series(100, strings.Repeat("x", 900)+"%d: 1")+"}}", 20),
		"policies": {
			func(int) string { return policies(50)(20) },
			func(int) string { return policies(1)(20) },
		},
		"client versions":    one(validations.ClientVersionsKind, "Document", func(n int) string { return "{" + series(n, "p%d: 1.2.3") + "}" }, 49_000),
		"layers":             one("deckhand/LayeringPolicy/v1", "Control", func(n int) string { return "{layerOrder: [site, " + series(n, "l%d") + "]}" }, 90_000),
		"unknown layers":     {lost, gadgets("{}")},
		"references nowhere": {registering("{properties: {" + series(20, "a%d: {$ref: '#/none/%d'}") + "}}"), registering(ofStrings)},
		"chains of schemas":  {registering("{$ref: NEXT}"), registering(ofStrings)},
		"large and harmless": few(burden{gadgets("{l: [" + series(20_000, "%d") + "]}"), gadgets("{}")}, 20),
		"kinds with no schema": {
			each(func(i int) string { return theirs(numbered(i), "Document", "a", "{}") }), gadgets("{}"),
		},
	}
}

// theirs writes a document of somebody else.
func theirs(kind, metadata, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/%s/v1, name: %s, storagePolicy: cleartext, "+
		"layeringDefinition: {layer: site}}\ndata: %s\n", kind, metadata, name, data)
}

func gadgetSchema(kind, schema string) string {
	return theirs(validations.DataSchemaKind, "Control", kind, schema)
}

func gadgets(data string) func(n int) string {
	return each(func(i int) string { return theirs("acme/Gadget/v1", "Document", fmt.Sprint("g", i), data) })
}

// lost writes documents of a layer that the LayeringPolicy does not list.
func lost(n int) string { return strings.ReplaceAll(gadgets("{}")(n), "layer: site", "layer: lost") }

func each(document func(i int) string) func(n int) string {
	return func(n int) string {
		var text strings.Builder
		for i := range max(1, n) {
			text.WriteString(document(i))
		}
		return text.String()
	}
}

// series writes n items of a list, each with its number.
func series(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "%d", strconv.Itoa(i))
	}
	return strings.Join(items, ", ")
}

// failing is a burden of documents that fail a schema, a fraction of n.
func failing(schema, data string, fraction int) burden {
	const kind = "acme/Gadget/v1"
	return few(burden{
		func(n int) string { return gadgetSchema(kind, schema) + gadgets(data)(n) },
		func(n int) string { return gadgetSchema(kind, "{}") + gadgets("{x: 1}")(n) },
	}, fraction)
}

// few is a burden with a fraction of the documents.
func few(of burden, fraction int) burden {
	return burden{func(n int) string { return of.costly(n / fraction) }, func(n int) string { return of.harmless(n / fraction) }}
}

// one is a burden of one large document.
func one(kind, metadata string, data func(n int) string, size int) burden {
	return burden{
		func(int) string { return theirs(kind, metadata, "one", data(size)) },
		func(int) string { return theirs(kind, metadata, "one", data(1)) },
	}
}

// beside returns a function that makes a small change in a site with a bucket of somebody else; nil if the bucket is
// refused because it takes too much work. The site was opened again, and changed twice.
func beside(t *testing.T, body string) (change func()) {
	t.Helper()
	const caches = 64 << 20
	url, defaults := storetest.URL(t), append(revisions.Defaults{validations.SchemaValidation}, changes.RevisionValidations()[:2]...)
	if !strings.Contains(body, "deckhand/LayeringPolicy/v1") {
		body += theirs("deckhand/LayeringPolicy/v1", "Control", "layers", "{layerOrder: [site]}")
	}
	stored := openSite(t, settings{url: url, cached: caches, defaults: defaults}).put(t, "theirs", body)
	if stored.StatusCode == http.StatusRequestEntityTooLarge {
		return nil
	}
	stored.is(t, http.StatusOK)
	s, changes := openSite(t, settings{url: url, cached: caches, defaults: defaults}), 0
	change = func() {
		changes++
		s.put(t, "mine", theirs("acme/Mine/v1", "Document", "mine", fmt.Sprintf("{x: %d}", changes))).is(t, http.StatusOK)
	}
	change()
	change()
	return change
}

// A small change takes about as much processor time beside whatever somebody else stored as beside harmless documents.
//
//nolint:paralleltest // it measures the process
func TestCost_beside_steps(t *testing.T) {
	for name, of := range burdens() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			const documents = 400
			budgettest.Beside(t, beside(t, of.costly(documents)), beside(t, of.harmless(documents)))
		})
	}
}

// This holds for any number of documents. It draws a few of the cases that -rapid.checks asks for, because each takes
// long.
//
//nolint:paralleltest // it measures the process
func TestCost_beside_laws(t *testing.T) {
	const drawnOf, documents = 25, 2_000
	draws, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if draws++; draws%drawnOf != 1 && !failed { // failed cases are run again to shrink them
			return
		}
		defer func() { failed = failed || rt.Failed() }()
		of := burdens()[rapid.SampledFrom(slices.Sorted(maps.Keys(burdens()))).Draw(rt, "burden")]
		n := rapid.IntRange(1, documents).Draw(rt, "documents")
		if costly := beside(t, of.costly(n)); costly != nil {
			budgettest.Beside(rt, costly, beside(t, of.harmless(n)))
		}
	})
}
