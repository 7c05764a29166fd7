// Package samples makes documents for tests, in YAML.
package samples

import (
	"fmt"
	"strings"
)

const sizeOf = "{src: {schema: acme/Widget/v1, name: %s, path: .}, dest: {path: .size}}"

// Doc returns a document of the layer site, in YAML. data is flow YAML.
func Doc(schema, name, data string) string { return DocWith(schema, name, data, "") }

// DocWith is Doc with more metadata, in flow YAML that begins with a comma.
func DocWith(schema, name, data, more string) string {
	return fmt.Sprintf(`---
schema: %s
metadata:
  {schema: metadata/Document/v1, name: %s, storagePolicy: cleartext, layeringDefinition: {layer: site}%s}
data: %s
`, schema, name, more, data)
}

// Widget returns a document of acme/Widget/v1.
func Widget(name, data string) string { return Doc("acme/Widget/v1", name, data) }

// WidgetOf is Doc with the metadata on one line.
func WidgetOf(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Document/v1, name: %s, layeringDefinition: "+
		"{layer: site}, storagePolicy: cleartext}\ndata: %s\n", schema, name, data)
}

// Control returns a control document, which has no layer.
func Control(schema, name, data string) string {
	return fmt.Sprintf("---\nschema: %s\nmetadata: {schema: metadata/Control/v1, name: %s}\ndata: %s\n", schema, name,
		data)
}

// LayeringPolicy returns the policy of the layers global and site.
func LayeringPolicy(name string) string {
	return Control("deckhand/LayeringPolicy/v1", name, "{layerOrder: [global, site]}")
}

// DataSchema returns a DataSchema, given its schema in flow YAML.
func DataSchema(kind, data string) string { return Control("deckhand/DataSchema/v1", kind, data) }

// Policy returns a ValidationPolicy that lists validations, each a name or flow YAML of an item.
func Policy(name string, validations ...string) string {
	var items []string
	for _, v := range validations {
		if !strings.HasPrefix(v, "{") {
			v = "{name: " + v + "}"
		}
		items = append(items, v)
	}
	return Control("deckhand/ValidationPolicy/v1", name, "{validations: ["+strings.Join(items, ", ")+"]}")
}

// In adds a bucket to each document, as a change set requires.
func In(bucket, documents string) string {
	return strings.ReplaceAll(documents, "---\nschema:", "---\nstatus: {bucket: "+bucket+"}\nschema:")
}

// ClientVersions returns a document that lists versions of client plugins, in flow YAML.
func ClientVersions(versions string) string {
	return Doc("purser/ClientVersions/v1", "cv", versions)
}

// Sized returns a DataSchema for widgets whose size requires a client of version 2.
func Sized() string {
	return DataSchema("acme/Widget/v1", "{properties_groups_schema: [{XOR: [[size], [width, min]]}, "+
		"{API_VERSIONS: {CLIENT_PLUGIN: shop, VERSIONS: ['2.0'], PROPERTIES: [[size]]}}]}")
}

// Growing returns a chain of documents, each of which contains the data of the previous one several times.
func Growing(length, times int, data string) string {
	var b strings.Builder
	b.WriteString(LayeringPolicy("lp") + Widget("w0", data))
	for i := range length {
		entries := make([]string, times)
		for j := range times {
			entries[j] = fmt.Sprintf("{path: .k%d}", j)
		}
		b.WriteString(DocWith("acme/Widget/v1", fmt.Sprintf("w%d", i+1), "{}", Substitutes(
			fmt.Sprintf("{src: {schema: acme/Widget/v1, name: w%d, path: .}, dest: [%s]}", i, strings.Join(entries, ", ")))))
	}
	return b.String()
}

// Ring returns a chain of documents whose first one takes a value from the last.
func Ring(length int) string {
	first := DocWith("acme/Widget/v1", "w0", "{}", Substitutes(fmt.Sprintf(sizeOf, fmt.Sprintf("w%d", length-1))))
	return strings.Replace(Growing(length-1, 1, "{}"), Widget("w0", "{}"), first, 1)
}

// Crossed returns n children, each of which matches all parents.
func Crossed(n int) string {
	var b strings.Builder
	b.WriteString(LayeringPolicy("lp"))
	for i := range n {
		b.WriteString(InLayer("global", DocWith("acme/Widget/v1", fmt.Sprintf("p%d", i), "{}", Labelled("a: b"))))
		b.WriteString(Under("a: b", "site", Widget(fmt.Sprintf("c%d", i), "{}"), "merge ."))
	}
	return b.String()
}

// Under moves a document of the layer site to another layer, below the document with a label. An action is like "merge
// .path".
func Under(label, layer, document string, actions ...string) string {
	items := make([]string, 0, len(actions))
	for _, action := range actions {
		method, path, _ := strings.Cut(action, " ")
		items = append(items, "{method: "+method+", path: "+path+"}")
	}
	return InLayer(layer+", parentSelector: {"+label+"}, actions: ["+strings.Join(items, ", ")+"]", document)
}

// Abstract makes a document of the layer site abstract, and moves it to the layer global.
func Abstract(document string) string { return InLayer("global, abstract: true", document) }

// Labelled returns metadata with a label.
func Labelled(label string) string { return ", labels: {" + label + "}" }

// From returns a substitution from a document of acme/Secret/v1. dest is flow YAML.
func From(name, path, dest string) string {
	return "{src: {schema: acme/Secret/v1, name: " + name + ", path: " + path + "}, dest: " + dest + "}"
}

// Substitutes returns metadata with substitutions.
func Substitutes(substitutions ...string) string {
	return ", substitutions: [" + strings.Join(substitutions, ", ") + "]"
}

// Secret returns a document of acme/Secret/v1.
func Secret(name, data string) string { return Doc("acme/Secret/v1", name, data) }

// InLayer moves a document of the layer site to another one.
func InLayer(layer, document string) string {
	return strings.Replace(document, "layer: site", "layer: "+layer, 1)
}

// AsControl turns a document with a layer into a control document.
func AsControl(document string) string {
	return strings.Replace(document, "metadata/Document/v1", "metadata/Control/v1", 1)
}
