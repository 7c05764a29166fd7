package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"purser/internal/document"
)

// fileOf returns a body of one file.
func fileOf(path, text string) string {
	return string(document.AppendFile(nil, document.File{
		Path: path, Text: []byte(text), JSON: strings.HasSuffix(path, ".json"),
	}))
}

const hostSchema = `---
schema: deckhand/DataSchema/v1
metadata: {schema: metadata/Control/v1, name: acme/Host/v1}
data: {type: object, properties: {rack: {type: integer, maximum: 40}, port: {type: integer}}}
`

// A finding names the line of its value in the file, long after the PUT: of the value, of the substitution that writes
// it, of the parent that it comes from, and of the item of a list.
func TestFindings_inFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.put(t, "control", "---\nschema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: lp}\n"+
		"data: {layerOrder: [global, site]}\n"+hostSchema).is(t, http.StatusOK)
	const of = "metadata: {schema: metadata/Document/v1, storagePolicy: cleartext, name: "
	s.unchecked().put(t, "global", fileOf("global/base.yaml", "# a comment\n---\nschema: acme/Host/v1\n"+of+"base, labels: {k: base}, "+
		"layeringDefinition: {layer: global, abstract: true}}\ndata:\n  # racks\n  rack: 99\n")).is(t, http.StatusOK)
	s.unchecked().put(t, "site", fileOf("site/hosts.yaml", "---\n# own\nschema: acme/Host/v1\n"+of+"own, "+
		"layeringDefinition: {layer: site}}\ndata:\n  rack: 50\n---\nschema: acme/Host/v1\n"+of+"taken, "+
		"layeringDefinition: {layer: site},\n  substitutions: [\n  {src: {schema: acme/Port/v1, name: p, path: .},\n"+
		"   dest: {path: .port}}]}\ndata: {}\n---\nschema: acme/Host/v1\n"+of+"child, "+
		"layeringDefinition: {layer: site, parentSelector: {k: base}, actions: [{method: merge, path: .}]}}\ndata: {}\n"+
		"---\nschema: acme/Port/v1\n"+of+"p, layeringDefinition: {layer: site}}\ndata: seven\n")).is(t, http.StatusOK)
	var items []string
	for i := range 300 {
		items = append(items, fmt.Sprintf(`{"schema": "acme/Host/v1", "metadata": {"name": "i%d", "schema": "metadata/Document/v1", `+
			`"storagePolicy": "cleartext", "layeringDefinition": {"layer": "site"}}, "data": {"rack": 77}}`, i))
	}
	s.unchecked().put(t, "list", fileOf("list/all.json", "[\n"+strings.Join(items, ",\n")+"\n]\n")).is(t, http.StatusOK)
	s.put(t, "other", "").is(t, http.StatusOK)
	found := s.get(t, "revisions/latest/findings", "Accept", "text/plain").is(t, http.StatusOK)
	for _, want := range []string{
		"own .data.rack: 50 is greater than the maximum of 40 (bucket site) (site/hosts.yaml:6)",
		"taken .data.port: 'seven' is not of type 'integer' (site/hosts.yaml:12)",
		"child .data.rack: 99 is greater than the maximum of 40 (global/base.yaml:7)",
		"i0 .data.rack: 77 is greater than the maximum of 40 (bucket list) (list/all.json:2)",
		"i299 .data.rack: 77 is greater than the maximum of 40 (bucket list) (list/all.json:301)",
	} {
		if !strings.Contains(found.text, want) {
			t.Errorf("%q is not in the findings:\n%.2500s", want, found.text)
		}
	}
}

// A change of comments alone says how many texts it replaces, and is in the audit; a file for another bucket is refused.
func TestPut_rewritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const doc = "schema: acme/Widget/v1\nmetadata: {schema: metadata/Document/v1, storagePolicy: cleartext, name: w, " +
		"layeringDefinition: {layer: site}}\ndata: {}\n"
	s.unchecked().put(t, "a", fileOf("x.yaml", doc)).is(t, http.StatusOK)
	for _, c := range []struct{ body, want string }{
		{fileOf("x.yaml", "# why\n"+doc), "1"}, {fileOf("x.yaml", "# why\n"+doc), ""}, {fileOf("y.yaml", "# why\n"+doc), "1"},
	} {
		got := s.unchecked().put(t, "a", c.body).is(t, http.StatusOK)
		if rewritten := got.Header.Get("Purser-Rewritten"); rewritten != c.want || got.Header.Get("Purser-Revision") != "1" {
			t.Errorf("%d texts were replaced, want %q, in revision %s", len(rewritten), c.want, got.Header.Get("Purser-Revision"))
		}
	}
	other := document.AppendFile(nil, document.File{Path: "x.yaml", Bucket: "b", Text: []byte(doc)})
	s.unchecked().put(t, "a", string(other)).isFault(t, http.StatusBadRequest, "HTTPBadRequest", "names bucket b")
}
