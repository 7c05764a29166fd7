package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// doc returns a document of the layer site, in YAML. data is flow YAML.
func doc(schema, name, data string) string { return docWith(schema, name, data, "") }

// docWith is doc with more metadata, in flow YAML that begins with a comma.
func docWith(schema, name, data, more string) string {
	return fmt.Sprintf(`---
schema: %s
metadata:
  {schema: metadata/Document/v1, name: %s, storagePolicy: cleartext, layeringDefinition: {layer: site}%s}
data: %s
`, schema, name, more, data)
}

func widget(name, data string) string { return doc("acme/Widget/v1", name, data) }

// control returns a control document, which has no layer.
func control(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Control/v1, name: %s}\ndata: %s\n", schema, name, data)
}

func layeringPolicy(name string) string {
	return control("deckhand/LayeringPolicy/v1", name, "{layerOrder: [global, site]}")
}

func dataSchema(kind, data string) string { return control("deckhand/DataSchema/v1", kind, data) }

// policy returns a ValidationPolicy that lists validations, each a name or flow YAML of an item.
func policy(name string, validations ...string) string {
	var items []string
	for _, v := range validations {
		if !strings.HasPrefix(v, "{") {
			v = "{name: " + v + "}"
		}
		items = append(items, v)
	}
	return control("deckhand/ValidationPolicy/v1", name, "{validations: ["+strings.Join(items, ", ")+"]}")
}

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

// in adds a bucket to each document, as a change set requires.
func in(bucket, documents string) string {
	return strings.ReplaceAll(documents, "---\nschema:", "---\nstatus: {bucket: "+bucket+"}\nschema:")
}

// widgetOf returns a document of a schema.
func widgetOf(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, layeringDefinition: {layer: site}, storagePolicy: cleartext}\ndata: %s\n",
		schema, name, data)
}

func manyWidgets(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(widget(fmt.Sprintf("w%d", i), "{}"))
	}
	return b.String()
}

// clientVersions returns a document that lists versions of client plugins, in flow YAML.
func clientVersions(versions string) string {
	return doc("purser/ClientVersions/v1", "cv", versions)
}

// sized returns a DataSchema for widgets whose size requires a client of version 2.
func sized() string {
	return dataSchema("acme/Widget/v1", "{properties_groups_schema: [{XOR: [[size], [width, min]]}, "+
		"{API_VERSIONS: {CLIENT_PLUGIN: shop, VERSIONS: ['2.0'], PROPERTIES: [[size]]}}]}")
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

// growing returns a chain of documents, each of which contains the data of the previous one several times.
func growing(length, times int, data string) string {
	var b strings.Builder
	b.WriteString(layeringPolicy("lp") + widget("w0", data))
	for i := range length {
		entries := make([]string, times)
		for j := range times {
			entries[j] = fmt.Sprintf("{path: .k%d}", j)
		}
		b.WriteString(docWith("acme/Widget/v1", fmt.Sprintf("w%d", i+1), "{}", substitutes(
			fmt.Sprintf("{src: {schema: acme/Widget/v1, name: w%d, path: .}, dest: [%s]}", i, strings.Join(entries, ", ")))))
	}
	return b.String()
}

// ring returns a chain of documents whose first one takes a value from the last.
func ring(length int) string {
	return strings.Replace(growing(length-1, 1, "{}"), widget("w0", "{}"), docWith("acme/Widget/v1", "w0", "{}", substitutes(fmt.Sprintf(sizeOf, fmt.Sprintf("w%d", length-1)))), 1)
}

// crossed returns n children, each of which matches all parents.
func crossed(n int) string {
	var b strings.Builder
	b.WriteString(layeringPolicy("lp"))
	for i := range n {
		b.WriteString(inLayer("global", docWith("acme/Widget/v1", fmt.Sprintf("p%d", i), "{}", labelled("a: b"))))
		b.WriteString(under("a: b", "site", widget(fmt.Sprintf("c%d", i), "{}"), "merge ."))
	}
	return b.String()
}

// layers returns a LayeringPolicy with a layer order.
func layers(order ...string) string {
	return control("deckhand/LayeringPolicy/v1", "lp", "{layerOrder: ["+strings.Join(order, ", ")+"]}")
}

// under moves a document of the layer site to another layer, below the document with a label. An action is like "merge
// .path".
func under(label, layer, document string, actions ...string) string {
	items := make([]string, 0, len(actions))
	for _, action := range actions {
		method, path, _ := strings.Cut(action, " ")
		items = append(items, "{method: "+method+", path: "+path+"}")
	}
	return inLayer(layer+", parentSelector: {"+label+"}, actions: ["+strings.Join(items, ", ")+"]", document)
}

// abstract makes a document of the layer site abstract, and moves it to the layer global.
func abstract(document string) string { return inLayer("global, abstract: true", document) }

// labelled returns metadata with a label.
func labelled(label string) string { return ", labels: {" + label + "}" }

// replacing is the metadata of a document that replaces its parent.
const replacing = ", replacement: true"

// from returns a substitution from a document of acme/Secret/v1. dest is flow YAML.
func from(name, path, dest string) string {
	return "{src: {schema: acme/Secret/v1, name: " + name + ", path: " + path + "}, dest: " + dest + "}"
}

// substitutes returns metadata with substitutions.
func substitutes(substitutions ...string) string {
	return ", substitutions: [" + strings.Join(substitutions, ", ") + "]"
}

func secret(name, data string) string { return doc("acme/Secret/v1", name, data) }

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

// inLayer moves a document of the layer site to another one.
func inLayer(layer, document string) string {
	return strings.Replace(document, "layer: site", "layer: "+layer, 1)
}

// asControl turns a document with a layer into a control document.
func asControl(document string) string {
	return strings.Replace(document, "metadata/Document/v1", "metadata/Control/v1", 1)
}

const sizeOf = "{src: {schema: acme/Widget/v1, name: %s, path: .}, dest: {path: .size}}"

// sizes returns a DataSchema for widgets, and sizesText is its text.
const sizesText = "{type: object, properties: {size: {type: integer, maximum: 100}}}"
