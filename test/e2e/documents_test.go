package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names returns the names of documents, each with the revision of its status: left@3.
func names(documents []map[string]any) []string {
	list := []string{}
	for _, document := range documents {
		metadata, _ := document["metadata"].(map[string]any)
		status, _ := document["status"].(map[string]any)
		list = append(list, fmt.Sprintf("%v@%v", metadata["name"], status["revision"]))
	}
	return list
}

// isNames checks the names of documents, in order.
func (a answer) isNames(t *testing.T, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, names(a.is(t, 200).documents(t))); diff != "" {
		t.Errorf("documents of %s %s (-want +got):\n%s", a.method, a.path, diff)
	}
}

// revisions returns the number of revisions.
func (s *server) revisions(t *testing.T) int {
	t.Helper()
	return len(s.get(t, "revisions").results(t))
}

// isRevision checks the number of the newest revision, or 0 for none, and that there is no gap before it.
func (s *server) isRevision(t *testing.T, want int) {
	t.Helper()
	ids := []any{}
	for _, item := range s.get(t, "revisions").results(t) {
		revision, _ := item.(map[string]any)
		ids = append(ids, revision["id"])
	}
	wanted := []any{}
	for id := range want {
		wanted = append(wanted, id+1)
	}
	if diff := cmp.Diff(wanted, ids); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

func manyWidgets(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(widget(fmt.Sprintf("w%d", i), "{}"))
	}
	return b.String()
}

const old = "Property size is not supported by client plugin shop version 1.0; supported versions: 2.0."

func indentLines(text string) string {
	return "  " + strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

const overridesCheck, overrideKind = "puppet-override-validation", "fuel/PuppetOverride/v1"

// motd is a catalog with one file.
const motd = `{"name":"cmp-1","version":1.50,"resources":[{"type":"File","title":"/etc/motd","kind":"compilable_type",` +
	`"parameters":{"content":"welcome"}}],"edges":[]}`

func override(name, data, more string) string { return docWith(overrideKind, name, data, more) }

// layers returns a LayeringPolicy with a layer order.
func layers(order ...string) string {
	return control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: ["+strings.Join(order, ", ")+"]}")
}

// replacing is the metadata of a document that replaces its parent.
const replacing = ", replacement: true"

// heavy returns a site that takes a while to render: a chain of documents, each a child of the previous one.
func heavy(length int) string {
	var b strings.Builder
	order := make([]string, length)
	for i := range length {
		order[i] = fmt.Sprintf("l%d", i)
		link := docWith("acme/Widget/v1", fmt.Sprintf("w%d", i), fmt.Sprintf("{k%d: %d}", i, i), labelled(fmt.Sprintf("n: '%d'", i)))
		if i == 0 {
			b.WriteString(inLayer(order[i], link))
			continue
		}
		b.WriteString(under(fmt.Sprintf("n: '%d'", i-1), order[i], link, "merge ."))
	}
	return layers(order...) + b.String()
}

const own = "deckhand-schema-validation"

func sizes() string { return dataSchema("acme/Widget/v1", sizesText) }

// substitution returns metadata with a substitution to destinations.
func substitution(destinations ...string) string {
	var dest []string
	for _, d := range destinations {
		dest = append(dest, "{path: '"+d+"'}")
	}
	return ", substitutions: [{dest: [" + strings.Join(dest, ", ") + "], src: {schema: acme/Secret/v1, name: s, path: .}}]"
}

// sizes returns a DataSchema for widgets, and sizesText is its text.
const sizesText = "{type: object, properties: {size: {type: integer, maximum: 100}}}"
